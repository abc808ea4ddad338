"""Investigations as they are stored: listed, found, and their timelines."""

from collections.abc import Mapping, Sequence
from uuid import UUID

from sqlalchemy import select

from gaby.agent.models import Investigation, InvestigationStep, has_not_ended
from gaby.kernel.database import ReadSession
from gaby.kernel.errors import NotFound
from gaby.tickets.models import Ticket

_AT_ONCE = 400
"""Values of one query."""


class RunQueries:
    """Apart from the agent, whose code takes longer to load than most commands take."""

    async def list(self, session: ReadSession, state: str | None = None, limit: int = 100) -> Sequence[Investigation]:
        """The newest first. `open` are all that have not ended."""
        query = select(Investigation).where(Investigation.workspace_id == session.workspace_id)
        if state is not None and state not in {"done", "halted"}:
            query = query.where(has_not_ended())
        if state not in {None, "open"}:
            query = query.where(Investigation.state == state)
        return (await session.scalars(query.order_by(Investigation.created_at.desc()).limit(limit))).all()

    async def find(self, session: ReadSession, run_id: UUID) -> Investigation | None:
        return await session.get(Investigation, (session.workspace_id, run_id))

    async def get(self, session: ReadSession, run_id: UUID) -> Investigation:
        found = await self.find(session, run_id)
        if found is None:
            raise NotFound("There is no such investigation. `gaby runs list` shows them.")
        return found

    async def titles(
        self, session: ReadSession, runs: Sequence[Investigation]
    ) -> Mapping[UUID, tuple[str, str | None]]:
        """Of each ticket that was investigated: its title and its reference."""
        ids, found = [run.ticket_id for run in runs], dict[UUID, tuple[str, str | None]]()
        for start in range(0, len(ids), _AT_ONCE):
            some = Ticket.id.in_(ids[start : start + _AT_ONCE])
            rows = await session.scalars(select(Ticket).where(Ticket.workspace_id == session.workspace_id, some))
            found |= {row.id: (row.title, row.reference) for row in rows}
        return found

    async def latest_of(self, session: ReadSession, ticket_id: UUID) -> Investigation | None:
        mine = (Investigation.workspace_id == session.workspace_id, Investigation.ticket_id == ticket_id)
        query = select(Investigation).where(*mine).order_by(Investigation.created_at.desc()).limit(1)
        return (await session.scalars(query)).one_or_none()

    async def latest_verdicts(self, session: ReadSession, ticket_ids: Sequence[UUID]) -> Mapping[UUID, str | None]:
        """The verdict of the last investigation of each ticket that has one; None while it is under way."""
        run, found = Investigation, dict[UUID, str | None]()
        for start in range(0, len(ticket_ids), _AT_ONCE):
            some = ticket_ids[start : start + _AT_ONCE]
            query = select(run.ticket_id, run.verdict).where(
                run.workspace_id == session.workspace_id, run.ticket_id.in_(some)
            )
            for ticket_id, verdict in await session.execute(query.order_by(run.created_at)):
                found[ticket_id] = verdict
        return found

    async def steps(self, session: ReadSession, run_id: UUID, after: int = 0) -> Sequence[InvestigationStep]:
        """The timeline, from the edge after that one on."""
        step = InvestigationStep
        query = select(step).where(step.workspace_id == session.workspace_id, step.run_id == run_id, step.n > after)
        return (await session.scalars(query.order_by(step.n, step.place))).all()
