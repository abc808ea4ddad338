"""Learning: an investigation that went well is put before a person, who decides whether Gaby may learn from it."""

from datetime import timedelta
from typing import NamedTuple
from uuid import UUID

from sqlalchemy import exists, select

from gaby.agent.models import Investigation, InvestigationStep
from gaby.kernel.actors import Actor, system_actor
from gaby.kernel.clock import Clock
from gaby.kernel.database import AllWorkspaces, Database, ReadSession, WriteSession
from gaby.kernel.events import Event
from gaby.kernel.ids import WorkspaceId
from gaby.knowledge.learning.gate import Resolution
from gaby.knowledge.service import Knowledge
from gaby.tickets.models import Ticket

_AT_ONCE = 100
_LATER = timedelta(days=1)
_LOOKED = ("read", "write", "search")
_MOST_STEPS = 40
_Run = Investigation


class LearningDecision(NamedTuple):
    waits: bool
    """For a person, as something to learn."""
    why: str


class LearningService:
    def __init__(self, database: Database, clock: Clock, knowledge: Knowledge) -> None:
        self._database = database
        self._clock = clock
        self._knowledge = knowledge

    async def rate(self, session: WriteSession, actor: Actor, run: Investigation, rating: int) -> LearningDecision:
        """What somebody thought of it. They may think better of it later; what was decided by then stays decided."""
        run.rating = rating
        payload = {"run_id": str(run.id), "ticket_id": str(run.ticket_id), "rating": rating}
        session.emit(Event("investigation.rated", session.workspace_id, actor, payload))
        return await self._weigh(session, actor, run)

    async def weigh_due(self) -> int:
        """Those that nobody disputed for as long as the gate asks for. How many were looked at."""
        due = select(_Run.workspace_id, _Run.id).where(_Run.weigh_at <= self._clock.now())
        async with self._database.read(AllWorkspaces("good investigations are found in every workspace")) as session:
            rows = (await session.execute(due.order_by(_Run.weigh_at).limit(_AT_ONCE))).all()
        for place, run_id in rows:
            await self._weigh_one(WorkspaceId(place), run_id)
        return len(rows)

    async def _weigh_one(self, place: WorkspaceId, run_id: UUID) -> None:
        async with self._database.write(place) as session:
            mine = (_Run.workspace_id == place, _Run.id == run_id, _Run.weigh_at <= self._clock.now())
            # Whoever else looks at the same moment finds it settled.
            run = (await session.scalars(select(_Run).where(*mine).with_for_update())).one_or_none()
            if run is None:
                return
            if await _under_way(session, run):
                run.weigh_at = self._clock.now() + _LATER
            else:
                await self._weigh(session, system_actor("schedule", place), run)

    async def _weigh(self, session: WriteSession, actor: Actor, run: Investigation) -> LearningDecision:
        resolution = await self._resolution(session, run)
        gate, candidate = await self._knowledge.components.candidates.stage(session, actor, resolution)
        run.weigh_at = gate.again_at
        if candidate is None or candidate.state == "staged":
            return LearningDecision(waits=candidate is not None, why=gate.reason)
        return LearningDecision(waits=False, why=f"The same was {candidate.state} before.")

    async def _resolution(self, session: ReadSession, run: Investigation) -> Resolution:
        ticket = await session.get_one(Ticket, (session.workspace_id, run.ticket_id))
        return Resolution(
            origin=f"ticket {ticket.external_id}, run {run.id}",
            title=ticket.title,
            problem=ticket.body or ticket.title,
            resolution=run.summary or "",
            verdict=run.verdict or run.state,
            resolved_at=run.finished_at or run.created_at,
            trace=await _looked_at(session, run),
            rating=run.rating,
            disputed=await _came_back(session, run),
        )


async def _looked_at(session: ReadSession, run: Investigation) -> tuple[str, ...]:
    step = InvestigationStep
    mine = (step.workspace_id == session.workspace_id, step.run_id == run.id, step.kind.in_(_LOOKED))
    rows = (await session.scalars(select(step).where(*mine).order_by(step.n, step.place).limit(_MOST_STEPS))).all()
    return tuple(f"{row.system}: {row.action}" for row in rows)


async def _under_way(session: ReadSession, run: Investigation) -> bool:
    """Whether the ticket is being looked into again, so that it is not yet known what became of it."""
    again = exists().where(
        _Run.workspace_id == session.workspace_id, _Run.ticket_id == run.ticket_id, _Run.wake_at.is_not(None)
    )
    return (await session.scalars(select(again))).one()


async def _came_back(session: ReadSession, run: Investigation) -> bool:
    """Whoever has to write again was not helped, unless it turned out that there was nothing to do."""
    later = exists().where(
        _Run.workspace_id == session.workspace_id,
        _Run.ticket_id == run.ticket_id,
        _Run.created_at > run.created_at,
        _Run.verdict.is_distinct_from("skipped"),
    )
    return (await session.scalars(select(later))).one()
