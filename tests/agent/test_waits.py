"""Limits that pass: an investigation rests until they have passed, and then makes exactly the calls that are left."""

import json
import re
from collections.abc import AsyncGenerator, Mapping
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from evals.chat_server import ChatAnswer, ChatServer
from sqlalchemy import select

from gaby.agent.memory import WorkingMemory
from gaby.agent.models import Investigation
from gaby.agent.queue import ClaimedRun
from gaby.agent.run_loader import load
from gaby.app import Gaby
from gaby.audit.models import AuditRowRecord
from gaby.kernel import failpoints
from gaby.kernel.clock import ManualClock
from gaby.kernel.ids import TicketId
from gaby.tickets.canonical_ticket import IncomingTicket
from gaby.tools import RetryLater, ToolCall
from gaby.tools.connectors import PolicyChange
from gaby_connectors.sdk.manifest import Autonomy
from tests.agent.scenes import Office, open_office
from tests.agent.test_message_gate import concluded, reviewed, use_model
from tests.tools.scenes import EVERYTHING, Scene

pytestmark = pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
_PAY = re.compile(r"Please pay (acc-\d+)")
_MOST_RESTS = 200


class Payer:
    """A planner that looks, pays what the ticket names, and then concludes."""

    def __init__(self) -> None:
        self.plans: dict[str, list[list[tuple[str, dict[str, Any]]]]] = {}
        self.looks = False

    def answer(self, asked: Mapping[str, Any]) -> ChatAnswer:
        prompt = json.dumps(asked.get("messages", []), ensure_ascii=False)
        if "You review a reply" in prompt:
            return reviewed(asked)
        match = _PAY.search(prompt)
        assert match is not None, prompt
        account = match[1]
        look: list[tuple[str, dict[str, Any]]] = [("till.look", {})] if self.looks else []
        left = self.plans.setdefault(account, [[*look, ("till.pay", {"account_id": account})]])
        return ChatAnswer("", left.pop(0) if left else [self.end(prompt)])

    def end(self, prompt: str) -> tuple[str, dict[str, Any]]:
        return concluded(prompt, "auto_resolved", "It was paid [s1].")


class Till:
    """An office that has a till, and a planner that pays at it."""

    def __init__(self, office: Office, scene: Scene, clock: ManualClock, payer: Payer) -> None:
        self.office, self.scene, self.clock, self.payer = office, scene, clock, payer

    async def instruct(self, number: int) -> TicketId:
        text = IncomingTicket(external_id=f"I-{number}", title=f"Errand {number}", body=f"Please pay acc-{number}.")
        gaby, office = self.office.gaby, self.office
        async with gaby.database.write(office.workspace_id) as session:
            return (await gaby.tickets.add_instruction(session, office.actor, text)).ticket_id

    def turn_away(self, kind: str, times: int, seconds: str) -> None:
        (self.scene.folder / "limit").write_text(f"{kind} {times} {seconds}")

    async def limit(self, writes: int) -> None:
        await self.scene.limit("till", PolicyChange(writes_per_minute=writes))

    async def work(self) -> list[datetime]:
        """Until all have ended. Whenever nothing is due, time passes; the moments at which it did."""
        rests: list[datetime] = []
        for _ in range(_MOST_RESTS):
            await self.office.work()
            wakes = [row.wake_at for row in await self.runs() if row.wake_at is not None]
            if not wakes:
                return rests
            rests.append(min(wakes))
            self.clock.advance(max(timedelta(0), min(wakes) - self.clock.now()))
        raise AssertionError("it never ends")

    async def runs(self) -> list[Investigation]:
        async with self.office.gaby.database.read(self.office.workspace_id) as session:
            mine = Investigation.workspace_id == session.workspace_id
            return list((await session.scalars(select(Investigation).where(mine))).all())

    async def memory(self, ticket_id: TicketId) -> WorkingMemory:
        run = await self.office.run_of(ticket_id)
        async with self.office.gaby.database.read(self.office.workspace_id) as session:
            return (await load(session, self.office.gaby.vault, run)).memory

    async def lines(self, ticket_id: TicketId) -> list[str]:
        run = await self.office.run_of(ticket_id)
        return [f"{step.action}: {step.detail}" for step in await self.office.steps(run.id) if step.kind != "quiet"]

    async def persona(self, **changes: Any) -> None:
        async with self.office.gaby.database.write(self.office.workspace_id) as session:
            await self.office.gaby.agent.personas.change(session, self.office.actor, changes)


@pytest.fixture
async def till(gaby: Gaby, clock: ManualClock, tmp_path: Path) -> AsyncGenerator[Till]:
    office = await open_office(gaby, tmp_path, sample=False)
    folder = tmp_path / "effects"
    folder.mkdir()
    scene = Scene(gaby, office.workspace_id, folder)
    await scene.connect("till", "busy.py")
    payer = Payer()
    with ChatServer(payer.answer) as server:
        await use_model(office, server.url, "plan", "review")
        yield Till(office, scene, clock, payer)


@pytest.mark.promise("L6", "S2", "X4")
async def test_a_flood_of_tickets_waits_for_the_rate_limit_and_all_are_done(till: Till, clock: ManualClock) -> None:
    tickets, limit = 30, 9
    await till.limit(limit)
    began = clock.now()
    ids = [await till.instruct(number) for number in range(1, tickets + 1)]
    await till.work()

    assert sorted(till.scene.effects) == sorted(f"paid acc-{n}" for n in range(1, tickets + 1))
    runs = [await till.office.run_of(each) for each in ids]
    assert {(run.state, run.verdict) for run in runs} == {("done", "auto_resolved")}
    assert await till.office.audit("tool.denied") == []
    moments = sorted(row_time - began for row_time in await intents(till))
    for moment in moments:
        assert sum(moment - timedelta(minutes=1) < other <= moment for other in moments) <= limit
    # No minute of the limit is wasted, and each run tells of its wait once.
    assert moments[-1] <= timedelta(minutes=3, seconds=10)
    waits = [sum(line.startswith("Waits for till") for line in await till.lines(each)) for each in ids]
    assert sum(waits) == tickets - limit
    assert max(waits) == 1


async def intents(till: Till) -> list[datetime]:
    mine = (AuditRowRecord.workspace_id == till.office.workspace_id, AuditRowRecord.event == "tool.call.intent")
    async with till.office.gaby.database.read(till.office.workspace_id) as session:
        rows = (await session.scalars(select(AuditRowRecord.ts).where(*mine))).all()
    return [datetime.fromisoformat(str(each)) for each in rows]


@pytest.mark.promise("L5", "L6")
async def test_the_wait_is_told_once_and_is_no_working_time(till: Till, clock: ManualClock) -> None:
    await till.limit(1)
    await till.persona(seconds=30)
    first, second = await till.instruct(1), await till.instruct(2)
    await till.office.work()
    waiting = next(row for row in await till.runs() if row.wake_at is not None)
    assert (waiting.state, waiting.lease_until) == ("acting", None)
    assert waiting.wake_at == clock.now() + timedelta(seconds=60)
    await till.work()
    lines = [line for each in (first, second) for line in await till.lines(each)]
    told = [line for line in lines if line.startswith("Waits")]
    assert told == ["Waits for till: 1 changes a minute are allowed for till. Goes on at 03:06 UTC."]
    waited = sorted([(await till.memory(each)).waited for each in (first, second)])
    assert waited == [0.0, 60.0]
    assert (await till.memory(second)).seconds < 30


@pytest.mark.promise("M2", "M7")
async def test_a_connector_that_was_put_aside_is_waited_for(till: Till) -> None:
    till.payer.looks = True
    till.turn_away("crash", 99, "-")
    look = ToolCall("till.look", {}, till.office.gaby.ids.new())
    outcomes = [await till.office.gaby.tools.invoker.invoke(look, till.scene.run()) for _ in range(4)]
    assert isinstance(outcomes[-1], RetryLater)
    till.turn_away("crash", 0, "-")
    ticket_id = await till.instruct(1)
    await till.work()
    assert (await till.office.run_of(ticket_id)).verdict == "auto_resolved"
    assert till.scene.effects == ["paid acc-1"]
    assert (await till.memory(ticket_id)).outage >= 55
    waits = [line for line in await till.lines(ticket_id) if line.startswith("Waits")]
    assert len(waits) == 1
    assert waits[0].startswith("Waits for till: till is not used for another")


def pay(number: int) -> tuple[str, dict[str, Any]]:
    return ("till.pay", {"account_id": f"acc-{number}"})


@pytest.mark.promise("M7")
async def test_a_system_that_asks_to_be_called_later_is_called_later(till: Till, clock: ManualClock) -> None:
    till.payer.looks = True
    till.turn_away("rate_limited", 2, "90")
    began = clock.now()
    ticket_id = await till.instruct(1)
    rests = await till.work()
    assert [each - began for each in rests] == [timedelta(seconds=90), timedelta(seconds=180)]
    assert (await till.office.run_of(ticket_id)).verdict == "auto_resolved"
    memory = await till.memory(ticket_id)
    assert [(call.tool, call.outcome) for call in memory.calls] == [("till.look", "done"), ("till.pay", "done")]
    waits = [line for line in await till.lines(ticket_id) if line.startswith("Waits")]
    assert waits == ["Waits for till: till gets too many requests. Goes on at 03:06 UTC."]
    assert till.scene.effects == ["paid acc-1"]


@pytest.mark.promise("L6", "M4")
async def test_a_change_in_doubt_is_not_waited_for_and_not_repeated(till: Till) -> None:
    till.turn_away("unknown", 1, "5")
    ticket_id = await till.instruct(1)
    assert await till.work() == []
    [call] = (await till.memory(ticket_id)).calls
    assert call.outcome == "unknown"
    assert till.scene.effects == []


@pytest.mark.promise("L6")
async def test_what_was_done_before_the_wait_is_not_done_again(till: Till) -> None:
    await till.limit(1)
    till.payer.plans["acc-1"] = [[("till.look", {}), pay(1), ("till.pay", {"account_id": "acc-2"})]]
    text = IncomingTicket(external_id="I-9", title="Errand", body="Please pay acc-1. And acc-2.")
    async with till.office.gaby.database.write(till.office.workspace_id) as session:
        await till.office.gaby.tickets.add_instruction(session, till.office.actor, text)
    await till.office.work()
    assert till.scene.effects == ["paid acc-1"]
    await till.work()
    assert till.scene.effects == ["paid acc-1", "paid acc-2"]
    tools = [each["tool"] for each in await till.office.audit("tool.call.intent")]
    assert tools == ["till.look", "till.pay", "till.pay"]


@pytest.mark.promise("L5", "T7")
@pytest.mark.parametrize("kind", ["own limit", "system"])
async def test_when_the_wait_is_over_it_is_told_plainly(till: Till, kind: str) -> None:
    await till.persona(wait_seconds=90, outage_seconds=90)
    if kind == "own limit":
        await till.limit(1)
        for number in range(1, 4):
            await till.instruct(number)
        words = "Too many calls for till: it would take 2 minutes more. It was not done."
    else:
        till.turn_away("rate_limited", 99, "60")
        await till.instruct(1)
        words = "Too many calls for till: waited 60 seconds, and it would take 60 seconds more. It was not done."
    await till.work()
    runs = await till.runs()
    [late] = [run for run in runs if run.verdict != "auto_resolved"]
    assert late.verdict == "needs_tech"
    assert words in str(late.reason)
    assert "allowed" not in str(late.reason)
    assert await till.office.audit("tool.denied") == []


@pytest.mark.promise("S11", "S2")
async def test_a_kill_switch_that_is_pulled_during_the_wait_stops_the_run(till: Till) -> None:
    await till.limit(1)
    await till.instruct(1)
    second = await till.instruct(2)
    await till.office.work()
    async with till.office.gaby.database.write(till.office.workspace_id) as session:
        await till.office.gaby.tools.kill_switches.pull(session, till.office.actor, "trouble")
    await till.work()
    assert (await till.office.run_of(second)).state == "halted"
    assert till.scene.effects == ["paid acc-1"]


@pytest.mark.promise("S3", "S6")
async def test_a_policy_that_changes_during_the_wait_is_heeded(till: Till) -> None:
    await till.limit(1)
    await till.instruct(1)
    second = await till.instruct(2)
    await till.office.work()
    await till.scene.limit("till", PolicyChange(Autonomy.PROPOSE, EVERYTHING))
    wake = (await till.office.run_of(second)).wake_at
    assert wake is not None
    till.clock.advance(wake - till.clock.now())
    await till.office.work()
    assert (await till.office.run_of(second)).state == "waiting_approval"
    [question] = await till.office.waiting()
    await till.office.answer(question, "approve")
    await till.work()
    assert till.scene.effects == ["paid acc-1", "paid acc-2"]


@pytest.mark.promise("S6", "L7")
async def test_an_approval_that_was_given_in_time_does_not_expire_while_its_call_waits(till: Till) -> None:
    await till.scene.limit("till", PolicyChange(Autonomy.PROPOSE, EVERYTHING))
    ticket_id = await till.instruct(1)
    await till.office.work()
    [question] = await till.office.waiting()
    till.clock.advance(timedelta(hours=23, minutes=59, seconds=30))
    await till.office.answer(question, "approve")
    till.turn_away("rate_limited", 1, "300")
    await till.office.work()
    till.clock.advance(timedelta(minutes=2))
    assert await till.office.gaby.tools.expire_approvals() == 0
    await till.work()
    assert till.scene.effects == ["paid acc-1"]
    assert (await till.office.run_of(ticket_id)).verdict == "auto_resolved"
    assert len(await till.office.audit("approval.prolonged")) == 1
    assert await till.office.gaby.tools.expire_approvals() == 0


@pytest.mark.promise("L6", "X4")
@pytest.mark.parametrize(
    "place", ["act.put_off", "loop.before.acting", "loop.after.acting", "loop.before.safety_check"]
)
async def test_a_worker_that_dies_around_the_wait_changes_nothing(till: Till, place: str) -> None:
    await till.limit(1)
    await till.instruct(1)
    await till.office.work()
    second = await till.instruct(2)
    agent = till.office.gaby.agent
    failpoints.configure(f"{place}=error")
    try:
        claimed: list[ClaimedRun] = await agent.queue.claim("dies")
        run = await agent.loop.resume(claimed[0])
        with pytest.raises(failpoints.FailpointError):
            await agent.loop.run(run)
    finally:
        failpoints.configure(None)
    assert till.scene.effects == ["paid acc-1"]
    # Seen before and after, without a sign of life in between.
    await agent.queue.release_dead()
    till.clock.advance(timedelta(minutes=5))
    await till.work()
    assert till.scene.effects == ["paid acc-1", "paid acc-2"]
    assert (await till.office.run_of(second)).verdict == "auto_resolved"
