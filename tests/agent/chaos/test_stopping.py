"""A worker that stood still for longer than its lease: it notices, and writes nothing over what others have done."""

import pytest

from tests.agent.chaos.conftest import Staged
from tests.agent.chaos.places import BEFORE_NOTE
from tests.agent.chaos.stopping import stop_at, what_changed

pytestmark = [pytest.mark.slow, pytest.mark.promise("L3", "Q2")]

_NOTICED = ("run.lease_lost", "run.given_up")


@pytest.mark.parametrize(
    "place",
    [
        pytest.param("loop.thought.planning@2", marks=pytest.mark.exhaustive),
        "act.before_write",
        pytest.param("act.after_write", marks=pytest.mark.exhaustive),
        pytest.param("post.after_send", marks=pytest.mark.exhaustive),
    ],
)
def test_a_worker_that_wakes_up_late_writes_nothing_and_notices(staged: Staged, place: str) -> None:
    late = stop_at(staged("label"), place)
    assert what_changed(late) == []
    assert any(word in late.log for word in _NOTICED), late.log


def test_a_short_lease_that_ran_out_is_noticed_too(staged: Staged) -> None:
    late = stop_at(staged("held"), "loop.before.created", settings={"GABY_WORKER_LEASE": "6s"})
    assert what_changed(late) == []
    assert any(word in late.log for word in _NOTICED), late.log


@pytest.mark.exhaustive
def test_the_same_on_postgres(staged_on_postgres: Staged) -> None:
    late = stop_at(staged_on_postgres("label"), "act.before_write")
    assert what_changed(late) == []
    assert any(word in late.log for word in _NOTICED), late.log


def test_a_reply_that_others_have_posted_stays_posted(staged: Staged) -> None:
    late = stop_at(staged("held"), BEFORE_NOTE)
    assert what_changed(late) == []
