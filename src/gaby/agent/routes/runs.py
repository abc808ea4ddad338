"""Investigations: listed, shown, followed, stopped."""

import asyncio
from collections.abc import AsyncIterator
from typing import Annotated

from fastapi import APIRouter, Query, Request, status
from fastapi.responses import StreamingResponse

from gaby.agent.routes.dependencies import Service
from gaby.agent.run_schemas import RatingOut, RunDetailOut, RunOut, RunState, StepOut
from gaby.agent.schemas import HaltIn, QueueOut, RatingIn
from gaby.agent.service import Agent
from gaby.kernel.database import assign_references
from gaby.kernel.errors import NotFound
from gaby.kernel.http.access import CanReadTickets, CanWorkOnTickets, ReadSession, WriteSession, request_dependencies
from gaby.kernel.ids import RunId, TicketId, WorkspaceId
from gaby.tickets.models import Ticket

router = APIRouter(prefix="/api", tags=["Investigations"])

_LOOK_EVERY = 0.5
_PATIENCE = 3600


@router.get("/runs")
async def list_runs(
    actor: CanReadTickets,
    service: Service,
    session: ReadSession,
    state: RunState | None = None,
    limit: Annotated[int, Query(ge=1, le=1000)] = 100,
) -> list[RunOut]:
    """The newest first. `open` are all that have not ended."""
    return [RunOut.from_domain(row) for row in await service.list(session, state, limit)]


@router.get("/runs/{run_id}")
async def get_run(actor: CanReadTickets, run_id: RunId, service: Service, session: ReadSession) -> RunDetailOut:
    """With its timeline."""
    row = await service.get(session, run_id)
    return RunDetailOut.with_steps(row, await service.steps(session, run_id))


@router.get("/runs/{run_id}/events", response_class=StreamingResponse)
async def follow_run(actor: CanReadTickets, run_id: RunId, request: Request, service: Service) -> StreamingResponse:
    """Server-sent events: each line of the timeline as it is written, until the end, or until somebody is asked."""
    async with request_dependencies(request).database.read(actor.workspace_id) as session:
        await service.get(session, run_id)
    return StreamingResponse(_lines(service, actor.workspace_id, run_id), media_type="text/event-stream")


@router.post("/runs/{run_id}/halt")
async def halt_run(
    actor: CanWorkOnTickets, run_id: RunId, body: HaltIn, service: Service, session: WriteSession
) -> RunOut:
    """It stops at its next edge."""
    return RunOut.from_domain(await service.halt(session, actor, run_id, body.reason))


@router.post("/runs/{run_id}/resume")
async def resume_run(actor: CanWorkOnTickets, run_id: RunId, service: Service, session: WriteSession) -> RunOut:
    """Take up at once what would have waited for its time."""
    return RunOut.from_domain(await service.resume(session, actor, run_id))


@router.post("/tickets/{ticket_id}/investigate", status_code=status.HTTP_202_ACCEPTED)
async def investigate(actor: CanWorkOnTickets, ticket_id: TicketId, service: Service, session: WriteSession) -> RunOut:
    """Once more, from the beginning. 409 while one is under way."""
    run = await service.start(session, actor, await _ticket(session, ticket_id))
    await assign_references(session)
    return RunOut.from_domain(run)


@router.put("/tickets/{ticket_id}/rating")
async def rate_ticket(
    actor: CanWorkOnTickets, ticket_id: TicketId, body: RatingIn, service: Service, session: WriteSession
) -> RatingOut:
    """What you think of how it ended. From 4 on, a resolution waits for a person as something to learn."""
    return RatingOut.from_domain(await service.rate(session, actor, await _ticket(session, ticket_id), body.rating))


@router.get("/queue")
async def show_queue(actor: CanReadTickets, service: Service, session: ReadSession) -> QueueOut:
    """How many tickets wait, and for how long a new one would have to."""
    depth = await service.queue.depth(session, actor.workspace_id)
    return QueueOut.from_domain(depth, service.slots, service.degraded_above)


async def _ticket(session: WriteSession, ticket_id: TicketId) -> Ticket:
    ticket = await session.get(Ticket, (session.workspace_id, ticket_id))
    if ticket is None:
        raise NotFound
    return ticket


async def _lines(service: Agent, workspace_id: WorkspaceId, run_id: RunId) -> AsyncIterator[str]:
    seen = 0
    for _ in range(int(_PATIENCE / _LOOK_EVERY)):
        async with service.database.read(workspace_id) as session:
            row = await service.get(session, run_id)
            steps = await service.steps(session, run_id, seen)
        for step in steps:
            yield f"event: step\ndata: {StepOut.from_domain(step).model_dump_json()}\n\n"
            seen = step.n
        if row.wake_at is None or row.state == "waiting_approval":
            yield f"event: state\ndata: {RunOut.from_domain(row).model_dump_json()}\n\n"
            return
        await asyncio.sleep(_LOOK_EVERY)
