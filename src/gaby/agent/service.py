"""Investigations as the rest of Gaby sees them. The loop itself is heavy, so it is built when it is first needed."""

from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple
from uuid import UUID

from sqlalchemy import select

from gaby.agent.escalations import Escalations
from gaby.agent.learning import LearningService
from gaby.agent.liveness import Liveness
from gaby.agent.models import Investigation
from gaby.agent.persona import Personas
from gaby.agent.queue import RunQueue
from gaby.agent.run_loader import StoredTransition, edges_of, sealing_of
from gaby.agent.run_queries import RunQueries
from gaby.agent.run_start import RunStarter
from gaby.agent.transitions import TransitionWriter
from gaby.audit import AuditLog
from gaby.kernel.actors import Actor
from gaby.kernel.clock import Clock
from gaby.kernel.crypto import Vault
from gaby.kernel.database import Database, ReadSession, WriteSession
from gaby.kernel.errors import Conflict, NotFound
from gaby.kernel.events import Event
from gaby.tickets.canonical_ticket import rank_of
from gaby.tickets.models import Ticket

if TYPE_CHECKING:
    from gaby.agent.loop import InvestigationLoop


class RunEnded(Conflict):
    """This investigation has ended. `gaby investigate TICKET` begins a new one."""


class RunUnderWay(Conflict):
    """This ticket is being investigated already."""


class NotEnded(Conflict):
    """No investigation of this ticket has ended yet, so there is nothing to rate."""


class RatingResult(NamedTuple):
    run: Investigation
    staged: bool
    """Whether it now waits for a person as something to learn."""
    why: str


@dataclass(frozen=True)
class Agent(RunQueries):
    database: Database
    clock: Clock
    vault: Vault
    audit: AuditLog
    queue: RunQueue
    writer: TransitionWriter
    liveness: Liveness
    starter: RunStarter
    personas: Personas
    escalations: Escalations
    learning: LearningService
    make: "Callable[[], InvestigationLoop]"
    slots: int
    """Investigations at once in a process."""
    degraded_above: int

    @cached_property
    def loop(self) -> "InvestigationLoop":
        return self.make()

    async def replay(self, session: ReadSession, run: Investigation) -> AsyncIterator[StoredTransition]:
        """Every edge that the run took, with what it added to the memory."""
        async for edge in edges_of(session, await sealing_of(session, self.vault, run), run):
            yield edge

    async def start(self, session: WriteSession, actor: Actor, ticket: Ticket) -> Investigation:
        """Once more, from the beginning."""
        latest = await self.latest_of(session, ticket.id)
        if latest is not None and latest.wake_at is not None:
            raise RunUnderWay
        ticket.status = "queued"
        run = self.starter.start(session, ticket.id, rank_of(ticket.priority))
        await session.flush()
        self._tell(session, actor, run, "asked_for")
        return run

    async def halt(self, session: WriteSession, actor: Actor, run_id: UUID, reason: str) -> Investigation:
        """It stops at its next edge; one that waits for somebody, at once."""
        run = await self._open(session, run_id)
        run.halt = f"{actor.id} stopped it: {reason}"[:300]
        run.wake_at = self.clock.now()
        self._tell(session, actor, run, "halt_asked")
        return run

    async def resume(self, session: WriteSession, actor: Actor, run_id: UUID) -> Investigation:
        """Take up at once what would have waited for its time."""
        run = await self._open(session, run_id)
        run.wake_at = self.clock.now()
        run.claims_without_progress = run.failures = 0
        self._tell(session, actor, run, "resume_asked")
        return run

    async def rate(self, session: WriteSession, actor: Actor, ticket: Ticket, rating: int) -> RatingResult:
        """What somebody thought of how it ended last; a good one may be learned from, if a person agrees."""
        run = Investigation
        ended = (run.workspace_id == session.workspace_id, run.ticket_id == ticket.id, run.wake_at.is_(None))
        latest = select(run).where(*ended).order_by(run.created_at.desc()).limit(1).with_for_update()
        investigation = (await session.scalars(latest)).one_or_none()
        if investigation is None:
            raise NotEnded
        weighed = await self.learning.rate(session, actor, investigation, rating)
        return RatingResult(investigation, staged=weighed.waits, why=weighed.why)

    async def _open(self, session: WriteSession, run_id: UUID) -> Investigation:
        run = await session.get(Investigation, (session.workspace_id, run_id), with_for_update=True)
        if run is None:
            raise NotFound("There is no such investigation. `gaby runs list` shows them.")
        if run.wake_at is None:
            raise RunEnded
        return run

    def _tell(self, session: WriteSession, actor: Actor, run: Investigation, what: str) -> None:
        payload = {"run_id": str(run.id), "ticket_id": str(run.ticket_id)}
        session.emit(Event(f"investigation.{what}", session.workspace_id, actor, payload))
