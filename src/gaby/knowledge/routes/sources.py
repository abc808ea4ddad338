"""Sources of knowledge over HTTP."""

import asyncio
from collections.abc import AsyncIterator
from datetime import timedelta
from typing import Annotated

from fastapi import APIRouter, Query, Request, Response, status
from fastapi.responses import StreamingResponse

from gaby.kernel.actors import Actor
from gaby.kernel.database import ReadSession as Session
from gaby.kernel.http.access import (
    CanCurateKnowledge,
    CanManageKnowledge,
    CanReadKnowledge,
    ReadSession,
    WriteSession,
    request_dependencies,
)
from gaby.kernel.ids import SourceId
from gaby.knowledge.routes.dependencies import Service
from gaby.knowledge.schemas import FailureOut, ProgressOut, SourceChangeIn, SourceIn, SourceOut
from gaby.knowledge.service import Knowledge

router = APIRouter(prefix="/api/knowledge/sources", tags=["Knowledge"])

_LOOK_EVERY = 0.5
_PATIENCE = 3600


@router.get("")
async def list_sources(actor: CanReadKnowledge, service: Service, session: ReadSession) -> list[SourceOut]:
    """With how fresh each is, and how its last sync went."""
    return [SourceOut.from_domain(overview) for overview in await service.components.sources.list(session)]


@router.post("", status_code=status.HTTP_201_CREATED)
async def add_source(actor: CanManageKnowledge, body: SourceIn, service: Service, session: WriteSession) -> SourceOut:
    """Folders, files and repositories on Gaby's own machine need the right to manage the installation."""
    row = await service.components.sources.add(session, actor, body.new())
    return await _source(service, session, SourceId(row.id))


@router.get("/{source_id}")
async def get_source(actor: CanReadKnowledge, source_id: SourceId, service: Service, session: ReadSession) -> SourceOut:
    return await _source(service, session, source_id)


@router.patch("/{source_id}")
async def change_source(
    actor: CanManageKnowledge, source_id: SourceId, body: SourceChangeIn, service: Service, session: WriteSession
) -> SourceOut:
    """How often it is synced, and who may be shown its pages."""
    sources = service.components.sources
    row = await sources.get(session, source_id)
    if "every_seconds" in body.model_fields_set:
        every = None if body.every_seconds is None else timedelta(seconds=body.every_seconds)
        await sources.reschedule(session, actor, row, every)
    if body.audience is not None:
        await sources.set_audience(session, actor, row, body.audience)
    return await _source(service, session, source_id)


@router.delete("/{source_id}", status_code=status.HTTP_204_NO_CONTENT)
async def remove_source(
    actor: CanManageKnowledge, source_id: SourceId, service: Service, session: WriteSession
) -> Response:
    """With all its documents, at once."""
    sources = service.components.sources
    await sources.remove(session, actor, await sources.get(session, source_id))
    return Response(status_code=status.HTTP_204_NO_CONTENT)


@router.post("/{source_id}/sync", status_code=status.HTTP_202_ACCEPTED)
async def sync_source(
    actor: CanCurateKnowledge, source_id: SourceId, service: Service, session: WriteSession
) -> SourceOut:
    """Starts within seconds, in the background; `progress` tells how far it is."""
    await service.components.sources.ask_for_sync(session, actor, source_id)
    return await _source(service, session, source_id)


@router.get("/{source_id}/failures")
async def list_failures(
    actor: CanReadKnowledge,
    source_id: SourceId,
    service: Service,
    session: ReadSession,
    limit: Annotated[int, Query(ge=1, le=1000)] = 200,
) -> list[FailureOut]:
    """Documents that are there and cannot be read, with the reason."""
    sources = service.components.sources
    await sources.get(session, source_id)
    return [FailureOut.from_domain(row) for row in await sources.failures(session, source_id, limit)]


@router.get("/{source_id}/progress", response_class=StreamingResponse)
async def follow_sync(
    actor: CanReadKnowledge, source_id: SourceId, request: Request, service: Service
) -> StreamingResponse:
    """Server-sent events with the state of the sync, until none runs. One that was just asked for may not run yet."""
    async with request_dependencies(request).database.read(actor.workspace_id) as session:
        await service.components.sources.get(session, source_id)
    return StreamingResponse(_progress(request, actor, source_id, service), media_type="text/event-stream")


async def _progress(request: Request, actor: Actor, source_id: SourceId, service: Knowledge) -> AsyncIterator[str]:
    last = ""
    for _ in range(int(_PATIENCE / _LOOK_EVERY)):
        async with request_dependencies(request).database.read(actor.workspace_id) as session:
            row = await service.components.sources.get(session, source_id)
        event = ProgressOut.from_domain(row).model_dump_json()
        if event != last:
            yield f"event: progress\ndata: {event}\n\n"
            last = event
        if row.state != "running" or row.lease_until is None or row.lease_until < service.now():
            return
        await asyncio.sleep(_LOOK_EVERY)


async def _source(service: Knowledge, session: Session, source_id: SourceId) -> SourceOut:
    return SourceOut.from_domain(await service.components.sources.overview(session, source_id))
