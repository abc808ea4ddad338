"""Known people are found by name, address and number, as whole words, whatever the case."""

import pytest

from gaby.safety.redaction.detection import recognise
from gaby.safety.redaction.dictionary import ORDINARY_WORDS, Dictionary, KnownPerson
from gaby.safety.redaction.scanned_text import ScannedText
from gaby.safety.redaction.spans import Kind, SpanCertainty

pytestmark = pytest.mark.promise("S5")

ADA = KnownPerson(
    names=("Ada Lovelace",),
    emails=("ada@acme.example",),
    phones=("+44 20 7946 0958",),
    accounts=("ACME-00042",),
)


def looked(people: KnownPerson, text: str) -> list[tuple[str, Kind]]:
    spans = recognise(text, (), also=Dictionary([people]).find)
    return [(text[span.start : span.end], span.kind) for span in spans]


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("Ada Lovelace wrote", "Ada Lovelace"),
        ("ADA LOVELACE wrote", "ADA LOVELACE"),
        ("dear ada,", "ada"),
        ("Mrs. Lovelace's card", "Lovelace"),
        ("Ada\nLovelace", "Ada\nLovelace"),
        ("Ada_Lovelace", "Ada_Lovelace"),
        ("“Ada” she said", "Ada"),
        ("Аda", "Аda"),
        ("A\u200bda", "A\u200bda"),
    ],
)
def test_a_name_is_found_whole_or_in_parts(text: str, name: str) -> None:
    assert looked(ADA, text) == [(name, "name")]


@pytest.mark.parametrize("text", ["Adam", "Canada", "adaptive", "lovelaces", "Lovelace2", "ad a", ""])
def test_a_name_inside_a_word_is_none(text: str) -> None:
    assert looked(ADA, text) == []


def test_a_name_with_an_ordinary_word_is_known_as_a_whole() -> None:
    mark = KnownPerson(names=("Mark Page",))
    assert looked(mark, "mark the page") == []
    assert looked(mark, "Mark Page called") == [("Mark Page", "name")]
    assert looked(KnownPerson(names=("Will",)), "it will") == []
    assert {"will", "mark", "page", "the"} <= ORDINARY_WORDS


def test_short_parts_of_a_name_are_not_looked_for() -> None:
    person = KnownPerson(names=("Bo Li Ann",))
    assert looked(person, "bo and li") == []
    assert looked(person, "bo li ann") == [("bo li ann", "name")]
    assert looked(person, "ann") == [("ann", "name")]
    assert looked(KnownPerson(names=("R2D2 Unit7",)), "unit7 r2d2") == []
    assert looked(KnownPerson(names=("Al Bo",)), "Al Bo") == [("Al Bo", "name")]
    assert looked(KnownPerson(names=("A B",)), "A B") == []


@pytest.mark.parametrize(("name", "text"), [("José Núñez", "jose nunez"), ("Jose Nunez", "José Núñez")])
def test_accents_do_not_matter(name: str, text: str) -> None:
    assert looked(KnownPerson(names=(name,)), text) == [(text, "name")]


def test_addresses_and_accounts_are_found() -> None:
    assert looked(ADA, "ADA@acme.example") == [("ADA@acme.example", "email")]
    assert looked(ADA, "see acme-00042!") == [("acme-00042", "account")]
    assert looked(ADA, "see acme-000421") == []
    assert looked(ADA, "see acme 00042") == [("acme 00042", "account")]
    assert looked(ADA, "see acme    00042") == []


def test_an_account_too_short_to_mean_anything_is_not_looked_for() -> None:
    assert looked(KnownPerson(accounts=("42",)), "42") == []
    assert looked(KnownPerson(accounts=("421",)), "421") == [("421", "account")]
    assert looked(KnownPerson(accounts=("--",)), "--") == []


@pytest.mark.parametrize(
    "number",
    ["+442079460958", "+44 20 7946 0958", "020 7946 0958", "2079460958", "0044 20 7946 0958", "7946 0958", "9460958"],
)
def test_a_telephone_is_found_however_it_is_written(number: str) -> None:
    assert looked(ADA, f"is {number} ok") == [(number, "phone")]
    assert looked(ADA, number) == [(number, "phone")]


def test_parentheses_belong_to_a_telephone() -> None:
    assert looked(ADA, "(020) 7946 0958") == [("(020) 7946 0958", "phone")]


@pytest.mark.parametrize("number", ["7946 0959", "460958", "+49 20 7946 0958", "+1 2079460958 5"])
def test_another_telephone_is_not_theirs(number: str) -> None:
    assert looked(ADA, number) == []


def test_a_telephone_too_short_to_mean_anything_is_not_looked_for() -> None:
    assert looked(KnownPerson(phones=("123456",)), "1234567 123456") == []
    assert looked(KnownPerson(phones=("1234567",)), "1234567") == [("1234567", "phone")]
    assert looked(KnownPerson(phones=("call me",)), "call me 1234567") == []
    assert looked(KnownPerson(phones=("0000000",)), "0000000") == []


def test_two_telephones_with_the_same_end_are_told_apart() -> None:
    people = Dictionary([KnownPerson(phones=("+1 415 5550100", "+44 20 5550100"))])
    for number in ("14155550100", "44205550100"):
        assert [span.end for span in people.find(ScannedText(number))] == [11]
    assert list(people.find(ScannedText("99995550100"))) == []


def test_what_is_known_is_certain() -> None:
    people = Dictionary([ADA])
    for text in ("ada", "+44 20 7946 0958", "acme-00042"):
        assert [span.certainty for span in people.find(ScannedText(text))] == [SpanCertainty.SURE]


def test_a_finder_gives_only_the_kinds_asked_for() -> None:
    finder = Dictionary([ADA]).finder({"name"})
    assert finder is not None
    assert [span.kind for span in finder(ScannedText("ada acme-00042 +44 20 7946 0958"))] == ["name"]


def test_an_empty_dictionary_costs_nothing() -> None:
    assert Dictionary().finder({"name"}) is None
    assert Dictionary([KnownPerson()]).finder({"name"}) is None
    assert Dictionary([KnownPerson(phones=("+44 20 7946 0958",))]).finder({"name"}) is not None
    assert Dictionary([KnownPerson(names=("Ada",))]).finder({"name"}) is not None
    assert list(Dictionary().find(ScannedText("ada 1234567"))) == []


def test_two_hundred_people_are_all_found() -> None:
    words = [f"{chr(97 + n % 26)}{chr(97 + n // 26)}xyz" for n in range(400)]
    names = [f"{first} {last}" for first, last in zip(words[::2], words[1::2], strict=True)]
    people = Dictionary([KnownPerson(names=(name,)) for name in names])
    text = "; ".join(names).upper()
    spans = recognise(text, (), also=people.find)
    assert [text[span.start : span.end].lower() for span in spans] == names
