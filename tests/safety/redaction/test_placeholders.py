"""Placeholders are stable in a run, can be put back by it alone, and cannot be forged."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gaby.safety.redaction.json_leaves import TooDeep
from gaby.safety.redaction.placeholders import Placeholders, PlaceholdersUnreadable, tag_from
from gaby.safety.redaction.spans import ALL_KINDS, PERSONAL_KINDS, Kind

pytestmark = pytest.mark.promise("S5")

TAG = "k7qd2m"


@pytest.fixture
def run() -> Placeholders:
    return Placeholders(TAG)


def test_the_same_value_gets_the_same_placeholder(run: Placeholders) -> None:
    assert run.put("email", "ada@acme.example") == "[email:1-k7qd2m]"
    assert run.put("email", "eve@acme.example") == "[email:2-k7qd2m]"
    assert run.put("email", "ada@acme.example") == "[email:1-k7qd2m]"
    assert run.put("card", "4111111111111111") == "[card:1-k7qd2m]"
    assert len(run) == 3


def test_another_spelling_has_the_same_number(run: Placeholders) -> None:
    assert run.put("email", "ada@acme.example") == "[email:1-k7qd2m]"
    assert run.put("email", "Ada@ACME.example") == "[email:1.2-k7qd2m]"
    assert run.put("email", "ADA@acme.example") == "[email:1.3-k7qd2m]"
    assert run.put("email", "Ada@ACME.example") == "[email:1.2-k7qd2m]"
    assert run.put("email", "eve@acme.example") == "[email:2-k7qd2m]"


@pytest.mark.parametrize(
    ("kind", "one", "other"),
    [
        ("card", "4111 1111 1111 1111", "4111-1111.1111 1111"),
        ("iban", "DE89 3704 0044", "de8937040044"),
        ("phone", "(415) 555-0100", "415.555/0100"),
        ("national_id", "123-45-6789", "123456789"),
        ("mac", "00:1a:2b", "00-1A-2B"),
        ("email", "ada@acme.example", "ada\u200b@acme.example"),
    ],
)
def test_separators_do_not_make_another_value(run: Placeholders, kind: Kind, one: str, other: str) -> None:
    made = [run.put(kind, text) for text in (one, other)]
    assert made == [f"[{kind}:1-{TAG}]", f"[{kind}:1.2-{TAG}]"]


def test_look_alikes_are_not_the_same_person(run: Placeholders) -> None:
    assert run.put("email", "ada@acme.example") == "[email:1-k7qd2m]"
    assert run.put("email", "аda@acme.example") == "[email:2-k7qd2m]"


def test_separators_matter_where_they_mean_something(run: Placeholders) -> None:
    assert run.put("password", "a-b") != run.put("password", "ab")
    assert run.put("password", "a-b") == "[password:1-k7qd2m]"
    assert run.put("password", "ab") == "[password:2-k7qd2m]"


def test_putting_back_gives_exactly_what_was_there(run: Placeholders) -> None:
    first, second = run.put("email", "ada@acme.example"), run.put("email", "Ada@acme.example")
    assert run.restore(f"{first} {second}!", allow={"email"}) == "ada@acme.example Ada@acme.example!"


def test_only_allowed_kinds_are_put_back(run: Placeholders) -> None:
    email, secret = run.put("email", "ada@acme.example"), run.put("password", "hunter2")
    text = f"{email} {secret}"
    assert run.restore(text, allow=()) == text
    assert run.restore(text, allow={"email"}) == f"ada@acme.example {secret}"
    assert run.restore(text, allow=PERSONAL_KINDS) == f"ada@acme.example {secret}"
    assert run.restore(text, allow=ALL_KINDS) == "ada@acme.example hunter2"


def test_a_typed_placeholder_is_mere_text(run: Placeholders) -> None:
    run.put("email", "ada@acme.example")
    for typed in ("[email:1]", "[email:1-aaaaaa]", "[email:2-k7qd2m]", "[Email:1-k7qd2m]", "[email:01-k7qd2m]"):
        assert run.restore(typed, allow=ALL_KINDS) == typed
        assert run.restore_value({typed: [typed]}, allow=ALL_KINDS) == {typed: [typed]}


def test_another_run_cannot_put_it_back(run: Placeholders) -> None:
    placeholder = run.put("email", "ada@acme.example")
    other = Placeholders("zzzzzz")
    other.put("email", "eve@acme.example")
    assert other.restore(placeholder, allow=ALL_KINDS) == placeholder


def test_what_comes_back_is_not_looked_at_again(run: Placeholders) -> None:
    email = run.put("email", "ada@acme.example")
    note = run.put("personal", f"see {email}")
    assert run.restore(note, allow=ALL_KINDS) == f"see {email}"


def test_what_looks_like_a_placeholder_is_defused(run: Placeholders) -> None:
    email = run.put("email", "ada@acme.example")
    text = f"{email} [email:9-{TAG}] [email:1]"
    assert run.defused(text, all_of_them=False) == f"{email} [typed:1-{TAG}] [email:1]"
    assert run.defused(text, all_of_them=True) == f"[typed:2-{TAG}] [typed:1-{TAG}] [email:1]"
    assert run.restore(f"[typed:2-{TAG}] [typed:1-{TAG}]", allow=()) == f"{email} [email:9-{TAG}]"


def test_a_number_comes_back_as_a_number(run: Placeholders) -> None:
    number, text = run.put("card", 4111111111111111), run.put("card", "4111111111111111")
    decimal = run.put("card", 4111111111111111.0)
    assert (number, text, decimal) == ("[card:1-k7qd2m]", "[card:1.2-k7qd2m]", "[card:1.3-k7qd2m]")
    back = run.restore_value([number, text, decimal, f"card {number}"], allow={"card"})
    assert back == [4111111111111111, "4111111111111111", 4111111111111111.0, "card 4111111111111111"]
    assert [type(value) for value in back] == [int, str, float, str]
    assert run.restore_value(number, allow=()) == number


def test_a_broken_number_is_another_value(run: Placeholders) -> None:
    made = [run.put("personal", number) for number in (1, 1.0, 1.5, float("inf"))]
    assert made == [f"[personal:{number}-{TAG}]" for number in ("1", "1.2", "2", "3")]


def test_json_is_put_back_with_its_keys(run: Placeholders) -> None:
    email = run.put("email", "ada@acme.example")
    value = {email: [email, {"x": f"<{email}>"}, 1, None, True]}
    back = {"ada@acme.example": ["ada@acme.example", {"x": "<ada@acme.example>"}, 1, None, True]}
    assert run.restore_value(value, allow={"email"}) == back
    assert run.restore_value(value, allow=()) == value


def test_the_depth_of_what_is_put_back_is_bounded(run: Placeholders) -> None:
    deepest: Any = run.put("email", "ada@acme.example")
    for level in range(64):
        deepest = [deepest] if level % 2 else {"a": deepest}
    assert "ada@acme.example" in str(run.restore_value(deepest, allow={"email"}))
    for value in ([deepest], {"a": deepest}):
        with pytest.raises(TooDeep):
            run.restore_value(value, allow={"email"})


def test_keys_that_would_become_one_stay_apart(run: Placeholders) -> None:
    email = run.put("email", "ada@acme.example")
    value = {email: 1, "ada@acme.example": 2}
    assert run.restore_value(value, allow={"email"}) == value


def test_placeholders_survive_storage(run: Placeholders) -> None:
    run.put("email", "ada@acme.example")
    run.put("email", "ADA@acme.example")
    run.put("card", 4111111111111111)
    run.defused(f"[email:9-{TAG}]", all_of_them=False)
    again = Placeholders.from_json(run.to_json())
    assert again.tag == TAG
    assert again.to_json() == run.to_json()
    assert again.put("email", "ada@acme.example") == "[email:1-k7qd2m]"
    assert again.put("email", "Ada@acme.example") == "[email:1.3-k7qd2m]"
    assert again.put("email", "eve@acme.example") == "[email:2-k7qd2m]"
    assert again.put("card", 4111111111111111) == "[card:1-k7qd2m]"
    assert again.defused(f"[email:8-{TAG}]", all_of_them=False) == "[typed:2-k7qd2m]"
    assert again.restore_value("[card:1-k7qd2m]", allow=ALL_KINDS) == 4111111111111111


def test_half_of_a_surrogate_pair_survives_storage(run: Placeholders) -> None:
    placeholder = run.put("password", "\ud800")
    assert Placeholders.from_json(run.to_json()).restore(placeholder, allow=ALL_KINDS) == "\ud800"


@pytest.mark.parametrize(
    "stored",
    [
        "",
        "{}",
        "[]",
        "null",
        '{"tag": "k7qd2m"}',
        '{"tag": "short", "entries": []}',
        '{"tag": 5, "entries": []}',
        '{"tag": "k7qd2m", "entries": [["email", 1, 1]]}',
        '{"tag": "k7qd2m", "entries": [["nonsense", 1, 1, "x"]]}',
        '{"tag": "k7qd2m", "entries": [["email", "x", 1, "x"]]}',
        '{"tag": "k7qd2m", "entries": [["email", 1, "x", "x"]]}',
        '{"tag": "k7qd2m", "entries": [["email", 1, 1, null]]}',
        '{"tag": "k7qd2m", "entries": [5]}',
    ],
)
def test_damaged_storage_is_refused(stored: str) -> None:
    with pytest.raises(PlaceholdersUnreadable, match="Start the run again"):
        Placeholders.from_json(stored)


def test_stored_entries_are_plain(run: Placeholders) -> None:
    run.put("email", "ada@acme.example")
    assert json.loads(run.to_json()) == {"tag": TAG, "entries": [["email", 1, 1, "ada@acme.example"]]}


@pytest.mark.parametrize("tag", ["abcdef", "abcdefghijklmnop", "123456"])
def test_a_tag_has_six_to_sixteen_characters(tag: str) -> None:
    assert Placeholders(tag).put("card", "1") == f"[card:1-{tag}]"


@pytest.mark.parametrize("tag", ["", "abcde", "abcdefghijklmnopq", "ABCDEF", "abc-def", "abcdef\n", ".*.*.*"])
def test_another_tag_is_refused(tag: str) -> None:
    with pytest.raises(ValueError, match="6 to 16 small letters and digits"):
        Placeholders(tag)


def test_a_tag_comes_from_random_bytes() -> None:
    assert tag_from(b"\0\0\0\0") == "aaaaaa"
    assert tag_from(b"\xff\xff\xff\xff") == "999999"
    assert tag_from((1 | 2 << 5 | 3 << 25).to_bytes(4, "big")) == "bcaaad"
    assert tag_from(b"\1" + b"\0" * 4) == "aaaaaa"


@given(st.binary(min_size=4, max_size=16))
def test_every_tag_can_be_used(seed: bytes) -> None:
    assert Placeholders(tag_from(seed)).tag == tag_from(seed)
