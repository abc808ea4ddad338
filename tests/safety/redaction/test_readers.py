"""Placeholders are put back only for who may see the value; a ticket's people are known by all their names."""

from importlib.resources import files

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gaby.safety.redaction import ALL_KINDS, Dictionary, Placeholders, Redactor

pytestmark = [pytest.mark.promise("S5"), pytest.mark.promise("S9")]

TAG = "k7qd2m"


def may_read_adas(value: str) -> bool:
    return "ada" in value.lower()


def test_a_reader_gets_only_what_they_may_see() -> None:
    run = Placeholders(TAG)
    text = "ada@acme.example wrote to bob@acme.example"
    redacted = Redactor().redact(text, run).text
    assert run.restore(redacted, allow=ALL_KINDS, may_read=may_read_adas) == (
        f"ada@acme.example wrote to [email:2-{TAG}]"
    )
    assert run.restore(redacted, allow=ALL_KINDS, may_read=may_read_adas, hidden="(hidden)") == (
        "ada@acme.example wrote to (hidden)"
    )
    assert run.restore(redacted, allow={"card"}, hidden="(hidden)") == "(hidden) wrote to (hidden)"


def test_json_is_restored_with_its_keys_and_numbers() -> None:
    run = Placeholders(TAG)
    value = {"to": ["ada@acme.example", "bob@acme.example"], "bob@acme.example": 1, "card": 4111111111111111}
    redacted = Redactor().redact_value(value, run).value
    assert run.restore_value(redacted, allow=ALL_KINDS) == value


def test_what_was_typed_is_everybodys() -> None:
    run = Placeholders(TAG)
    typed = Redactor().redact(f"[email:1-{TAG}]", run, from_outside=True).text
    assert run.restore(typed, allow=(), may_read=lambda _: False, hidden="(hidden)") == f"[email:1-{TAG}]"
    assert run.restore(f"[email:9-{TAG}]", allow=ALL_KINDS, hidden="(hidden)") == f"[email:9-{TAG}]"


def test_the_guide_shows_a_model_a_placeholder_as_it_will_meet_it() -> None:
    example = Redactor().redact("ada@acme.example", Placeholders(TAG)).text
    for name in ("plan", "summarise", "review", "triage"):
        prompt = files("gaby.skills") / "prompts" / f"{name}.md.j2"
        assert example in prompt.read_text(encoding="utf-8"), "a model that is shown placeholders is told what they are"


SECRETS = ("ada@acme.example", "4111 1111 1111 1111", "+49 30 1234567", "DE89370400440532013000", "219-09-9998")


@given(st.lists(st.tuples(st.text(alphabet="abc .,", max_size=12), st.sampled_from(SECRETS)), max_size=6))
def test_a_reader_who_may_see_nothing_sees_no_value_and_one_who_may_sees_all(pieces: list[tuple[str, str]]) -> None:
    text = "".join(f"{words} {secret} " for words, secret in pieces)
    run = Placeholders(TAG)
    redacted = Redactor().redact(text, run, from_outside=True).text
    assert run.restore(redacted, allow=ALL_KINDS, may_read=lambda _: True) == text
    for hidden in (None, "(hidden)"):
        shown = run.restore(redacted, allow=ALL_KINDS, may_read=lambda _: False, hidden=hidden)
        assert not any(secret in shown for _, secret in pieces)


def taken_out(dictionary: Dictionary, text: str) -> str:
    return Redactor(dictionary=dictionary).redact(text, Placeholders(TAG)).text


@pytest.mark.parametrize(
    ("known", "text", "redacted"),
    [
        ("Ada Lovelace", "ada said", f"[name:1-{TAG}] said"),
        ("Lovelace, Ada (Acme)", "Ada at acme", f"[name:1-{TAG}] at acme"),
        ("Ada Lovelace via Support", "lovelace via support", f"[name:1-{TAG}] via support"),
        ("Dr. Ada Lovelace", "Dr. Lovelace", f"Dr. [name:1-{TAG}]"),
        ("Support Team", "the support team", "the support team"),
        ("", "nobody", "nobody"),
        ("ada.lovelace+x@acme.example", "Lovelace", f"[name:1-{TAG}]"),
        ("ada99@acme.example", "ada", "ada"),
        ("no-reply@acme.example", "reply", "reply"),
        ('"Ada Lovelace" <al@acme.example>', "Ada, al", f"[name:1-{TAG}], al"),
    ],
)
def test_the_people_of_a_ticket_are_known_by_their_names(known: str, text: str, redacted: str) -> None:
    assert taken_out(Dictionary.of_people(names=[known]), text) == redacted


def test_addresses_and_numbers_of_a_ticket_are_known_too() -> None:
    people = Dictionary.of_people(emails=["Grace.Hopper@navy.example"], phones=["+49 30 1234567"])
    assert taken_out(people, "hopper has 0301234567") == f"[name:1-{TAG}] has [phone:1-{TAG}]"
    assert taken_out(Dictionary.of_people(), "ada") == "ada"


@given(st.text(max_size=60))
def test_no_name_is_too_strange(name: str) -> None:
    Dictionary.of_people(names=[name], emails=[name], phones=[name])
