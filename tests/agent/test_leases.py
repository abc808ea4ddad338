"""Leases end by spans and never by the time of day: a worker that lives keeps what it holds, whatever clocks show."""

from datetime import datetime, timedelta

import pytest

from gaby.agent.queue import RunQueue
from gaby.app import Gaby
from gaby.kernel.clock import ManualClock
from tests.agent.rows import Line, line_up

pytestmark = [pytest.mark.promise("Q2", "Q6")]
LEASE = timedelta(minutes=1)
HOUR = timedelta(hours=1)


class WrongClock(ManualClock):
    """Somebody sets the clock."""

    def set(self, by: timedelta) -> None:
        self._now += by


@pytest.fixture
async def line(gaby: Gaby) -> Line:
    return await line_up(gaby, "acme")


def queue_of(gaby: Gaby, clock: ManualClock) -> RunQueue:
    return RunQueue(gaby.database, clock, lease=LEASE)


@pytest.mark.parametrize("step", [HOUR, -HOUR], ids=["set forward", "set back"])
async def test_a_clock_that_is_set_ends_no_lease_and_keeps_no_dead_one(gaby: Gaby, line: Line, step: timedelta) -> None:
    clock = WrongClock(gaby.clock.now())
    queue = queue_of(gaby, clock)
    await line.stand(2)
    [held, dead] = await queue.claim("a", 2)
    clock.set(step)
    for _ in range(6):
        assert await queue.release_dead() == 0
        clock.advance(LEASE / 6)
        assert await queue.renew(held.lease)
    assert await queue.release_dead() == 1
    assert await queue.renew(held.lease)
    clock.set(-step)
    [again] = await queue.claim("b", 2)
    assert again.lease.run_id == dead.lease.run_id


async def test_a_machine_with_another_time_takes_nothing_away(gaby: Gaby, line: Line) -> None:
    now: datetime = gaby.clock.now()
    here, there = ManualClock(now), ManualClock(now + HOUR)
    await line.stand()
    [held] = await queue_of(gaby, here).claim("here")
    other = queue_of(gaby, there)
    for _ in range(12):
        assert await other.claim("there") == []
        for clock in (here, there):
            clock.advance(LEASE / 6)
        assert await queue_of(gaby, here).renew(held.lease)


async def test_after_a_clock_was_set_back_what_rests_is_looked_at(gaby: Gaby, line: Line) -> None:
    clock = WrongClock(gaby.clock.now())
    queue = queue_of(gaby, clock)
    clock.set(HOUR)
    stood = await line.stand(2, wake_at=clock.now())
    clock.set(-HOUR)
    assert await queue.claim("a", 9) == []
    assert await queue.wake_resting() == 2
    assert sorted(each.lease.run_id for each in await queue.claim("a", 9)) == sorted(stood)
