"""The embedded runner: so many at once and no more, and when it stops nothing is lost."""

import asyncio
from datetime import timedelta
from pathlib import Path

import pytest

from gaby.agent.models import Investigation
from gaby.agent.queue import ClaimedRun
from gaby.agent.run_context import InvestigationContext
from gaby.app import Gaby
from gaby.kernel import failpoints
from gaby.tickets.canonical_ticket import IncomingTicket
from gaby.worker.runner import Runner
from tests.agent.scenes import Office, open_office

pytestmark = [pytest.mark.promise("Q3"), pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)]
SOON = timedelta(milliseconds=50)


@pytest.fixture
async def bare(gaby: Gaby, tmp_path: Path) -> Office:
    return await open_office(gaby, tmp_path, sample=False)


async def receive(office: Office, count: int) -> None:
    for number in range(count):
        incoming_ticket = IncomingTicket(
            f"T-{number}", f"Question {number}", f"How do I change colour {number} of the {number} page?"
        )
        await office.receive(incoming_ticket)


async def runs(office: Office) -> list[Investigation]:
    async with office.gaby.database.read(office.workspace_id) as session:
        return list(await office.gaby.agent.list(session))


async def until_all_are_done(office: Office) -> None:
    for _ in range(600):
        if all(run.state == "done" for run in await runs(office)):
            return
        await asyncio.sleep(0.1)
    raise AssertionError("nobody works on them")


async def test_so_many_are_under_way_at_once_and_no_more(bare: Office, monkeypatch: pytest.MonkeyPatch) -> None:
    runner = Runner(bare.gaby.agent, bare.gaby.clock, slots=2, poll_every=SOON)
    busy: set[int] = set()

    step = bare.gaby.agent.loop.step

    async def counted(run: InvestigationContext) -> bool:
        busy.add(runner.busy)
        return await step(run)

    monkeypatch.setattr(bare.gaby.agent.loop, "step", counted)
    await receive(bare, 4)
    working = asyncio.create_task(runner.run())
    await until_all_are_done(bare)
    await runner.stop()
    await working

    assert max(busy) == 2
    assert all(run.lease_until is None for run in await runs(bare))


@pytest.mark.promise("Q1")
async def test_what_nobody_was_told_of_is_found_by_looking(bare: Office) -> None:
    runner = Runner(bare.gaby.agent, bare.gaby.clock, slots=2, poll_every=SOON)
    working = asyncio.create_task(runner.run())
    await asyncio.sleep(0)
    await receive(bare, 1)
    await until_all_are_done(bare)
    await runner.stop()
    await working


@pytest.mark.promise("Q1")
async def test_when_it_stops_the_present_move_is_finished_and_the_run_given_back(
    bare: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    runner = Runner(bare.gaby.agent, bare.gaby.clock, slots=2, poll_every=SOON)
    first = asyncio.Event()

    step = bare.gaby.agent.loop.step

    async def stopped_meanwhile(run: InvestigationContext) -> bool:
        runner.finish()
        goes_on = await step(run)
        first.set()
        return goes_on

    monkeypatch.setattr(bare.gaby.agent.loop, "step", stopped_meanwhile)
    await receive(bare, 1)
    working = asyncio.create_task(runner.run())
    await first.wait()
    await runner.stop()
    await working

    [run] = await runs(bare)
    assert (run.state, run.edges, run.lease_until) == ("planning", 1, None)
    await bare.work()
    [run] = await runs(bare)
    assert run.state == "done"


@pytest.mark.promise("Q1", "Q3")
async def test_when_it_stops_a_change_under_way_is_waited_for_and_nothing_else(bare: Office) -> None:
    """Cut off in the middle, five of eight changes once ended with nobody knowing whether they were made."""
    runner = Runner(bare.gaby.agent, bare.gaby.clock, slots=2, poll_every=SOON, longest_call=20)
    loop, step, begun = bare.gaby.agent.loop, bare.gaby.agent.loop.step, asyncio.Barrier(3)
    ended: list[str] = []

    async def slow(run: InvestigationContext) -> bool:
        changes = run.ticket.external_id == "T-0"
        payload = {"run_id": str(run.run_id)}
        async with bare.gaby.audit.effect(run.tools.actor, "tool.call", payload, changes=changes) as intent:
            await begun.wait()
            try:
                await asyncio.sleep(0.5 if changes else 60)
            except asyncio.CancelledError:
                ended.append(f"{run.ticket.external_id} cancelled")
                raise
            intent.succeeded()
            ended.append(f"{run.ticket.external_id} done")
        return await step(run)

    await receive(bare, 2)
    loop.step = slow
    working = asyncio.create_task(runner.run())
    await begun.wait()
    await runner.stop(patience=0.1)
    await working
    assert ended == ["T-1 cancelled", "T-0 done"]
    assert all(run.lease_until is None for run in await runs(bare)), "others may go on with them at once"
    assert all(run.claims_without_progress == 0 for run in await runs(bare))


@pytest.mark.promise("Q1", "Q6")
async def test_nothing_that_goes_wrong_ends_the_looking(bare: Office) -> None:
    """A runner that had stopped to look after a bug would be missed by nobody."""
    queue = bare.gaby.agent.queue
    claim, troubles = queue.claim, [ValueError("a bug of ours"), OSError("no disk")]

    async def shaky(owner: str, most: int = 1, *, suspects: bool = True) -> list[ClaimedRun]:
        if troubles:
            raise troubles.pop()
        return await claim(owner, most, suspects=suspects)

    queue.claim = shaky
    await receive(bare, 1)
    runner = Runner(bare.gaby.agent, bare.gaby.clock, slots=1, poll_every=SOON)
    working = asyncio.create_task(runner.run())
    await until_all_are_done(bare)
    await runner.stop()
    await working


@pytest.mark.promise("L6")
async def test_a_bug_ends_the_run_with_all_that_is_known_and_the_others_go_on(bare: Office) -> None:
    await receive(bare, 2)
    failpoints.configure("loop.thought.planning=error@1")
    try:
        await bare.work()
    finally:
        failpoints.configure(None)

    assert [run.state for run in await runs(bare)] == ["done", "done"]
    [broken] = [run for run in await runs(bare) if run.verdict == "failed"]
    assert "Something went wrong inside Gaby" in (broken.reason or "")
    traces = [payload["trace"] for payload in await bare.audit("investigation.moved") if "trace" in payload]
    assert len(traces) == 1
    assert "Traceback" in traces[0]
