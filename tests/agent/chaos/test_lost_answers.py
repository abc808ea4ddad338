"""Answers, failures and nudges that come at an awkward moment."""

import pytest

from tests.agent.chaos.conftest import Staged
from tests.agent.chaos.killing import Case

pytestmark = [pytest.mark.slow, pytest.mark.promise("L6", "L7", "Q6")]


def test_an_answer_that_comes_before_the_run_waits_is_heard(staged: Staged) -> None:
    """Somebody answers in the moment between the question and the edge that waits for it."""
    assert staged("lost").disturb(Case(("loop.thought.safety_check@2",), answers_first=True)) == []


@pytest.mark.exhaustive
def test_an_answer_that_comes_while_nobody_works_is_heard(staged: Staged) -> None:
    assert staged("lost").disturb(Case(("loop.after.waiting_approval",), answers_first=True)) == []


def test_a_second_try_after_a_failure_is_not_repeated(staged: Staged) -> None:
    """The first try fails, which is known; the second one succeeds, and each time the worker dies afterwards."""
    found = staged("label").disturb(Case(("act.after_write", "act.after_write"), jam=True))
    assert found is not None
    assert not [told for told in found if told.startswith("no_effect_happens_twice")]


def test_a_nudge_does_not_make_a_waiting_run_spin(staged: Staged) -> None:
    trial = staged("lost")
    trial.stage.set()
    ended = trial.stage.work(nudges=True)
    assert ended.code == 0, trial.stage.herd.last_words()
    assert [run["state"] for run in ended.result["runs"]] == ["waiting_approval"]
