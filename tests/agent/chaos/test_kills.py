"""`kill -9` at every place of an investigation: whoever takes it up brings it to the usual end, and repeats nothing.

By default those places are tried at which something durable, or something outside of Gaby, has just happened or is
about to. With GABY_CHAOS=all it is every hit of every place, which takes about ten minutes.
"""

import os

import pytest

from tests.agent.chaos.conftest import Staged
from tests.agent.chaos.killing import Case, Trial

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900), pytest.mark.promise("L6", "X4", "Q1", "Q2", "Q6")]

_ALL = os.environ.get("GABY_CHAOS") == "all"
_ACTIONS = ("act.before_write", "act.after_write", "post.before_send", "post.after_send")


def _survives(trial: Trial, cases: list[Case]) -> None:
    found: list[str] = []
    for case in cases:
        wrong = trial.disturb(case)
        if wrong is None:
            found.append(f"{case}: the place was not passed")
        elif wrong:
            found.append(f"killed at {case}: {'; '.join(wrong)}")
    assert not found, "\n".join(found)


def _kills(trial: Trial, *names: str, every: int = 1) -> list[Case]:
    """At each so-many-th hit of these places."""
    places = list(trial.each_hit(sorted(trial.passed) if _ALL else names))
    return [Case((place,)) for place in places[:: 1 if _ALL else every]]


@pytest.mark.xdist_group("chaos-1")
def test_a_killed_worker_never_repeats_what_cannot_be_taken_back(staged: Staged) -> None:
    trial = staged("label")
    _survives(trial, _kills(trial, *_ACTIONS, "audit.before_commit", "audit.after_commit"))
    _survives(trial, _kills(trial, "edges.before_commit", every=4))


@pytest.mark.promise("L7")
@pytest.mark.xdist_group("chaos-2")
def test_a_killed_worker_asks_once_and_acts_once(staged: Staged) -> None:
    trial = staged("lost")
    waits = [name for name in trial.passed if name.startswith("loop.") and "approval" in name]
    _survives(trial, _kills(trial, *_ACTIONS, "loop.thought.safety_check", *waits))
    _survives(trial, _kills(trial, "audit.after_commit", every=2))


@pytest.mark.xdist_group("chaos-2")
def test_a_worker_may_die_in_every_state(staged: Staged) -> None:
    trial = staged("held")
    names = [name for name in trial.passed if name.startswith(("loop.before.", "books."))]
    _survives(trial, [Case((name,)) for name in (*names, "edges.after_commit", "loop.after.done")])


@pytest.mark.promise("G2")
@pytest.mark.xdist_group("chaos-1")
@pytest.mark.parametrize("name", ["locked out", "charged twice"])
def test_the_sample_company_sees_every_change_once(staged: Staged, name: str) -> None:
    trial = staged(name)
    _survives(trial, _kills(trial, *_ACTIONS))


@pytest.mark.xdist_group("chaos-2")
def test_who_recovers_may_be_killed_too(staged: Staged) -> None:
    trial = staged("label")
    after = ("loop.before.acting", "act.before_write", "edges.before_commit", "post.before_send")
    _survives(trial, [Case(("audit.after_commit@4", place)) for place in after])
    trial = staged("lost")
    _survives(
        trial,
        [
            Case(("act.after_write", "act.after_write", "edges.before_commit")),
            Case(("loop.thought.safety_check@2", "loop.thought.safety_check")),
            Case(("post.after_send", "post.before_send", "post.after_send")),
        ],
    )


@pytest.mark.promise("T3")
@pytest.mark.xdist_group("chaos-1")
def test_a_desk_that_takes_replies_twice_gets_each_once(staged: Staged) -> None:
    trial = staged("held", desk="finds")
    _survives(trial, [Case((place,)) for place in ("post.before_send", "post.after_send", "loop.thought.writing_back")])


@pytest.mark.promise("Q1")
@pytest.mark.xdist_group("chaos-1")
def test_a_ticket_comes_in_with_its_run_or_not_at_all(staged: Staged) -> None:
    assert staged("held").receive_killed(None, "audit.before_insert") == []


@pytest.mark.xdist_group("chaos-2")
def test_the_same_holds_on_postgres(staged_on_postgres: Staged) -> None:
    places = ("act.after_write", "audit.before_commit@4", "edges.before_commit@10", "post.after_send")
    _survives(staged_on_postgres("label"), [Case((place,)) for place in places])
