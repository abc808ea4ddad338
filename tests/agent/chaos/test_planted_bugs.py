"""The harness is worth something only if it finds bugs: each of these is planted, and found where it shows."""

from typing import NamedTuple

import pytest

from tests.agent.chaos.bugs import BETWEEN, BUGS
from tests.agent.chaos.conftest import Staged
from tests.agent.chaos.killing import Case
from tests.agent.chaos.stopping import stop_at, what_changed

pytestmark = [pytest.mark.slow, pytest.mark.promise("L6", "Q2")]


class Planted(NamedTuple):
    bug: str
    scenario: str
    kills: tuple[str, ...]
    """Where a process has to die for the bug to show."""
    found_by: str
    """The rule that is broken."""
    desk: str = ""


KILLED = (
    Planted("the_edge_is_written_after_its_run_has_moved", "held", (f"{BETWEEN}@6",), "edges_are_whole"),
    Planted("what_belongs_to_an_edge_is_written_later", "held", (f"{BETWEEN}@17",), "gaby_says_it_once"),
    Planted("the_log_is_not_asked_what_was_done", "label", ("act.after_write",), "no_effect_happens_twice"),
    Planted("an_interrupted_change_gets_a_new_id", "held", ("act.after_write",), "a_change_keeps_its_id"),
    Planted("a_change_in_doubt_is_made_again", "label", ("audit.before_commit@4",), "no_effect_happens_twice"),
    Planted(
        "the_outcome_is_written_before_the_effect", "held", (f"{BETWEEN}.write",), "the_effects_are_the_usual_ones"
    ),
    Planted(
        "a_used_approval_is_worth_nothing_after_a_crash", "lost", ("audit.before_commit@7",), "the_verdict_is_the_usual"
    ),
    Planted("the_same_is_asked_again", "lost", ("loop.thought.safety_check@2",), "people_are_asked_once"),
    Planted("an_answer_wakes_nobody", "lost", (), "every_run_has_ended"),
    Planted("only_the_last_edge_is_remembered", "held", ("loop.after.observing",), "the_timeline_is_the_usual_one"),
    Planted(
        "a_posting_is_not_noted_before_it_is_sent", "held", ("post.after_send",), "the_desk_has_every_reply", "finds"
    ),
    Planted(
        "in_doubt_a_reply_is_sent_again_without_looking",
        "held",
        ("post.after_send",),
        "the_desk_has_every_reply_once",
        "finds",
    ),
    Planted(
        "a_reply_has_another_marker_on_each_try", "held", ("post.after_send",), "every_posting_arrived_once", "finds"
    ),
    Planted("a_posting_is_called_posted_before_it_is_sent", "held", ("post.before_send",), "gaby_says_it_once"),
)
WITH_EVERY_COMMIT = (
    "the_edge_is_written_after_its_run_has_moved",
    "a_change_in_doubt_is_made_again",
    "the_same_is_asked_again",
    "in_doubt_a_reply_is_sent_again_without_looking",
    "a_claim_leaves_the_old_token_valid",
)
"""Of each kind one: a broken edge, a repeated effect, a repeated question, a repeated reply, a late worker."""
STOPPED = ("nobody_looks_at_the_lease_before_an_effect", "a_claim_leaves_the_old_token_valid")
IN_INTAKE = "a_ticket_is_stored_before_its_run"


def _marks(bug: str) -> tuple[pytest.MarkDecorator, ...]:
    return () if bug in WITH_EVERY_COMMIT else (pytest.mark.exhaustive,)


@pytest.mark.parametrize("planted", [pytest.param(each, id=each.bug, marks=_marks(each.bug)) for each in KILLED])
def test_a_planted_bug_is_found_where_it_shows(staged: Staged, planted: Planted) -> None:
    trial = staged(planted.scenario, **({"desk": planted.desk} if planted.desk else {}))
    found = trial.disturb(Case(planted.kills, planted.bug))
    assert found is not None, "the place was not passed"
    assert any(told.startswith(planted.found_by) for told in found), found


@pytest.mark.parametrize("bug", [pytest.param(bug, marks=_marks(bug)) for bug in STOPPED])
def test_a_planted_bug_is_found_by_whoever_wakes_up_late(staged: Staged, bug: str) -> None:
    late = stop_at(staged("label"), "act.before_write", bug=bug)
    assert any(told.startswith("effects:") for told in what_changed(late)), late.log


def test_a_ticket_that_is_stored_before_its_run_is_found(staged: Staged) -> None:
    found = staged("held").receive_killed(IN_INTAKE, BETWEEN)
    assert any(told.startswith("every_ticket_has_one_run") for told in found), found


def test_every_bug_is_planted_somewhere() -> None:
    assert {*(planted.bug for planted in KILLED), *STOPPED, IN_INTAKE} == set(BUGS)
