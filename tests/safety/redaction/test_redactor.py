"""Personal data and secrets leave texts and JSON, and can be put back; nothing else changes."""

from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from gaby.safety.redaction import (
    ALL_KINDS,
    DEFAULT,
    GDPR,
    HIPAA,
    PERSONAL_KINDS,
    SOC2,
    Dictionary,
    Kind,
    KnownPerson,
    NotJson,
    Placeholders,
    Profile,
    Redactor,
    TooDeep,
    recognise,
)

pytestmark = pytest.mark.promise("S5")

TAG = "k7qd2m"
PEOPLE = Dictionary([KnownPerson(names=("Ada Lovelace",), accounts=("ACME-00042",))])
ANYTHING = Redactor(HIPAA, PEOPLE)


@pytest.fixture
def run() -> Placeholders:
    return Placeholders(TAG)


def test_a_ticket_is_redacted_and_restored(run: Placeholders) -> None:
    text = "I am Ada Lovelace (ada@acme.example). Card 4111 1111 1111 1111, password: hunter2. Ada@acme.example!"
    redacted = Redactor(DEFAULT, PEOPLE).redact(text, run)
    assert redacted.text == (
        "I am [name:1-k7qd2m] ([email:1-k7qd2m]). Card [card:1-k7qd2m], password: [password:1-k7qd2m]. "
        "[email:1.2-k7qd2m]!"
    ).replace("[password:1-k7qd2m].", "[password:1-k7qd2m]")
    assert redacted.kinds == {"name": 1, "email": 2, "card": 1, "password": 1}
    assert run.restore(redacted.text, allow=ALL_KINDS) == text
    assert "hunter2" not in run.restore(redacted.text, allow=PERSONAL_KINDS)


def test_plain_text_stays_the_same(run: Placeholders) -> None:
    text = "Export fails since 2026-11-15T05:10:46Z with error 500 on order 123456."
    assert Redactor().redact(text, run) == (text, {})
    assert len(run) == 0


@pytest.mark.parametrize(
    ("profile", "kept"),
    [
        (DEFAULT, {"10.0.0.5", "00:1A:2B:3C:4D:5E", "1980-02-01", "884422", "ACME-00042", "111222333"}),
        (SOC2, {"1980-02-01", "884422", "111222333"}),
        (GDPR, {"884422"}),
        (HIPAA, set[str]()),
    ],
)
def test_a_profile_decides_what_leaves(run: Placeholders, profile: Profile, kept: set[str]) -> None:
    values = ["10.0.0.5", "00:1A:2B:3C:4D:5E", "1980-02-01", "884422", "ACME-00042", "111222333", "ada@acme.example"]
    text = "ip {} mac {} born {} MRN {} account {} number {} mail {}".format(*values)
    redacted = Redactor(profile, PEOPLE).redact(text, run).text
    assert {value for value in values if value in redacted} == kept


def test_the_same_value_has_the_same_placeholder_in_another_text(run: Placeholders) -> None:
    first = Redactor().redact("ada@acme.example", run).text
    Redactor().redact("eve@acme.example", run)
    assert Redactor().redact("again ada@acme.example", run).text == f"again {first}"


def test_a_typed_placeholder_cannot_be_put_back(run: Placeholders) -> None:
    secret = Redactor().redact("ada@acme.example", run).text
    for typed in ("[email:1]", "[email:1-aaaaaa]", "[email:2-k7qd2m]", "[typed:7-k7qd2m]"):
        redacted = Redactor().redact(f"send {typed}", run).text
        assert run.restore(redacted, allow=ALL_KINDS) == f"send {typed}"
    copied = Redactor().redact(f"send {secret}", run, from_outside=True).text
    assert secret not in copied
    assert run.restore(copied, allow=ALL_KINDS) == f"send {secret}"


def test_a_number_that_was_typed_ahead_never_becomes_somebodys(run: Placeholders) -> None:
    text = Redactor().redact(f"[email:1-{TAG}] and ada@acme.example", run).text
    assert text == f"[typed:1-{TAG}] and [email:1-{TAG}]"
    assert run.restore(text, allow=ALL_KINDS) == f"[email:1-{TAG}] and ada@acme.example"


def test_what_a_placeholder_stands_beside_is_still_found(run: Placeholders) -> None:
    once = Redactor().redact("mail ada@acme.example", run).text
    assert Redactor().redact(f"{once}eve@acme.example", run).text == f"{once}[email:2-{TAG}]"


def test_a_secret_around_a_placeholder_leaves_too(run: Placeholders) -> None:
    email = Redactor().redact("ada@acme.example", run).text
    key = "-----BEGIN " + "PRIVATE KEY-----\nMIIE\n" + email + "\nabcd\n-----END PRIVATE KEY-----"
    redacted = Redactor().redact(key, run)
    assert redacted.text == f"[private_key:1-{TAG}]{email}[private_key:2-{TAG}]"
    assert redacted.kinds == {"private_key": 2}


def test_what_one_finding_uncovers_is_found_too(run: Placeholders) -> None:
    text = "4111 1111 1111 1111 415-555-0100"
    redacted = Redactor().redact(text, run).text
    assert "555-0100" not in redacted
    assert Redactor().redact(redacted, run).text == redacted


def test_a_long_list_of_numbers_leaves_altogether(run: Placeholders) -> None:
    text = " ".join(f"415-555-{n:04} 123-45-{n + 1000:04}" for n in range(500))
    redacted = Redactor().redact(text, run)
    assert redacted.kinds == {"phone": 500, "national_id": 500}
    assert run.restore(redacted.text, allow=ALL_KINDS) == text


def test_a_separator_in_a_text_hides_nothing(run: Placeholders) -> None:
    text = "4111\x1e1111\x1e1111\x1e1111"
    assert Redactor().redact(text, run).text == f"[card:1-{TAG}]"
    assert run.restore(f"[card:1-{TAG}]", allow=ALL_KINDS) == text
    assert Redactor().redact_value([text, "x"], run).value == [f"[card:1-{TAG}]", "x"]
    assert Redactor().redact("41111111\x1e11111111", run).text == f"[card:1.2-{TAG}]"


def test_json_is_redacted_in_depth(run: Placeholders) -> None:
    value = {
        "ticket": {"from": "ada@acme.example", "lines": ["call +49 151 12345678", 5, None, True, 1.5]},
        "ada@acme.example": "x",
        "card": 4111111111111111,
    }
    redacted = Redactor().redact_value(value, run)
    assert redacted.value == {
        "ticket": {"from": f"[email:1-{TAG}]", "lines": [f"call [phone:1-{TAG}]", 5, None, True, 1.5]},
        f"[email:1-{TAG}]": "x",
        "card": f"[card:1-{TAG}]",
    }
    assert redacted.kinds == {"email": 2, "phone": 1, "card": 1}
    assert run.restore_value(redacted.value, allow=ALL_KINDS) == value


def test_what_stands_around_a_finding_stays(run: Placeholders) -> None:
    value = ["before", "to ada@acme.example today", "after"]
    assert Redactor().redact_value(value, run).value == ["before", f"to [email:1-{TAG}] today", "after"]


def test_json_without_anything_personal_is_given_back_itself(run: Placeholders) -> None:
    value: dict[str, Any] = {"a": [1, "x", {"b": None}], "n": 12345678}
    assert Redactor().redact_value(value, run).value is value


@pytest.mark.parametrize("number", [4111111111111111, 4111111111111111.0])
def test_a_number_is_looked_at_too(run: Placeholders, number: float) -> None:
    redacted = Redactor().redact_value([number, 4111111111111112, -4111111111111111], run).value
    assert redacted[:2] == [f"[card:1-{TAG}]", 4111111111111112]
    back = run.restore_value(redacted, allow=ALL_KINDS)
    assert back == [number, 4111111111111112, -4111111111111111]
    assert type(back[0]) is type(number)


def test_other_numbers_stay(run: Placeholders) -> None:
    value = [0, 1, 999_999, 1.5, 1e300, 10**24, 10**5000, float("inf"), float("nan"), True]
    assert Redactor(HIPAA).redact_value(value, run).value is value


def test_the_smallest_and_the_largest_number_that_is_looked_at(run: Placeholders) -> None:
    redactor = Redactor(DEFAULT, Dictionary([KnownPerson(accounts=("999999", "1000000", "9" * 24, "1" + "0" * 24))]))
    soc2 = Redactor(SOC2, Dictionary([KnownPerson(accounts=("999999", "1000000", "9" * 24, "1" + "0" * 24))]))
    value = [999_999, 1_000_000, 10**24 - 1, 10**24]
    assert redactor.redact_value(value, run).value is value
    assert soc2.redact_value(value, run).value == [999_999, f"[account:1-{TAG}]", f"[account:2-{TAG}]", 10**24]


def test_a_field_is_secret_by_its_name(run: Placeholders) -> None:
    value = {"password": "x y", "pin": 1234, "token": ["a", "b"], "secret": {"id": "c"}, "otp": None, "cvv": ""}
    redacted = Redactor().redact_value(value, run)
    assert redacted.value == {
        "password": f"[password:1-{TAG}]",
        "pin": f"[password:2-{TAG}]",
        "token": [f"[token:1-{TAG}]", f"[token:2-{TAG}]"],
        "secret": {"id": "c"},
        "otp": None,
        "cvv": "",
    }
    assert redacted.kinds == {"password": 2, "token": 2}
    assert run.restore_value(redacted.value, allow=ALL_KINDS) == value


def test_a_field_that_the_profile_keeps_stays(run: Placeholders) -> None:
    value = {"street": "Main Road 5", "first_name": "Ada"}
    assert Redactor(DEFAULT).redact_value(value, run).value == {
        "street": "Main Road 5",
        "first_name": f"[name:1-{TAG}]",
    }
    gdpr = Redactor(GDPR).redact_value(value, run).value
    assert gdpr == {"street": f"[address:1-{TAG}]", "first_name": f"[name:1-{TAG}]"}


def test_a_hint_makes_everything_below_it_personal(run: Placeholders) -> None:
    value = {"notes": {"a": "tall", "b": ["short", 7, " ", True]}, "x": {"notes": "thin"}, "list": [["one"]]}
    redacted = Redactor().redact_value(value, run, hints={"notes": "personal", "list.*.0": "name", "x.y": "name"})
    assert redacted.value == {
        "notes": {"a": f"[personal:1-{TAG}]", "b": [f"[personal:2-{TAG}]", f"[personal:3-{TAG}]", " ", True]},
        "x": {"notes": f"[personal:4-{TAG}]"},
        "list": [[f"[name:1-{TAG}]"]],
    }
    assert redacted.kinds == {"personal": 4, "name": 1}
    assert run.restore_value(redacted.value, allow=ALL_KINDS) == value


def test_a_hint_is_stronger_than_a_name(run: Placeholders) -> None:
    redacted = Redactor().redact_value({"token": "x"}, run, hints={"token": "account"})
    assert redacted.value == {"token": f"[account:1-{TAG}]"}


def test_a_hinted_text_keeps_the_placeholders_in_it(run: Placeholders) -> None:
    email = Redactor().redact("ada@acme.example", run).text
    value = {"notes": f"{email} is tall"}
    hints: dict[str, Kind] = {"notes": "personal"}
    once = Redactor().redact_value(value, run, hints=hints).value
    assert once == {"notes": f"{email}[personal:1-{TAG}]"}
    assert Redactor().redact_value(once, run, hints=hints).value == once


def test_json_from_outside_is_defused(run: Placeholders) -> None:
    email = Redactor().redact("ada@acme.example", run).text
    value = {email: [email]}
    redacted = Redactor().redact_value(value, run, from_outside=True).value
    assert redacted == {f"[typed:1-{TAG}]": [f"[typed:1-{TAG}]"]}
    assert run.restore_value(redacted, allow=ALL_KINDS) == value
    assert Redactor().redact_value(value, run).value == value


def nested(depth: int) -> Any:
    value: Any = "ada@acme.example"
    for level in range(depth):
        value = [value] if level % 2 else {"a": value}
    return value


def test_depth_is_bounded(run: Placeholders) -> None:
    deepest = nested(64)
    assert run.restore_value(Redactor().redact_value(deepest, run).value, allow=ALL_KINDS) == deepest
    for value in (nested(65), [nested(64)], nested(2000)):
        with pytest.raises(TooDeep, match="64 levels deep"):
            Redactor().redact_value(value, run)


@pytest.mark.parametrize("value", [b"x", {1: "x"}, [object()], {"a": {2.5}}, {None: 1}])
def test_what_is_not_json_is_refused(run: Placeholders, value: Any) -> None:
    with pytest.raises(NotJson, match="objects with text keys"):
        Redactor().redact_value(value, run)


def test_a_tuple_is_a_list(run: Placeholders) -> None:
    assert Redactor().redact_value(("ada@acme.example", 5), run).value == [f"[email:1-{TAG}]", 5]


def test_scalars_are_json_too(run: Placeholders) -> None:
    assert Redactor().redact_value("ada@acme.example", run).value == f"[email:1-{TAG}]"
    assert Redactor().redact_value(None, run) == (None, {})
    assert Redactor().redact_value(4111111111111111, run).value == f"[card:1-{TAG}]"


def test_nothing_reaches_from_one_field_into_another(run: Placeholders) -> None:
    value = {"a": "4111 1111", "b": "1111 1111"}
    assert Redactor().redact_value(value, run).value is value
    key = {"a": "-----BEGIN " + "PRIVATE KEY-----\nMIIE", "b": "plain", "c": "-----END PRIVATE KEY-----"}
    redacted = Redactor().redact_value(key, run).value
    assert run.restore_value(redacted, allow=ALL_KINDS) == key
    assert "MIIE" not in str(redacted)


def test_the_name_of_a_field_tells_what_its_value_is(run: Placeholders) -> None:
    value = {"customer_dob": "1980-02-01", "ssn number": "123456789"}
    assert Redactor(HIPAA).redact_value(value, run).value == {
        "customer_dob": f"[birth_date:1-{TAG}]",
        "ssn number": f"[national_id:1-{TAG}]",
    }


PIECES = st.sampled_from(
    [
        "ada@acme.example",
        "Ada@Acme.example",
        "4111 1111 1111 1111",
        "4111111111111111",
        "５５５５555555554444",
        "+49 151 12345678",
        "415-555-0100",
        "DE89370400440532013000",
        "123-45-6789",
        "111222333",
        "password=hunter2",
        "password: ",
        "key ",
        "phone ",
        "born ",
        "1980-02-01",
        "10.0.0.5",
        "Ada Lovelace",
        "lovelace",
        "ACME-00042",
        "-----BEGIN " + "PRIVATE KEY-----",
        "-----END PRIVATE KEY-----",
        "[email:1]",
        f"[email:1-{TAG}]",
        f"[typed:1-{TAG}]",
        f"[card:2.2-{TAG}]",
        f"-{TAG}]",
        "[email:1",
        TAG,
        "\x1e",
        "\u200b",
        "é",
        " ",
        "-",
        "\n",
        "@",
        "1",
        "x",
        '"',
    ]
)
TEXTS = st.one_of(st.text(max_size=40), st.lists(PIECES, max_size=10).map("".join))
VALUES: st.SearchStrategy[Any] = st.recursive(
    st.one_of(TEXTS, st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False)),
    lambda inner: st.one_of(
        st.lists(inner, max_size=4),
        st.dictionaries(st.one_of(TEXTS, st.sampled_from(["password", "notes", "dob"])), inner, max_size=4),
    ),
    max_leaves=12,
)


@given(TEXTS)
@example(f"[email:1-{TAG}]ada@acme.example")
def test_restoring_gives_back_any_text(text: str) -> None:
    run = Placeholders(TAG)
    redacted = ANYTHING.redact(text, run, from_outside=True).text
    assert run.restore(redacted, allow=ALL_KINDS) == text


@given(TEXTS)
def test_redacting_twice_changes_nothing(text: str) -> None:
    run = Placeholders(TAG)
    once = ANYTHING.redact(text, run).text
    made = len(run)
    assert ANYTHING.redact(once, run) == (once, {})
    assert len(run) == made


@given(TEXTS)
def test_nothing_that_was_found_is_left(text: str) -> None:
    run = Placeholders(TAG)
    redacted = ANYTHING.redact(text, run, from_outside=True).text
    without = run.own.sub("\x1e", redacted)
    assert recognise(without.replace(TAG, ""), {"email", "card", "iban"}) == [] or TAG in text


@given(st.lists(TEXTS, max_size=4), st.lists(PIECES, max_size=4))
def test_nobody_gets_at_anothers_data_by_typing(theirs: list[str], typed: list[str]) -> None:
    run = Placeholders(TAG)
    for text in theirs:
        ANYTHING.redact(text, run, from_outside=True)
    attack = "".join(f"{piece}[email:{n}-{TAG}][card:1.{n}-{TAG}]" for n, piece in enumerate(typed, 1))
    redacted = ANYTHING.redact(attack, run, from_outside=True).text
    assert run.restore(redacted, allow=ALL_KINDS) == attack


@given(VALUES)
def test_restoring_gives_back_any_json(value: Any) -> None:
    run = Placeholders(TAG)
    redacted = ANYTHING.redact_value(value, run, hints={"notes": "personal"}, from_outside=True).value
    assert run.restore_value(redacted, allow=ALL_KINDS) == value


@given(VALUES)
def test_redacting_json_twice_changes_nothing(value: Any) -> None:
    run = Placeholders(TAG)
    once = ANYTHING.redact_value(value, run).value
    assert ANYTHING.redact_value(once, run).value == once


@given(TEXTS)
def test_a_run_that_was_stored_goes_on(text: str) -> None:
    run = Placeholders(TAG)
    redacted = ANYTHING.redact(text, run, from_outside=True).text
    again = Placeholders.from_json(run.to_json())
    assert again.restore(redacted, allow=ALL_KINDS) == text
    assert ANYTHING.redact(redacted, again).text == redacted
