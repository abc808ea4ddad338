"""A field is as personal in JSON that stands inside of a text as it is in a structured result."""

from itertools import pairwise
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from gaby.safety.redaction import ALL_KINDS, DEFAULT, Kind, Placeholders, Redactor
from gaby.safety.redaction.fields import NO_HINTS, FieldHints, is_plain_fact, kind_of_field
from gaby.safety.redaction.json_fields import find_json_fields

pytestmark = pytest.mark.promise("S5")

TAG = "k7qd2m"


def looked(text: str, **hints: Kind) -> list[tuple[str, Kind]]:
    field_hints = FieldHints({path.replace("__", "."): kind for path, kind in hints.items()})
    return [(text[span.start : span.end], span.kind) for span in find_json_fields(text, field_hints, DEFAULT.kinds)]


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ('{"pin": 4821}', ["4821"]),
        ('{"pin": "4821", "x": 1}', ["4821"]),
        ('{"user": {"first_name": "Ada"}}', ["Ada"]),
        ('{"token": ["a", "b"], "c": "d"}', ["a", "b"]),
        ('[{"otp": "112233"}, {"otp": "445566"}]', ["112233", "445566"]),
        ('Result: {"password": "x y"} and {"password": "z"', ["x y", "z"]),
        ('{"password": "a \\" b"}', ['a \\" b']),
        ('{"last\\u005fname": 1, "password": ""}', []),
        ('{"password": true, "token": null, "secret": false}', []),
        ('{"token": 17, "password": "2026-01-01T00:00:00Z", "secret": "yes"}', []),
        ('{"token_count": 17, "password_changed_at": "x", "has_password": "x"}', []),
        ('{"secret": {"id": "c"}}', []),
        ('{"first_name": "Ada"', ["Ada"]),
        ('{"dob": "1980-01-01"}', []),
        ('"password": "x"', []),
        ("{'password': 'x'}", []),
        ("}]}:,{", []),
        ('}]{"pin": 4821}', ["4821"]),
        ('{"pin": 1.2.3.4e}', ["1.2.3.4e"]),
        ('{"a": 1, : "b"}', []),
    ],
)
def test_a_value_is_personal_by_the_name_of_its_field(text: str, values: list[str]) -> None:
    assert [value for value, _ in looked(text)] == values


def test_a_hint_reaches_into_a_text() -> None:
    text = '{"result": {"customers": [{"notes": "tall", "id": 7}, {"notes": ["a", 5, true]}]}}'
    assert looked(text, customers__notes="personal") == [("tall", "personal"), ("a", "personal"), ("5", "personal")]
    assert looked('{"notes": {"a": "b"}}', notes="personal") == [("b", "personal")]
    assert looked('{"token": 3}', token="personal") == [("3", "personal")]


def test_json_that_is_nested_too_deep_is_still_read() -> None:
    assert looked("[" * 200 + '{"pin": "4821"}') == [("4821", "password")]


def test_fields_in_a_text_become_placeholders_and_come_back() -> None:
    run = Placeholders(TAG)
    text = 'answer: {"first_name": "Ada", "pin": 4821, "n": "' + f"[email:1-{TAG}]" + '"}'
    redacted = Redactor().redact(text, run, from_outside=True)
    assert redacted.text == (
        f'answer: {{"first_name": "[name:1-{TAG}]", "pin": [password:1-{TAG}], "n": "[typed:1-{TAG}]"}}'
    )
    assert redacted.kinds == {"name": 1, "password": 1}
    assert Redactor().redact(redacted.text, run).text == redacted.text
    assert run.restore(redacted.text, allow=ALL_KINDS) == text


def test_a_field_in_a_text_inside_of_json_is_found_by_its_hint() -> None:
    run = Placeholders(TAG)
    value = {"body": '{"customer": {"notes": "tall"}}'}
    redacted = Redactor().redact_value(value, run, hints={"customer.notes": "personal"}).value
    assert redacted == {"body": f'{{"customer": {{"notes": "[personal:1-{TAG}]"}}}}'}
    assert run.restore_value(redacted, allow=ALL_KINDS) == value


@pytest.mark.parametrize(
    ("paths", "path", "fits"),
    [
        ("customer.notes", ("customer", "notes"), True),
        ("customer.notes", ("result", "customer", "notes"), True),
        ("customers.notes", ("customers", "3", "notes"), True),
        ("customers[].notes", ("customers", "3", "notes"), True),
        ("customers[].notes", ("customers", "notes"), True),
        ("customers.*.notes", ("customers", "x", "notes"), True),
        ("[].notes", ("0", "notes"), True),
        ("tags[]", ("tags", "2"), False),
        ("tags[]", ("tags",), True),
        ("a.*", ("a",), True),
        ("customer.notes", ("customer", "other"), False),
        ("customer.notes", ("notes", "customer"), False),
        ("customer.notes", ("notes",), False),
        ("", ("notes",), False),
        ("*", ("notes",), True),
    ],
)
def test_a_path_is_read_in_the_careful_way(paths: str, path: tuple[str, ...], fits: bool) -> None:
    assert (FieldHints({paths: "personal"}).kind_at(path) == "personal") is fits


@pytest.mark.parametrize(
    ("kind", "name", "value", "is_fact"),
    [
        ("password", "pin", 4821, False),
        ("password", "pin", 482, False),
        ("password", "pin", 3, True),
        ("token", "token", 17, True),
        ("token", "token", 4821, False),
        ("password", "password", "2026-01-01", True),
        ("password", "password", "enabled", True),
        ("password", "password", "hunter2", False),
        ("password", "password", None, False),
        ("name", "first_name", "true", False),
    ],
)
def test_a_switch_a_time_and_a_small_count_are_no_secret(kind: Kind, name: str, value: Any, is_fact: bool) -> None:
    assert is_plain_fact(kind, name, value) is is_fact


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("DB_PASS", "password"),
        ("smtpPassword", "password"),
        ("user[password]", "password"),
        ("contraseña", "password"),
        ("mot_de_passe", "password"),
        ("password1", "password"),
        ("password_confirmation", "password"),
        ("ssn_number", "national_id"),
        ("Vorname", "name"),
        ("customer_dob", "birth_date"),
        ("private_key", "private_key"),
        ("signing_key", "api_key"),
        ("password_changed_at", None),
        ("token_count", None),
        ("pin_enabled", None),
        ("has_password", None),
        ("next_page_token", None),
        ("pagetoken", None),
        ("sort_key", None),
        ("ada@acme.example password", None),
        ("12", None),
        ("__", None),
    ],
)
def test_a_name_holds_a_secret_or_talks_about_one(name: str, kind: Kind | None) -> None:
    assert kind_of_field(name) == kind


@given(
    st.lists(st.sampled_from([*'{}[]:,"\\ 01x', '"pin"', '"token"', "true", '"a": ', "\x1e"]), max_size=40).map("".join)
)
@example('{"pin":"')
@example("]" * 3 + '{"pin": 5555')
def test_whatever_the_text_is_spans_stand_in_order_and_apart(text: str) -> None:
    spans = list(find_json_fields(text, NO_HINTS, ALL_KINDS))
    assert all(one.end <= other.start for one, other in pairwise(spans))
    assert all(0 <= span.start < span.end <= len(text) for span in spans)
