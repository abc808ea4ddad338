"""Who is to blame when workers die: what happens to processes from outside is no failure of a ticket."""

import asyncio
from datetime import timedelta
from pathlib import Path

import pytest
from sqlalchemy import update

from gaby.agent.models import Investigation
from gaby.agent.queue import MOST_DEATHS, MOST_FAILURES, ClaimedRun, RunQueue
from gaby.agent.run_context import InvestigationContext
from gaby.agent.states import Created
from gaby.app import Gaby
from gaby.kernel import failpoints
from gaby.kernel.clock import ManualClock
from gaby.kernel.errors import Unavailable
from gaby.kernel.ids import TicketId
from gaby.tickets.canonical_ticket import IncomingTicket
from gaby.worker.runner import Runner
from tests.agent.scenes import LOCKED_OUT, Office, open_office

pytestmark = [pytest.mark.promise("L6", "Q6"), pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)]
SOON = timedelta(milliseconds=20)


@pytest.fixture
async def bare(gaby: Gaby, tmp_path: Path) -> Office:
    return await open_office(gaby, tmp_path, sample=False)


def question(number: int) -> IncomingTicket:
    return IncomingTicket(f"T-{number}", f"Question {number}", f"How do I change colour {number} of page {number}?")


async def receive(office: Office, count: int) -> list[TicketId]:
    return [await office.receive(question(number)) for number in range(count)]


async def die(queue: RunQueue, clock: ManualClock, *, suspects: bool, most: int = 8) -> int:
    """A process claims what it may, and is killed at once."""
    claimed = await queue.claim("killed", most, suspects=suspects)
    await queue.release_dead()
    clock.advance(queue.lease)
    await queue.release_dead()
    return len(claimed)


async def end_of(office: Office, ticket_id: TicketId) -> tuple[str, str | None]:
    run = await office.run_of(ticket_id)
    return run.state, run.verdict


async def test_however_often_processes_are_killed_no_ticket_is_blamed(bare: Office, clock: ManualClock) -> None:
    """45 of 100 tickets once ended as failed, because processes were killed from outside."""
    tickets = await receive(bare, 8)
    queue = bare.gaby.agent.queue
    for _ in range(20):
        await die(queue, clock, suspects=False)
    await bare.work()
    ended = [await end_of(bare, each) for each in tickets]
    assert {state for state, _ in ended} == {"done"}
    assert "failed" not in {verdict for _, verdict in ended}


async def test_a_process_that_has_just_begun_leaves_suspects_to_others(bare: Office, clock: ManualClock) -> None:
    """Where processes are killed again and again, that another one dies proves nothing."""
    [suspect] = await receive(bare, 1)
    for _ in range(MOST_DEATHS):
        assert await die(bare.gaby.agent.queue, clock, suspects=True) == 1
    young = Runner(bare.gaby.agent, clock, slots=2, poll_every=SOON)
    innocent = await bare.receive(question(9))
    while await young.run_one():
        pass
    assert await end_of(bare, suspect) == ("created", None)
    assert (await end_of(bare, innocent))[0] == "done"
    clock.advance(bare.gaby.agent.queue.lease)
    while await young.run_one():
        pass
    assert (await end_of(bare, suspect))[0] == "done"


async def test_a_suspect_makes_its_first_move_alone(bare: Office, clock: ManualClock) -> None:
    tickets = await receive(bare, 4)
    [suspect, *_] = tickets
    async with bare.gaby.database.write(bare.workspace_id) as session:
        mine = (Investigation.workspace_id == bare.workspace_id, Investigation.ticket_id == suspect)
        await session.execute(update(Investigation).where(*mine).values(claims_without_progress=MOST_DEATHS))
    runner = Runner(bare.gaby.agent, clock, slots=4, poll_every=SOON)
    clock.advance(bare.gaby.agent.queue.lease)
    loop = bare.gaby.agent.loop
    step, moving, others = loop.step, 0, dict[str, int]()

    async def watched(run: InvestigationContext) -> bool:
        nonlocal moving
        moving += 1
        await asyncio.sleep(0.02)
        if isinstance(run.state, Created):
            others[str(run.ticket.id)] = moving
        try:
            return await step(run)
        finally:
            moving -= 1

    loop.step = watched
    try:
        working = asyncio.create_task(runner.run())
        for _ in range(600):
            if all([(await end_of(bare, each))[0] == "done" for each in tickets]):
                break
            await asyncio.sleep(0.05)
        await runner.stop()
        await working
    finally:
        loop.step = step
    assert others[str(suspect)] == 1
    assert max(others.values()) > 1, "the others go side by side"


async def test_what_cannot_be_taken_up_is_given_up_and_tells_what_it_has_changed(
    gaby: Gaby, tmp_path: Path, clock: ManualClock
) -> None:
    office = await open_office(gaby, tmp_path)
    ticket_id = await office.receive(LOCKED_OUT)
    failpoints.configure("act.after_write=error")
    loop, resume, times = gaby.agent.loop, gaby.agent.loop.resume, 0

    async def broken(claimed: ClaimedRun) -> InvestigationContext:
        nonlocal times
        times += 1
        raise ValueError(f"the memory of {claimed.lease.run_id} cannot be read")

    try:
        run = await office.run_of(ticket_id)
        claimed = await gaby.agent.queue.claim_one("a test", office.workspace_id, run.typed_id)
        assert claimed is not None
        taken = await resume(claimed)
        with pytest.raises(failpoints.FailpointError):
            await loop.run(taken)
    finally:
        failpoints.configure(None)
    await gaby.agent.queue.give_back(claimed.lease)
    loop.resume = broken
    for _ in range(MOST_FAILURES + 2):
        await office.work()
        clock.advance(timedelta(minutes=1))
    ended = await office.run_of(ticket_id)
    assert (ended.state, ended.verdict, times) == ("halted", "failed", MOST_FAILURES)
    assert "`company.unlock_user` was done." in (ended.reason or "")
    assert "get_user" not in (ended.reason or "")


async def test_failures_before_progress_count_no_more(bare: Office, clock: ManualClock) -> None:
    [ticket_id] = await receive(bare, 1)
    loop, resume, times = bare.gaby.agent.loop, bare.gaby.agent.loop.resume, 0

    async def every_other(claimed: ClaimedRun) -> InvestigationContext:
        nonlocal times
        times += 1
        if times % 2:
            raise ValueError(f"the memory of {claimed.lease.run_id} cannot be read")
        run = await resume(claimed)
        # It makes one move, and fails again when it is taken up the next time.
        await loop.step(run)
        raise Unavailable

    loop.resume = every_other
    for _ in range(3 * MOST_FAILURES):
        await bare.work()
        clock.advance(timedelta(minutes=1))
    loop.resume = resume
    await bare.work()
    state, verdict = await end_of(bare, ticket_id)
    assert times > 2 * MOST_FAILURES
    assert (state, verdict != "failed") == ("done", True)


async def test_what_is_away_for_a_while_is_no_failure(bare: Office, clock: ManualClock) -> None:
    [ticket_id] = await receive(bare, 1)
    loop, resume = bare.gaby.agent.loop, bare.gaby.agent.loop.resume

    async def away(claimed: ClaimedRun) -> InvestigationContext:
        raise Unavailable(f"The disk is full, and {claimed.lease.run_id} waits.")

    loop.resume = away
    for _ in range(12):
        await bare.work()
        clock.advance(timedelta(minutes=1))
    loop.resume = resume
    await bare.work()
    state, verdict = await end_of(bare, ticket_id)
    assert state == "done"
    assert verdict != "failed"
