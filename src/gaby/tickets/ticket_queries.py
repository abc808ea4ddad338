"""Tickets as they are stored: listed and found."""

from collections.abc import Sequence
from uuid import UUID

from sqlalchemy import select

from gaby.kernel.database import ReadSession
from gaby.kernel.errors import NotFound
from gaby.tickets.models import Desk, Ticket, TicketMessage


class TicketReads:
    """One ticket, and what was written on it."""

    async def get(self, session: ReadSession, ticket_id: UUID) -> Ticket:
        found = await session.get(Ticket, (session.workspace_id, ticket_id))
        if found is None:
            raise NotFound("There is no such ticket. `gaby ticket list` shows them.")
        return found

    async def messages(self, session: ReadSession, ticket_id: UUID) -> Sequence[TicketMessage]:
        mine = (TicketMessage.workspace_id == session.workspace_id, TicketMessage.ticket_id == ticket_id)
        return (await session.scalars(select(TicketMessage).where(*mine).order_by(TicketMessage.at))).all()


class TicketQueries(TicketReads):
    """Apart from the service, whose code takes longer to load than most commands take."""

    async def list(self, session: ReadSession, status: str | None = None, limit: int = 100) -> Sequence[Ticket]:
        """The newest first."""
        query = select(Ticket).where(Ticket.workspace_id == session.workspace_id)
        if status is not None:
            query = query.where(Ticket.status == status)
        return (await session.scalars(query.order_by(Ticket.received_at.desc(), Ticket.id.desc()).limit(limit))).all()

    async def named(self, session: ReadSession, external_id: str) -> Ticket:
        """By what its desk calls it, when that is clear."""
        # By way of the desks, since the index of what desks call their tickets begins with them.
        desks = select(Desk.id).where(Desk.workspace_id == session.workspace_id)
        mine = (Ticket.workspace_id == session.workspace_id, Ticket.desk_id.in_(desks))
        query = select(Ticket).where(*mine, Ticket.external_id == external_id)
        found = (await session.scalars(query.limit(2))).all()
        if len(found) != 1:
            raise NotFound("There is no such ticket, or several desks have one. `gaby ticket list` shows them.")
        return found[0]
