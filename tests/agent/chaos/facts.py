"""What is there after a run, as plain data: the same questions are asked of a disturbed and of an undisturbed one."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypedDict

import orjson
from sqlalchemy import select

from gaby.agent.models import Investigation, InvestigationStep, InvestigationTransition
from gaby.app import Gaby
from gaby.audit.models import AuditRowRecord
from gaby.kernel.database import ReadSession
from gaby.kernel.ids import WorkspaceId
from gaby.tickets.models import Posting, Ticket, TicketMessage
from gaby.tools.models import Approval
from tests.agent.chaos.outside_desk import replies_on
from tests.agent.chaos.scenarios import effects_of

Log = Sequence[tuple[str, str, dict[str, Any]]]
"""Events with the ids of their rows and what they say."""


class RunFacts(TypedDict):
    ticket: str
    state: str
    verdict: str | None
    ticket_status: str
    open: bool
    due_in: float | None
    """Minutes until it is taken up again."""
    edges: int
    edge_numbers: list[int]
    steps: list[tuple[int, str, str]]
    moves: list[tuple[int, str]]
    """Edges as the audit log tells them."""
    written: list[tuple[int, str]]
    """Edges as their own table tells them."""


class Facts(TypedDict):
    tickets: int
    runs: list[RunFacts]
    messages: list[str]
    """What Gaby said on tickets."""
    postings: list[tuple[str, str]]
    markers: list[str]
    approvals: list[str]
    intents: list[tuple[str, str]]
    """Changes that were about to be made: the tool and the id of the call."""
    in_doubt: bool
    """Nobody can say whether a change was made."""
    replies_sent: list[str]
    """Markers of replies that were about to be sent."""
    effects: list[Any]
    desk: list[str]
    """Replies as a desk outside of Gaby has them."""
    findings: list[str]


async def gather_facts(gaby: Gaby, workspace_id: WorkspaceId, place: str, folder: Path) -> Facts:
    # As at every start of a server: whatever a killed one has left unsigned is signed.
    await gaby.checkpointer.checkpoint()
    report = await gaby.verify_audit_log()
    async with gaby.database.read(workspace_id) as session:
        tickets = {row.id: row for row in await _all(session, Ticket)}
        log = [
            (row.event, str(row.id), orjson.loads(row.payload))
            for row in (
                await session.scalars(
                    select(AuditRowRecord)
                    .where(AuditRowRecord.workspace_id == workspace_id)
                    .order_by(AuditRowRecord.seq)
                )
            ).all()
        ]
        runs = [
            await _run(session, gaby, row, tickets[row.ticket_id], log) for row in await _all(session, Investigation)
        ]
        postings = await _all(session, Posting)
        messages = [row.body for row in await _all(session, TicketMessage) if row.author == "gaby"]
        approvals = await _all(session, Approval)
    writes = {f"{place}.{name}" for name in _WRITES}
    intents = [p for event, _, p in log if event == "tool.call.intent" and p["tool"] in writes]
    return Facts(
        tickets=len(tickets),
        runs=sorted(runs, key=lambda run: run["ticket"]),
        messages=sorted(messages),
        postings=sorted((row.kind, row.state) for row in postings),
        markers=[row.marker for row in postings],
        approvals=sorted(row.state for row in approvals),
        intents=[(payload["tool"], payload["call_id"]) for payload in intents],
        in_doubt=_in_doubt(log, writes),
        replies_sent=[payload["marker"] for event, _, payload in log if event == "desk.reply.intent"],
        effects=effects_of(place, folder),
        desk=replies_on(folder),
        # A worker that takes over in a trial has a clock that is ahead; for the others its rows are yet to come.
        findings=[f"{each.kind}: {each.text}" for each in report.findings if each.kind != "time_ahead"],
    )


_WRITES = ("print_label", "release_parcel", "refund_parcel", "unlock_user", "refund_charge")


async def _run(session: ReadSession, gaby: Gaby, row: Investigation, ticket: Ticket, log: Log) -> RunFacts:
    edge, step = InvestigationTransition, InvestigationStep
    edges = (
        await session.scalars(
            select(edge).where(edge.workspace_id == session.workspace_id, edge.run_id == row.id).order_by(edge.n)
        )
    ).all()
    steps = (
        await session.scalars(
            select(step)
            .where(step.workspace_id == session.workspace_id, step.run_id == row.id)
            .order_by(step.n, step.place)
        )
    ).all()
    wait = None if row.wake_at is None else (row.wake_at - gaby.clock.now()).total_seconds() / 60
    moves = [
        (payload["n"], payload["to"])
        for event, _, payload in log
        if event in {"investigation.moved", "investigation.done"} and payload["run_id"] == str(row.id)
    ]
    return RunFacts(
        ticket=ticket.external_id,
        state=row.state,
        verdict=row.verdict,
        ticket_status=ticket.status,
        open=row.wake_at is not None,
        due_in=wait,
        edges=row.edges,
        edge_numbers=[each.n for each in edges],
        steps=[(each.n, each.system, each.action) for each in steps],
        moves=moves,
        written=[(each.n, each.state) for each in edges],
    )


def _in_doubt(log: Log, writes: set[str]) -> bool:
    """Whether the last word on a change is not that it was made or failed."""
    told = {p["intent"]: p["outcome"] for event, _, p in log if event == "tool.call.outcome"}
    last = {
        payload["call_id"]: told.get(row)
        for event, row, payload in log
        if event == "tool.call.intent" and payload["tool"] in writes
    }
    return any(outcome not in {"succeeded", "failed"} for outcome in last.values())


async def _all(session: ReadSession, table: Any) -> Sequence[Any]:
    return (await session.scalars(select(table).where(table.workspace_id == session.workspace_id))).all()
