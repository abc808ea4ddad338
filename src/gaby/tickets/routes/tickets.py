"""Tickets over HTTP."""

from typing import Annotated

from fastapi import APIRouter, Query, Response, status

from gaby.kernel.database import assign_references
from gaby.kernel.http.access import CanReadTickets, CanWorkOnTickets, ReadSession, WriteSession
from gaby.kernel.ids import TicketId
from gaby.tickets.canonical_ticket import TicketStatus
from gaby.tickets.routes.dependencies import MessageToAdd, Service, TicketToAdd
from gaby.tickets.schemas import MessageIn, OriginalOut, TicketDetailOut, TicketOut

router = APIRouter(prefix="/api/tickets", tags=["Tickets"])


@router.get("")
async def list_tickets(
    actor: CanReadTickets,
    service: Service,
    session: ReadSession,
    status: TicketStatus | None = None,
    limit: Annotated[int, Query(ge=1, le=1000)] = 100,
) -> list[TicketOut]:
    """The newest first."""
    return [TicketOut.from_domain(row) for row in await service.list(session, status, limit)]


@router.post("", status_code=status.HTTP_201_CREATED)
async def add_ticket(
    actor: CanWorkOnTickets, prepared: TicketToAdd, service: Service, session: WriteSession, response: Response
) -> TicketOut:
    """To the built-in desk. 200 instead of 201 when it was there already."""
    received = await service.add(session, actor, prepared)
    if not received.new:
        response.status_code = status.HTTP_200_OK
    await assign_references(session)
    return TicketOut.from_domain(await service.intake.get(session, received.ticket_id))


@router.get("/{ticket_id}")
async def get_ticket(
    actor: CanReadTickets, ticket_id: TicketId, service: Service, session: ReadSession
) -> TicketDetailOut:
    row = await service.intake.get(session, ticket_id)
    return TicketDetailOut.with_messages(row, await service.intake.messages(session, ticket_id))


@router.get("/{ticket_id}/original")
async def get_original(
    actor: CanWorkOnTickets, ticket_id: TicketId, service: Service, session: ReadSession
) -> OriginalOut:
    """What was really written, for those who work on tickets."""
    return OriginalOut.from_domain(await service.intake.written(session, await service.intake.get(session, ticket_id)))


@router.post("/{ticket_id}/messages", status_code=status.HTTP_201_CREATED)
async def write_message(
    actor: CanWorkOnTickets,
    ticket_id: TicketId,
    body: MessageIn,
    prepared: MessageToAdd,
    service: Service,
    session: WriteSession,
) -> TicketDetailOut:
    """A message by the requester sets Gaby to work again."""
    row = await service.intake.get(session, ticket_id)
    await service.write_on(session, actor, row, prepared, body.author, verified=body.requester_verified)
    return TicketDetailOut.with_messages(row, await service.intake.messages(session, ticket_id))


@router.post("/{ticket_id}/close")
async def close_ticket(
    actor: CanWorkOnTickets, ticket_id: TicketId, service: Service, session: WriteSession
) -> TicketOut:
    """A person is done with it. Gaby lets it be, until the requester writes again."""
    row = await service.intake.get(session, ticket_id)
    await service.close(session, actor, row)
    return TicketOut.from_domain(row)
