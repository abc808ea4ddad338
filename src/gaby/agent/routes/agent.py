"""How Gaby investigates in a workspace, and whom it turns to."""

from fastapi import APIRouter

from gaby.agent.routes.dependencies import Service
from gaby.agent.schemas import EscalationIn, PersonaIn, PersonaOut
from gaby.kernel.http.access import CanManageDesks, CanReadTickets, ReadSession, WriteSession

router = APIRouter(prefix="/api/agent", tags=["Investigations"])


@router.get("")
async def get_agent(actor: CanReadTickets, service: Service, session: ReadSession) -> PersonaOut:
    return PersonaOut.from_domain(await service.personas.load(session), await service.escalations.target(session))


@router.patch("")
async def change_agent(actor: CanManageDesks, body: PersonaIn, service: Service, session: WriteSession) -> PersonaOut:
    persona = await service.personas.change(session, actor, body.changes())
    return PersonaOut.from_domain(persona, await service.escalations.target(session))


@router.put("/escalation")
async def set_escalation(
    actor: CanManageDesks, body: EscalationIn, service: Service, session: WriteSession
) -> PersonaOut:
    """Where to say that a person has to look."""
    await service.escalations.set_target(session, actor, body.parsed())
    return PersonaOut.from_domain(await service.personas.load(session), await service.escalations.target(session))
