"""How routes get at tickets."""

from typing import Annotated

from fastapi import Depends, Request

from gaby.kernel.http.access import CanDecideApprovals, CanWorkOnTickets
from gaby.tickets.preparation import PreparedMessage, PreparedTicket
from gaby.tickets.schemas import MessageIn, TicketIn
from gaby.tickets.service import Tickets


async def _tickets(request: Request) -> Tickets:
    return request.app.state.tickets


Service = Annotated[Tickets, Depends(_tickets)]


async def _ticket(actor: CanWorkOnTickets, body: TicketIn, service: Service) -> PreparedTicket:
    return await service.intake.prepare(body.incoming(f"inbox-{service.ids.new().hex}"))


async def _instruction(actor: CanDecideApprovals, body: TicketIn, service: Service) -> PreparedTicket:
    return await service.intake.prepare(body.incoming(f"inbox-{service.ids.new().hex}"))


async def _message(actor: CanWorkOnTickets, body: MessageIn, service: Service) -> PreparedMessage:
    return await service.prepare_message(body.body, body.author)


# Named before the session in a route, so that nobody waits for the redaction of somebody else's text.
TicketToAdd = Annotated[PreparedTicket, Depends(_ticket)]
InstructionToAdd = Annotated[PreparedTicket, Depends(_instruction)]
MessageToAdd = Annotated[PreparedMessage, Depends(_message)]
