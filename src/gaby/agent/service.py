"""Investigations as the rest of Gaby sees them. The loop itself is heavy, so it is built when it is first needed."""

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple
from uuid import UUID

from sqlalchemy import select

from gaby.agent.escalations import Escalations
from gaby.agent.learning import LearningService
from gaby.agent.liveness import Liveness
from gaby.agent.models import Investigation, InvestigationStep, has_not_ended
from gaby.agent.persona import Personas
from gaby.agent.queue import RunQueue
from gaby.agent.run_loader import StoredTransition, edges_of, sealing_of
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

_AT_ONCE = 400
"""Values of one query."""


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
class Agent:
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

    async def list(self, session: ReadSession, state: str | None = None, limit: int = 100) -> Sequence[Investigation]:
        """The newest first. `open` are all that have not ended."""
        query = select(Investigation).where(Investigation.workspace_id == session.workspace_id)
        if state is not None and state not in {"done", "halted"}:
            query = query.where(has_not_ended())
        if state not in {None, "open"}:
            query = query.where(Investigation.state == state)
        return (await session.scalars(query.order_by(Investigation.created_at.desc()).limit(limit))).all()

    async def get(self, session: ReadSession, run_id: UUID) -> Investigation:
        investigation = await session.get(Investigation, (session.workspace_id, run_id))
        if investigation is None:
            raise NotFound("There is no such investigation. `gaby runs list` shows them.")
        return investigation

    async def latest_of(self, session: ReadSession, ticket_id: UUID) -> Investigation | None:
        mine = (Investigation.workspace_id == session.workspace_id, Investigation.ticket_id == ticket_id)
        query = select(Investigation).where(*mine).order_by(Investigation.created_at.desc()).limit(1)
        return (await session.scalars(query)).one_or_none()

    async def latest_verdicts(self, session: ReadSession, ticket_ids: Sequence[UUID]) -> Mapping[UUID, str | None]:
        """The verdict of the last investigation of each ticket that has one; None while it is under way."""
        run, verdicts = Investigation, dict[UUID, str | None]()
        for start in range(0, len(ticket_ids), _AT_ONCE):
            some = ticket_ids[start : start + _AT_ONCE]
            query = select(run.ticket_id, run.verdict).where(
                run.workspace_id == session.workspace_id, run.ticket_id.in_(some)
            )
            for ticket_id, verdict in await session.execute(query.order_by(run.created_at)):
                verdicts[ticket_id] = verdict
        return verdicts

    async def steps(self, session: ReadSession, run_id: UUID, after: int = 0) -> Sequence[InvestigationStep]:
        """The timeline, from the edge after that one on."""
        step = InvestigationStep
        query = select(step).where(step.workspace_id == session.workspace_id, step.run_id == run_id, step.n > after)
        return (await session.scalars(query.order_by(step.n, step.place))).all()

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
