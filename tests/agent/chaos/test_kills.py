"""`kill -9` at every place of an investigation: whoever takes it up brings it to the usual end, and repeats nothing.

With every commit a few places are tried, of each kind the one at which most can go wrong: something durable, or
something outside of Gaby, has just happened and is not known yet. `make test-exhaustive` tries each hit of each place.
"""

import pytest

from tests.agent.chaos.conftest import Staged
from tests.agent.chaos.killing import Case, Trial

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1800), pytest.mark.promise("L6", "X4", "Q1", "Q2", "Q6")]

_ACTIONS = ("act.before_write", "act.after_write", "post.before_send", "post.after_send")


def _survives(trial: Trial, *cases: Case) -> None:
    found: list[str] = []
    for case in cases:
        wrong = trial.disturb(case)
        if wrong is None:
            found.append(f"{case}: the place was not passed")
        elif wrong:
            found.append(f"killed at {case}: {'; '.join(wrong)}")
    assert not found, "\n".join(found)


def _kills(*places: str) -> list[Case]:
    return [Case((place,)) for place in places]


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", ["label", "lost", "held", "locked out", "charged twice"])
def test_a_worker_may_be_killed_at_each_hit_of_each_place(staged: Staged, name: str) -> None:
    trial = staged(name)
    _survives(trial, *_kills(*trial.each_hit(sorted(trial.passed))))


@pytest.mark.xdist_group("chaos-1")
def test_a_killed_worker_never_repeats_what_cannot_be_taken_back(staged: Staged) -> None:
    _survives(staged("label"), *_kills("act.after_write", "audit.before_commit@4", "edges.before_commit@9"))


@pytest.mark.promise("L7")
@pytest.mark.xdist_group("chaos-2")
def test_a_killed_worker_asks_once_and_acts_once(staged: Staged) -> None:
    trial = staged("lost")
    [first, *_] = [name for name in trial.passed if name.startswith("loop.") and "approval" in name]
    _survives(trial, *_kills("act.after_write", "loop.thought.safety_check@2", first))


@pytest.mark.xdist_group("chaos-2")
def test_a_worker_may_die_in_a_state_that_has_just_begun_or_ended(staged: Staged) -> None:
    _survives(staged("held"), *_kills("loop.before.acting", "loop.before.writing_back", "loop.after.done"))


@pytest.mark.promise("G2")
@pytest.mark.xdist_group("chaos-1")
def test_the_sample_company_sees_every_change_once(staged: Staged) -> None:
    _survives(staged("charged twice"), *_kills("act.after_write"))


@pytest.mark.xdist_group("chaos-2")
def test_who_recovers_may_be_killed_too(staged: Staged) -> None:
    _survives(staged("lost"), Case(("act.after_write", "act.after_write", "edges.before_commit")))


@pytest.mark.exhaustive
def test_who_recovers_may_be_killed_anywhere(staged: Staged) -> None:
    after = ("loop.before.acting", "act.before_write", "edges.before_commit", "post.before_send")
    _survives(staged("label"), *(Case(("audit.after_commit@4", place)) for place in after))
    _survives(
        staged("lost"),
        Case(("loop.thought.safety_check@2", "loop.thought.safety_check")),
        Case(("post.after_send", "post.before_send", "post.after_send")),
    )


@pytest.mark.promise("T3")
@pytest.mark.xdist_group("chaos-1")
def test_a_desk_that_takes_replies_twice_gets_each_once(staged: Staged) -> None:
    _survives(staged("held", desk="finds"), *_kills("post.after_send"))


@pytest.mark.exhaustive
@pytest.mark.promise("T3")
def test_a_desk_that_takes_replies_twice_gets_each_once_wherever_a_worker_dies(staged: Staged) -> None:
    trial = staged("held", desk="finds")
    _survives(trial, *_kills("post.before_send", "post.after_send", "loop.thought.writing_back"))


@pytest.mark.promise("Q1")
@pytest.mark.xdist_group("chaos-1")
def test_a_ticket_comes_in_with_its_run_or_not_at_all(staged: Staged) -> None:
    assert staged("held").receive_killed(None, "audit.before_insert") == []


@pytest.mark.xdist_group("chaos-2")
def test_the_same_holds_on_postgres(staged_on_postgres: Staged) -> None:
    _survives(staged_on_postgres("label"), *_kills("act.after_write"))


@pytest.mark.exhaustive
def test_the_same_holds_on_postgres_at_other_places(staged_on_postgres: Staged) -> None:
    places = (*_ACTIONS, "audit.before_commit@4", "edges.before_commit@10")
    _survives(staged_on_postgres("label"), *_kills(*places))
