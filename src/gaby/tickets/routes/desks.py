"""Desks over HTTP."""

from datetime import timedelta

from fastapi import APIRouter, Request, Response, status

from gaby.kernel.http.access import CanManageDesks, CanReadTickets, ReadSession, WriteSession, request_dependencies
from gaby.kernel.ids import DeskId
from gaby.tickets.desk_schemas import DeadLetterOut, DeskChangeIn, DeskIn, DeskOut, ReceivedOut
from gaby.tickets.routes.dependencies import Service

router = APIRouter(prefix="/api/desks", tags=["Desks"])


@router.get("")
async def list_desks(actor: CanReadTickets, service: Service, session: ReadSession) -> list[DeskOut]:
    return [DeskOut.from_domain(row) for row in await service.desks.list(session)]


@router.post("", status_code=status.HTTP_201_CREATED)
async def add_desk(actor: CanManageDesks, body: DeskIn, service: Service, session: WriteSession) -> DeskOut:
    """Folders on Gaby's own machine need the right to manage the installation."""
    return DeskOut.from_domain(await service.desks.add(session, actor, body.new()))


@router.get("/{desk_id}")
async def get_desk(actor: CanReadTickets, desk_id: DeskId, service: Service, session: ReadSession) -> DeskOut:
    return DeskOut.from_domain(await service.desks.get(session, desk_id))


@router.patch("/{desk_id}")
async def change_desk(
    actor: CanManageDesks, desk_id: DeskId, body: DeskChangeIn, service: Service, session: WriteSession
) -> DeskOut:
    desk = await service.desks.get(session, desk_id)
    if "every_seconds" in body.model_fields_set:
        every = None if body.every_seconds is None else timedelta(seconds=body.every_seconds)
        await service.desks.poll_every(session, actor, desk, every)
    if body.drafts is not None:
        await service.desks.set_drafts(session, actor, desk, drafts=body.drafts)
    return DeskOut.from_domain(desk)


@router.delete("/{desk_id}", status_code=status.HTTP_204_NO_CONTENT)
async def remove_desk(actor: CanManageDesks, desk_id: DeskId, service: Service, session: WriteSession) -> Response:
    """409 when there are tickets of it."""
    await service.desks.remove(session, actor, await service.desks.get(session, desk_id))
    return Response(status_code=status.HTTP_204_NO_CONTENT)


@router.post("/{desk_id}/poll")
async def poll_desk(actor: CanManageDesks, desk_id: DeskId, service: Service, request: Request) -> ReceivedOut:
    """Now, whatever its schedule says."""
    async with request_dependencies(request).database.read(actor.workspace_id) as session:
        await service.desks.get(session, desk_id)
    return ReceivedOut.from_domain(await service.receiver.poll(actor.workspace_id, desk_id))


@router.get("/{desk_id}/letters")
async def list_letters(
    actor: CanReadTickets, desk_id: DeskId, service: Service, session: ReadSession
) -> list[DeadLetterOut]:
    """What the desk sent and Gaby could not take in."""
    desk = await service.desks.get(session, desk_id)
    return [DeadLetterOut.from_domain(row) for row in await service.receiver.dead_letters(session, desk)]
