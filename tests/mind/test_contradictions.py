"""Hints at contradictions are few and right, whatever the order of the statements."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gaby.mind.contradictions import hints
from tests.mind.strategies import hostile_texts

pytestmark = pytest.mark.promise("G2")


@pytest.mark.parametrize(
    ("first", "second", "kind"),
    [
        ("MFA is enabled for Nora.", "MFA is disabled for Nora.", "negation"),
        ("The certificate has expired.", "The certificate has not expired.", "negation"),
        ("Nora can log in.", "Nora cannot log in.", "negation"),
        ("Errors were found in the logs.", "No errors were found in the logs.", "negation"),
        ("usr_1: status: active", "usr_1: status: locked", "negation"),
        ("The plan allows 10 devices.", "The plan allows 20 devices.", "value"),
        ("The invoice is due on 12 March 2026.", "The invoice is due on 2026-03-15.", "value"),
        ("The total is 249.00 USD.", "The total is 2490.00 USD.", "value"),
        ("plan: starter", "plan: business", "value"),
        ("owner: a@acme.example", "owner: b@acme.example", "value"),
    ],
)
def test_two_statements_that_exclude_each_other_are_named(first: str, second: str, kind: str) -> None:
    (hint,) = hints([first, second])
    assert (hint.first, hint.second, hint.kind) == (0, 1, kind)
    assert hint.why.endswith(".")


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("User a.b is locked.", "User c.d is active."),
        ("The disk of db-1 is full.", "The disk of db-2 is not full."),
        ("Some users can log in.", "Some users cannot log in."),
        ("The server was down yesterday.", "The server is up now."),
        ("If the card is expired it fails.", "The card is not expired."),
        ("Login failed at 09:15.", "Login failed at 09:30."),
        ("at: 10:00", "at: 10:15"),
        ("It costs 20 EUR.", "It costs 30 EUR."),
        ("The invoice is due on 12 March 2026.", "The invoice is due on 2026-03-12."),
        ("The export is empty.", "The import is not empty."),
        ("Is the key valid?", "The key is not valid."),
        ("usr_1: status: active", "usr_2: status: locked"),
        ("The total is 249.00 USD.", "The total is 249.00 USD."),
    ],
)
def test_two_that_can_both_be_true_are_left_alone(first: str, second: str) -> None:
    assert hints([first, second]) == []


def test_the_order_of_the_statements_changes_no_pair() -> None:
    said = [
        f"{subject} {end}"
        for subject in ("The door", "The gate", "Till 4")
        for end in ("is open.", "is closed.", "is red.")
    ]
    shuffled = sorted(said, key=lambda statement: statement[::-1])
    pairs = [{frozenset((each[hint.first], each[hint.second])) for hint in hints(each)} for each in (said, shuffled)]
    assert pairs[0] == pairs[1]
    assert len(pairs[0]) == 3


def test_hundreds_of_statements_are_compared_and_only_the_odd_one_is_named() -> None:
    said = [f"Device {number} is online." for number in range(600)] + ["Device 17 is offline."]
    assert [(hint.first, hint.second) for hint in hints(said)] == [(17, 600)]


@given(st.lists(hostile_texts, max_size=8))
def test_any_statements_are_compared_without_complaint(statements: list[str]) -> None:
    found = hints(statements)
    assert all(0 <= hint.first < hint.second < len(statements) for hint in found)
    assert found == hints(statements)
