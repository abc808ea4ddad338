"""Operators' own instructions over HTTP. They are tickets that somebody who works here wrote for Gaby."""

from fastapi import APIRouter, status

from gaby.kernel.http.access import CanDecideApprovals, WriteSession
from gaby.tickets.routes.dependencies import InstructionToAdd, Service
from gaby.tickets.schemas import TicketOut

router = APIRouter(prefix="/api/instructions", tags=["Tickets"])


@router.post("", status_code=status.HTTP_201_CREATED)
async def add_instruction(
    actor: CanDecideApprovals, prepared: InstructionToAdd, service: Service, session: WriteSession
) -> TicketOut:
    """Your own request to Gaby: what it names, you have chosen, and nobody is asked about that again."""
    received = await service.add_instruction(session, actor, prepared)
    return TicketOut.from_domain(await service.intake.get(session, received.ticket_id))
