"""The archive: tickets that people solved. What Gaby itself resolved is not among them: a person accepts that first."""

from collections.abc import Sequence
from typing import NamedTuple
from uuid import UUID

from sqlalchemy import ColumnElement, exists, select

from gaby.kernel.database import ReadSession
from gaby.tickets.models import Ticket, TicketMessage


class SolvedTicket(NamedTuple):
    """Without personal data."""

    ticket: Ticket
    said: tuple[str, ...]
    """What the requester wrote, from the first on."""
    solution: str
    """What a colleague wrote last for the requester to read."""


async def solved(session: ReadSession, after: UUID | None, limit: int) -> Sequence[SolvedTicket]:
    """A page of those that were closed, in the order of their ids."""
    written = exists().where(*_of_colleagues(session), TicketMessage.ticket_id == Ticket.id)
    query = select(Ticket).where(Ticket.workspace_id == session.workspace_id, Ticket.closed_at.is_not(None), written)
    if after is not None:
        query = query.where(Ticket.id > after)
    tickets = (await session.scalars(query.order_by(Ticket.id).limit(limit))).all()
    wanted = (
        TicketMessage.workspace_id == session.workspace_id,
        TicketMessage.ticket_id.in_([ticket.id for ticket in tickets]),
        TicketMessage.private.is_(False),
    )
    messages = (await session.scalars(select(TicketMessage).where(*wanted).order_by(TicketMessage.at))).all()
    return [_solved(ticket, [each for each in messages if each.ticket_id == ticket.id]) for ticket in tickets]


def _of_colleagues(session: ReadSession) -> tuple[ColumnElement[bool], ...]:
    return (
        TicketMessage.workspace_id == session.workspace_id,
        TicketMessage.author == "agent",
        TicketMessage.private.is_(False),
    )


def _solved(ticket: Ticket, messages: Sequence[TicketMessage]) -> SolvedTicket:
    asked = tuple(each.body for each in messages if each.author == "requester")
    return SolvedTicket(
        ticket, (ticket.body, *asked), next(each.body for each in reversed(messages) if each.author == "agent")
    )
