"""The queue: the most urgent first, each to one worker alone, nobody starved, nothing forgotten."""

import asyncio
from datetime import timedelta
from itertools import pairwise

import pytest

from gaby.agent.queue import ClaimedRun, RunQueue
from gaby.agent.transitions import LeaseLost
from gaby.app import Gaby
from gaby.audit import FenceBroken
from gaby.kernel.actors import system_actor
from gaby.kernel.clock import ManualClock
from gaby.kernel.errors import Conflict
from gaby.kernel.ids import RunId, WorkspaceId
from tests.agent.rows import Line, edge_of, line_up

one_engine = pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
LEASE = timedelta(minutes=1)


@pytest.fixture
async def line(gaby: Gaby) -> Line:
    return await line_up(gaby, "acme")


@pytest.fixture
def queue(gaby: Gaby, clock: ManualClock) -> RunQueue:
    return RunQueue(gaby.database, clock, lease=LEASE)


def ids(claimed: list[ClaimedRun]) -> list[RunId]:
    return [each.lease.run_id for each in claimed]


@pytest.mark.promise("Q2")
async def test_the_most_urgent_comes_first_and_then_the_oldest(line: Line, queue: RunQueue) -> None:
    usual = await line.stand(2)
    low = await line.stand(1, rank=3)
    critical = await line.stand(2, rank=0)

    assert ids(await queue.claim("a", 9)) == [*critical, *usual, *low]
    assert await queue.claim("a", 9) == []


@pytest.mark.promise("Q1", "Q2")
async def test_what_is_not_due_waits_for_its_time(line: Line, queue: RunQueue, clock: ManualClock) -> None:
    later = clock.now() + timedelta(hours=1)
    [run] = await line.stand(1, wake_at=later, state="waiting_approval")
    assert await queue.claim("a") == []
    assert await queue.due(9) == 0

    clock.advance(timedelta(hours=1))
    assert await queue.due(9) == 1
    assert ids(await queue.claim("a")) == [run]


@pytest.mark.promise("Q2")
async def test_many_who_claim_at_once_never_get_the_same(line: Line, gaby: Gaby, clock: ManualClock) -> None:
    stood = await line.stand(40)
    queues = [RunQueue(gaby.database, clock, lease=LEASE) for _ in range(4)]

    async def take(queue: RunQueue, name: str) -> list[RunId]:
        got: list[RunId] = []
        while claimed := await queue.claim(name, 3):
            got += ids(claimed)
        return got

    shares = await asyncio.gather(*(take(queue, f"worker {n}") for n, queue in enumerate(queues)))
    assert sorted(run for share in shares for run in share) == sorted(stood)


@pytest.mark.promise("Q2")
async def test_a_worker_that_was_asleep_for_too_long_can_write_and_do_nothing_any_more(
    line: Line, queue: RunQueue, gaby: Gaby, clock: ManualClock
) -> None:
    await line.stand()
    [sleeper] = await queue.claim("sleeper")
    assert await queue.release_dead() == 0
    clock.advance(LEASE + timedelta(seconds=1))
    [other] = await queue.claim("other")
    assert (other.lease.run_id, other.tries) == (sleeper.lease.run_id, 2)
    assert other.lease.token > sleeper.lease.token

    writer, actor = gaby.agent.writer, system_actor("agent", line.workspace_id)
    assert not await queue.renew(sleeper.lease)
    with pytest.raises(LeaseLost):
        await writer.put(edge_of(gaby, sleeper.lease))
    with pytest.raises(FenceBroken):
        async with gaby.audit.effect(actor, "test.effect", {}, fence=sleeper.lease.fence):
            raise AssertionError("it must not come to this")
    await writer.put(edge_of(gaby, other.lease))
    with pytest.raises(LeaseLost):
        await writer.put(edge_of(gaby, other.lease))


@one_engine
@pytest.mark.promise("Q2")
async def test_a_lease_is_made_longer_and_given_back(line: Line, queue: RunQueue, clock: ManualClock) -> None:
    [run] = await line.stand()
    [claimed] = await queue.claim("a")
    assert await queue.release_dead() == 0
    clock.advance(LEASE / 2)
    assert await queue.renew(claimed.lease)
    clock.advance(LEASE / 2)
    assert await queue.claim("b") == []

    await queue.give_back(claimed.lease)
    [again] = await queue.claim("b")
    assert (again.lease.run_id, again.tries) == (run, 1)
    await queue.give_back(claimed.lease)
    assert await queue.claim("c") == []


@one_engine
@pytest.mark.promise("Q2")
async def test_one_that_was_asked_for_is_claimed_before_its_time_unless_somebody_has_it(
    line: Line, queue: RunQueue, clock: ManualClock
) -> None:
    [run] = await line.stand(1, wake_at=clock.now() + timedelta(hours=1))
    assert await queue.claim_one("a", line.workspace_id, run) is not None
    assert await queue.claim_one("b", line.workspace_id, run) is None


@pytest.mark.promise("Q5")
@pytest.mark.parametrize("finishes", [True, False], ids=["one after the other", "all held"])
async def test_a_thousand_tickets_of_one_do_not_starve_another(
    line: Line, queue: RunQueue, gaby: Gaby, finishes: bool
) -> None:
    await line.stand(1000, rank=0)
    await queue.claim("an early worker")
    other = await line_up(gaby, "globex")
    [lonely] = await other.stand(1, rank=3)
    claimer = RunQueue(gaby.database, gaby.clock, lease=LEASE)

    first: list[RunId] = []
    for _ in range(2):
        [claimed] = await claimer.claim("a")
        first.append(claimed.lease.run_id)
        if finishes:
            await end(gaby, claimed)
    assert lonely in first


@one_engine
@pytest.mark.promise("Q5")
async def test_between_busy_workspaces_turns_are_taken(line: Line, queue: RunQueue, gaby: Gaby) -> None:
    other = await line_up(gaby, "globex")
    await line.stand(6)
    await other.stand(6)
    places: list[WorkspaceId] = []
    for _ in range(6):
        [claimed] = await queue.claim("a")
        places.append(claimed.lease.workspace_id)
        await end(gaby, claimed)
    assert places.count(line.workspace_id) == 3
    assert all(one != two for one, two in pairwise(places))


@one_engine
@pytest.mark.promise("Q4")
async def test_how_much_waits_and_for_how_long_is_told(
    line: Line, queue: RunQueue, gaby: Gaby, clock: ManualClock
) -> None:
    now = clock.now()
    await line.stand(3, state="done", wake_at=None, started_at=now, finished_at=now + timedelta(seconds=40))
    await line.stand(10)
    await line.stand(1, state="waiting_approval", wake_at=now + timedelta(hours=1))
    await queue.claim("a", 2)
    other = await line_up(gaby, "globex")
    async with gaby.database.read(line.workspace_id) as session:
        depth = await queue.depth(session, line.workspace_id)
    async with gaby.database.read(other.workspace_id) as session:
        nothing = await queue.depth(session, other.workspace_id)

    assert (depth.running, depth.seconds_each) == (2, 40)
    assert depth.expected_wait(4) == depth.waiting * 10
    assert (nothing.waiting, nothing.running, nothing.expected_wait(8)) == (0, 0, 0)


@pytest.mark.promise("Q6")
async def test_a_run_that_would_be_forgotten_cannot_be_written(line: Line) -> None:
    now = line.gaby.clock.now()
    for state, wake_at in (("planning", None), ("waiting_approval", None), ("done", now), ("halted", now)):
        with pytest.raises(Conflict):
            await line.stand(1, state=state, wake_at=wake_at)


@pytest.mark.promise("Q1", "Q6")
@one_engine
async def test_whoever_dies_leaves_a_run_that_the_next_one_finds(
    line: Line, queue: RunQueue, clock: ManualClock
) -> None:
    """Nobody is told of it: looking is enough."""
    [run] = await line.stand()
    for tries in range(1, 4):
        [claimed] = await queue.claim(f"worker {tries}")
        assert (claimed.lease.run_id, claimed.tries) == (run, tries)
        assert await queue.release_dead() == 0
        assert await queue.claim("too early") == []
        clock.advance(LEASE)


async def end(gaby: Gaby, claimed: ClaimedRun) -> None:
    await gaby.agent.writer.put(edge_of(gaby, claimed.lease, state="done")._replace(wake_at=None, lease_until=None))
