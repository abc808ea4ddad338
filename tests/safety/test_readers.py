"""Readers: nobody is shown what is not theirs, and no label is dropped on the way."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gaby.safety import EVERYBODY, STAFF_ONLY, STAFF_READER, Disclosure, Reader, Readers, owned_by
from gaby.safety.readers import ReadingRecord
from gaby_connectors.sdk.manifest import Audience

pytestmark = pytest.mark.promise("S14")
ADA, EVE, STRANGER = Reader("verified", "ada@acme.example"), Reader("verified", "eve@evil.example"), Reader("stranger")


def test_who_may_be_shown_what() -> None:
    mine = owned_by("Ada@acme.example")
    customers = Readers(Audience.CUSTOMERS)
    table = {
        EVERYBODY: (True, True, True, True),
        customers: (True, True, True, False),
        mine: (True, True, False, False),
        STAFF_ONLY: (True, False, False, False),
    }
    for readers, expected in table.items():
        assert tuple(map(readers.allow, (STAFF_READER, ADA, EVE, STRANGER))) == expected, readers


def test_somebody_who_only_claims_an_address_owns_nothing() -> None:
    assert not owned_by("ada@acme.example").allow(Reader("stranger", "ada@acme.example"))
    assert not owned_by("").allow(Reader("stranger", ""))


@pytest.mark.parametrize(
    "other", ["\u212aim@acme.example", "kim@acme.exampl\u00e9", "k.im@acme.example", "im@acme.example"]
)
def test_an_address_that_only_looks_alike_is_somebody_else(other: str) -> None:
    assert not owned_by("kim@acme.example").allow(Reader("verified", other))
    assert owned_by("kim@acme.example").allow(Reader("verified", " KIM@ACME.example "))


def test_readers_are_told_of_in_words() -> None:
    assert [each.in_words for each in (STAFF_READER, ADA, Reader("verified"), STRANGER)] == [
        "colleagues",
        "ada@acme.example",
        "the requester",
        "somebody who was not verified",
    ]
    assert Reader("stranger", "x@y.example").in_words == "x@y.example, who was not verified"


def test_a_text_that_rules_put_together_tells_the_values_that_it_holds() -> None:
    record = ReadingRecord()
    record.read_value("crm", "ada@acme.example", owned_by("ada@acme.example"))
    record.read_value("crm", "ch_501", STAFF_ONLY)
    record.read_value("crm", "locked", STAFF_ONLY)
    disclosures = record.disclosures("The charge CH_501 of ada@acme.example is locked.", ADA)
    assert [each.value for each in disclosures] == ["ch_501", "locked"]
    assert [each.value for each in record.disclosures("See ch_5012 and xch_501.", ADA)] == []
    assert [each.value for each in record.disclosures("Write to ada@acme.example.", EVE)] == ["ada@acme.example"]
    assert record.disclosures("ch_501", STAFF_READER) == []


def test_a_word_that_the_reader_wrote_or_may_look_up_tells_nothing() -> None:
    record = ReadingRecord()
    record.read_value("crm", "locked", STAFF_ONLY)
    record.read_text("the ticket", "Why is my user LOCKED?", EVERYBODY)
    assert record.disclosures("Your user is locked.", ADA) == []
    closed = ReadingRecord()
    closed.read_value("crm", "locked", STAFF_ONLY)
    closed.read_text("Runbook", "If a user is locked, wait.", STAFF_ONLY)
    assert [each.value for each in closed.disclosures("Your user is locked.", ADA)] == ["locked"]


def test_what_is_read_later_counts_at_once() -> None:
    record = ReadingRecord()
    assert record.disclosures("Your user is locked by ch_501.", ADA) == []
    record.read_value("crm", "locked", STAFF_ONLY)
    record.read_value("crm", "ch_501", STAFF_ONLY)
    assert [each.value for each in record.disclosures("Your user is locked by ch_501.", ADA)] == ["locked", "ch_501"]
    record.read_value("my charges", "ch_501", owned_by("ada@acme.example"))
    assert [each.value for each in record.disclosures("Your user is locked by ch_501.", ADA)] == ["locked"]
    record.read_text("the ticket", "Why is my user LOCKED?", EVERYBODY)
    assert record.disclosures("Your user is locked by ch_501.", ADA) == []


def test_a_value_that_stands_in_an_open_place_as_well_is_no_secret() -> None:
    record = ReadingRecord()
    record.read_value("crm", "ch_501", STAFF_ONLY)
    record.read_value("my charges", "ch_501", owned_by("ada@acme.example"))
    assert record.disclosures("ch_501", ADA) == []
    assert [each.source for each in record.disclosures("ch_501", EVE)] == ["crm"]


def test_whoever_cites_a_closed_source_tells_of_it() -> None:
    record = ReadingRecord()
    record.read("the result of crm.find", [STAFF_ONLY])
    record.read("the result of status.list", [STAFF_ONLY, EVERYBODY])
    cited = ["the result of crm.find", "the result of status.list"]
    assert [each.source for each in record.disclosures("It is locked.", ADA, cited)] == ["the result of crm.find"]
    assert record.disclosures("It is locked.", ADA) == []
    assert {each.source for each in record.unreadable(ADA)} == set(cited)


def test_pages_for_colleagues_are_not_quoted_to_others() -> None:
    record = ReadingRecord()
    page = "If all else fails, restart the gateway gw-2041 and call the person on duty at +49 30 901820."
    record.read_text("Runbook", page, STAFF_ONLY)
    record.read_text("Help", "You can restart your router at any time.", EVERYBODY)
    assert record.quoted_in("Please restart the gateway GW-2041 yourself.", ADA)[0].value == "gw-2041"
    assert record.quoted_in("We restart the gateway and call the person who is on duty.", ADA) == []
    disclosures = record.quoted_in("Well: restart the gateway, and call the person on duty!", STRANGER)
    assert [each.value for each in disclosures] == ["and call the person on duty"]
    assert record.quoted_in("If that fails, restart the router.", ADA) == []
    assert record.quoted_in("And call the person on duty at once: call the person on duty at night.", ADA) != []
    assert record.quoted_in(page, STAFF_READER) == []
    assert record.quoted_in("You can restart your router at any time.", STRANGER) == []


def pages(*, closed: str, known: tuple[str, ...] = ()) -> ReadingRecord:
    record = ReadingRecord()
    record.read_text("Runbook", closed, STAFF_ONLY)
    for number, page in enumerate(known):
        record.read_text(f"Help {number}", page, EVERYBODY)
    return record


@pytest.mark.parametrize(
    ("closed", "text", "value"),
    [
        ("Restart gw-2041.", "It was (GW-2041)!", "gw-2041"),
        ("Restart gw-204 first.", "It was gw-204; sorry", "gw-204"),
        ("Restart gw-20 first.", "It was gw-20.", None),
        ("Restart gw-2041 first.", "It was gw-9999.", None),
        ("Write to duty@acme.example.", "Ask duty@acme.example, please.", "duty@acme.example"),
        ("Restart gw-2041, then gw-1001.", "It was gw-2041 or gw-1001.", "gw-1001"),
        ("Please wake up the person on duty", "They call up the person on duty", None),
        ("Now wake up the person on duty", "They wake up the person on duty", "wake up the person on duty"),
        ("Wake up the person on duty", "Wake up the person on duty", "wake up the person on duty"),
        ("the person on duty", "the person on duty", None),
        ("Restart gw-2041 and wake up the person", "gw-2041 and wake up the person", "gw-2041"),
    ],
)
def test_a_page_is_quoted_by_six_words_in_a_row_or_by_a_value(closed: str, text: str, value: str | None) -> None:
    disclosures = pages(closed=closed).quoted_in(text, ADA)
    assert disclosures == ([] if value is None else [Disclosure("Runbook", "ada@acme.example", value)])


@pytest.mark.parametrize("text", ["It was gw-2041.", "Wake up the person on duty at gw-2041."])
def test_what_an_open_page_says_as_well_is_no_quotation(text: str) -> None:
    closed = "Wake up the person on duty. It was gw-2041."
    assert pages(closed=closed).quoted_in(text, ADA) != []
    known = ("Wake up the person on duty at gw-2041", "Nothing else is known")
    assert pages(closed=closed, known=known).quoted_in(text, ADA) == []
    assert pages(closed=closed, known=known[::-1]).quoted_in(text, ADA) == []


def test_a_page_that_was_read_twice_is_quoted_once() -> None:
    record = pages(closed="Restart gw-2041.")
    record.read_text("Runbook", "Restart gw-2041.", STAFF_ONLY)
    assert len(record.quoted_in("gw-2041", ADA)) == 1


def test_of_a_source_as_a_whole_no_single_value_is_told() -> None:
    record = ReadingRecord()
    record.read("crm", [STAFF_ONLY])
    assert record.unreadable(ADA) == [Disclosure("crm", "ada@acme.example", "")]


def test_a_value_is_told_wherever_it_stands_alone() -> None:
    record = ReadingRecord()
    record.read_value("crm", "ab-ab", STAFF_ONLY)
    for text in ("ab-ab", "xab-ab, ab-ab", "xab-ab-ab", "(ab-ab)"):
        assert [each.value for each in record.disclosures(text, ADA)] == ["ab-ab"], text
    for text in ("xab-ab", "ab-abx", "ab"):
        assert record.disclosures(text, ADA) == [], text


_READERS = st.sampled_from([EVERYBODY, STAFF_ONLY, Readers(Audience.CUSTOMERS), owned_by("ada@acme.example")])
_READER = st.sampled_from([ADA, EVE, STRANGER])
_READS = st.lists(st.tuples(st.sampled_from("abc"), st.text("xyz7", min_size=3, max_size=5), _READERS), max_size=8)


@given(_READS, _READS, _READER)
def test_reading_more_never_opens_what_was_closed(
    first: list[tuple[str, str, Readers]], more: list[tuple[str, str, Readers]], reader: Reader
) -> None:
    """No label is ever dropped: a source that was closed to somebody stays so, whatever else is read."""
    record = ReadingRecord()
    for source, value, readers in first:
        record.read_value(source, value, readers)
    closed = {each.source for each in record.unreadable(reader)}
    for source, value, readers in more:
        record.read_value(source, value, readers)
    assert closed <= {each.source for each in record.unreadable(reader)}
    allowed = {source for source, _, readers in (*first, *more) if readers.allow(reader)}
    shut = {source for source, _, readers in (*first, *more) if not readers.allow(reader)}
    assert {each.source for each in record.unreadable(reader)} == shut
    assert closed.isdisjoint(allowed - shut)


@given(_READS, _READER)
def test_a_value_outside_of_somebodys_label_is_always_noticed(
    read: list[tuple[str, str, Readers]], reader: Reader
) -> None:
    record = ReadingRecord()
    for source, value, readers in read:
        record.read_value(source, value, readers)
    for _, value, readers in read:
        open_somewhere = any(each == value and other.allow(reader) for _, each, other in read)
        telling = any(character.isdigit() for character in value)
        if not readers.allow(reader) and not open_somewhere and telling:
            assert value in {each.value for each in record.disclosures(f"It is {value}, they say.", reader)}


def test_whoever_cites_a_closed_page_tells_of_it_once() -> None:
    record = ReadingRecord()
    record.read_text("Runbook", "Wait an hour.", STAFF_ONLY)
    record.read_text("Runbook", "Then call Ida.", STAFF_ONLY)
    record.read_text("Help", "Open the portal.", EVERYBODY)
    record.read_text("Plan", "Nobody cites it.", STAFF_ONLY)
    assert record.disclosures("Wait.", ADA, ["Runbook", "Help"]) == [Disclosure("Runbook", ADA.in_words)]
    record.read("Runbook", [STAFF_ONLY])
    assert record.disclosures("Wait.", ADA, ["Runbook", "Help"]) == [Disclosure("Runbook", ADA.in_words)]
    assert record.disclosures("Wait.", STAFF_READER, ["Runbook", "Help", "Plan"]) == []


def test_what_a_system_says_is_somebody_elses_is_noticed_and_nothing_else() -> None:
    record = ReadingRecord()
    record.read_value("crm", "ch_501", owned_by("eve@evil.example"))
    record.read_value("billing", "ch_501", STAFF_ONLY)
    record.read_value("crm", "ch_502", owned_by("ada@acme.example"))
    record.read_value("crm", "ch_503", STAFF_ONLY)
    record.read_value("crm", "ch_504", owned_by("eve@evil.example"))
    record.read_value("my charges", "ch_504", owned_by("ada@acme.example"))
    record.read_value("crm", "ch_505", owned_by("eve@evil.example"))
    text = "Charges CH_501, ch_502, ch_503 and ch_504."
    assert record.owned_by_others(text, ADA) == [Disclosure("crm", ADA.in_words, "ch_501")]
    assert record.owned_by_others("", ADA) == []
