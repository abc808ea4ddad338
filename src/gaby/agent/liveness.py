"""Liveness: whether somebody moves everything that was accepted. One query for each rule, to be asked at any time.

What breaks a rule and can be repaired here is repaired: a ticket without a run gets one, and a change that began and
whose run has ended is closed as unknown, which its run has told.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal
from uuid import UUID

from sqlalchemy import ColumnElement, exists, func, select

from gaby.agent.models import Investigation
from gaby.agent.queue import MOST_DEATHS
from gaby.agent.run_start import RunStarter
from gaby.audit import AuditLog, IntentOutcome, PendingIntent
from gaby.kernel.actors import system_actor
from gaby.kernel.clock import Clock
from gaby.kernel.database import AllWorkspaces, Database, ReadSession
from gaby.kernel.events import Event
from gaby.kernel.ids import WorkspaceId
from gaby.kernel.log import get_log
from gaby.tickets.canonical_ticket import rank_of
from gaby.tickets.models import UNDER_WAY, Ticket

Rule = Literal["unattended", "silent", "ahead", "suspect", "without_run", "open_effects"]
IN_WORDS: dict[Rule, str] = {
    "unattended": "investigations are due, and nobody has taken up any",
    "silent": "investigations are held by workers that are gone",
    "ahead": "investigations wait for a time that the clock has not reached: it was set back",
    "suspect": "investigations saw their workers die, and are begun alone",
    "without_run": "tickets are open, and nobody looks into them",
    "open_effects": "changes began, and nobody knows how they ended",
}
BOUND = timedelta(minutes=5)
"""So long something may be due before somebody is told."""
_ALL = AllWorkspaces("nothing is forgotten in any workspace")
_MOST = 1000
_Run = Investigation
_log = get_log(__name__)


@dataclass(frozen=True)
class Liveness:
    database: Database
    clock: Clock
    audit: AuditLog
    starter: RunStarter
    lease: timedelta
    longest_call: timedelta

    async def broken(self) -> dict[Rule, int]:
        """How much breaks each rule, in all workspaces. Zeros too, so that they can be shown."""
        now = self.clock.now()
        async with self.database.read(_ALL) as session:
            violations: dict[Rule, int] = {
                "unattended": await _unattended(session, now),
                "silent": await _count(session, _Run.lease_until <= now - 2 * self.lease - BOUND),
                "ahead": await _count(session, _Run.wake_at.is_not(None), _Run.created_at > now + BOUND),
                "suspect": await _count(
                    session, _Run.wake_at.is_not(None), _Run.claims_without_progress >= MOST_DEATHS
                ),
                "without_run": len(await _without_run(session, now)),
            }
        return {**violations, "open_effects": len(await self._orphans())}

    async def repair(self) -> int:
        """How much was repaired. Each is told in the log."""
        return await self._start_missing() + await self._close_effects()

    async def _start_missing(self) -> int:
        async with self.database.read(_ALL) as session:
            missing = await _without_run(session, self.clock.now())
        started = 0
        for place, ticket_id in missing:
            async with self.database.write(place) as session:
                ticket = await session.get_one(Ticket, (place, ticket_id), with_for_update=True)
                if ticket.status not in {"queued", "investigating"}:
                    continue
                mine = (_Run.workspace_id == place, _Run.ticket_id == ticket_id, _Run.wake_at.is_not(None))
                if (await session.scalars(select(_Run.id).where(*mine).limit(1))).first() is not None:
                    continue
                run = self.starter.start(session, ticket_id, rank_of(ticket.priority))
                await session.flush()
                payload = {"run_id": str(run.id), "ticket_id": str(ticket_id)}
                session.emit(Event("investigation.missing", place, system_actor("liveness", place), payload))
            _log.error("ticket.without_run", ticket=str(ticket_id))
            started += 1
        return started

    async def _close_effects(self) -> int:
        orphans = await self._orphans()
        for intent in orphans:
            actor = system_actor("liveness", intent.workspace_id)
            await self.audit.resolve(actor, intent, IntentOutcome.UNKNOWN, {"why": "its process ended in the middle"})
            _log.warning("effect.unknown", effect=intent.event, intent=str(intent.id))
        return len(orphans)

    async def _orphans(self) -> list[PendingIntent]:
        """Of processes that died in the middle. While its run is open, whoever takes that up finds out."""
        old = self.clock.now() - 2 * self.longest_call - BOUND
        pending = [each for each in await self.audit.pending() if datetime.fromisoformat(each.ts) <= old]
        return [each for each in pending if not await self._has_open_run(each)]

    async def _has_open_run(self, intent: PendingIntent) -> bool:
        try:
            run_id = UUID(str(intent.payload.get("run_id")))
        except ValueError:
            return False
        mine = (_Run.workspace_id == intent.workspace_id, _Run.id == run_id, _Run.wake_at.is_not(None))
        async with self.database.read(intent.workspace_id) as session:
            return bool(await _count(session, *mine))


async def _unattended(session: ReadSession, now: datetime) -> int:
    """Many may wait while workers are busy. But where something is due for long and nothing is held, nobody works."""
    if await _count(session, _Run.lease_until.is_not(None)):
        return 0
    return await _count(session, _Run.wake_at.is_not(None), _Run.wake_at <= now - BOUND)


async def _without_run(session: ReadSession, now: datetime) -> Sequence[tuple[WorkspaceId, UUID]]:
    under_way = exists().where(
        _Run.workspace_id == Ticket.workspace_id, _Run.ticket_id == Ticket.id, _Run.wake_at.is_not(None)
    )
    waits = (UNDER_WAY, Ticket.changed_at <= now - BOUND, ~under_way)
    rows = (await session.execute(select(Ticket.workspace_id, Ticket.id).where(*waits).limit(_MOST))).all()
    return [(WorkspaceId(row[0]), row[1]) for row in rows]


async def _count(session: ReadSession, *conditions: ColumnElement[bool]) -> int:
    return (await session.scalars(select(func.count()).select_from(_Run).where(*conditions))).one()
