"""The quality gate: only what was resolved well and is disputed by nobody is shown to a person."""

from dataclasses import replace
from datetime import timedelta

import pytest

from gaby.knowledge.learning.gate import Resolution, gate
from tests.knowledge.learning.resolutions import NOW, SCANNER

pytestmark = pytest.mark.promise("K7")

UNRATED = replace(SCANNER, rating=None)
TICK = timedelta(microseconds=1)


def aged(age: timedelta, resolution: Resolution = UNRATED) -> Resolution:
    return replace(resolution, resolved_at=NOW - age)


@pytest.mark.parametrize("verdict", ["resolved", "escalated", "needs_human", "AUTO_RESOLVED", "auto_resolved ", ""])
def test_only_what_was_resolved_without_a_person_passes(verdict: str) -> None:
    judged = gate(replace(SCANNER, verdict=verdict), now=NOW)
    assert not judged.passed
    assert "auto_resolved" in judged.reason


@pytest.mark.parametrize(("rating", "passes"), [(1, False), (2, False), (3, False), (4, True), (5, True)])
def test_a_rating_of_four_or_more_passes_at_once(rating: int, passes: bool) -> None:
    judged = gate(aged(timedelta(0), replace(SCANNER, rating=rating)), now=NOW)
    assert judged.passed is passes
    assert str(rating) in judged.reason


@pytest.mark.parametrize("rating", [1, 3])
def test_a_low_rating_never_passes_however_long_nobody_disputes_it(rating: int) -> None:
    judged = gate(aged(timedelta(days=3650), replace(SCANNER, rating=rating)), now=NOW)
    assert not judged.passed
    assert judged.again_at is None, "there is no use in asking again"


@pytest.mark.parametrize("rating", [None, 1, 4, 5])
def test_what_is_disputed_never_passes(rating: int | None) -> None:
    judged = gate(aged(timedelta(days=3650), replace(SCANNER, rating=rating, disputed=True)), now=NOW)
    assert not judged.passed
    assert judged.again_at is None


def test_without_a_rating_seven_quiet_days_are_enough_to_the_moment() -> None:
    assert gate(aged(timedelta(days=7)), now=NOW).passed
    assert gate(aged(timedelta(days=8)), now=NOW).passed
    early = gate(aged(timedelta(days=7) - TICK), now=NOW)
    assert not early.passed
    assert early.again_at == NOW + TICK
    fresh = gate(aged(timedelta(0)), now=NOW)
    assert (fresh.passed, fresh.again_at) == (False, NOW + timedelta(days=7))
    assert gate(aged(timedelta(0)), now=NOW + timedelta(days=7)).passed


@pytest.mark.parametrize("lacking", [{"problem": " \n"}, {"resolution": ""}])
def test_what_does_not_say_what_solved_what_is_no_use(lacking: dict[str, str]) -> None:
    assert not gate(replace(SCANNER, **lacking), now=NOW).passed
