"""The audit log over HTTP: read rows, prove one, fetch an export to verify elsewhere."""

import asyncio
from collections.abc import AsyncGenerator, Iterator
from typing import Annotated, Any

import orjson
from fastapi import APIRouter, Query, Request, Response
from fastapi.responses import StreamingResponse
from pydantic import BaseModel
from sqlalchemy import select

from gaby.audit.export import export_lines
from gaby.audit.models import AuditRowRecord
from gaby.audit.prover import inclusion_proof
from gaby.audit.rows import timestamp
from gaby.audit.source import snapshot
from gaby.kernel.database import Database
from gaby.kernel.http.access import CanReadAudit, ReadSession, request_dependencies
from gaby.kernel.ids import AuditRowId, WorkspaceId

router = APIRouter(prefix="/api/audit", tags=["Audit"])

_CHUNK = 64 * 1024


class AuditRowOut(BaseModel):
    seq: int
    id: AuditRowId
    ts: str
    actor_kind: str
    actor_id: str
    event: str
    payload: dict[str, Any]
    hash: str


@router.get("/rows")
async def list_rows(
    actor: CanReadAudit,
    session: ReadSession,
    after: Annotated[int, Query(ge=-1, le=2**62, description="The last `seq` you have.")] = -1,
    limit: Annotated[int, Query(ge=1, le=1000)] = 100,
) -> list[AuditRowOut]:
    """The workspace's rows in order."""
    query = (
        select(AuditRowRecord)
        .where(AuditRowRecord.workspace_id == session.workspace_id, AuditRowRecord.seq > after)
        .order_by(AuditRowRecord.seq)
        .limit(limit)
    )
    return [_row(record) for record in await session.scalars(query)]


@router.get("/rows/{row_id}/proof", response_class=Response, responses={200: {"content": {"application/json": {}}}})
async def prove_row(request: Request, actor: CanReadAudit, row_id: AuditRowId) -> Response:
    """A proof that the row is in the signed log. Save it, and check it with `gaby audit verify FILE`."""
    proof = await asyncio.to_thread(_prove, request_dependencies(request).database, actor.workspace_id, row_id)
    return Response(proof, media_type="application/json")


@router.get("/export", response_class=StreamingResponse, responses={200: {"content": {"application/x-ndjson": {}}}})
async def export(request: Request, actor: CanReadAudit) -> StreamingResponse:
    """The workspace's whole log with its checkpoints, for `gaby audit verify` on any machine."""
    created = timestamp(request.app.state.dependencies.clock.now())
    chunks = _chunks(request_dependencies(request).database, actor.workspace_id, created)
    first = await asyncio.to_thread(next, chunks, b"")  # Before the answer begins, so that a lost database is a 503.
    headers = {"Content-Disposition": 'attachment; filename="audit.jsonl"'}
    return StreamingResponse(_in_thread(first, chunks), media_type="application/x-ndjson", headers=headers)


def _prove(database: Database, workspace_id: WorkspaceId, row_id: AuditRowId) -> bytes:
    with snapshot(database) as source:
        return inclusion_proof(source, workspace_id, row_id)


def _chunks(database: Database, workspace_id: WorkspaceId, created: str) -> Iterator[bytes]:
    with snapshot(database) as source:
        waiting: list[bytes] = []
        size = 0
        for line in export_lines(source, created=created, only=workspace_id):
            waiting.append(line)
            size += len(line)
            if size >= _CHUNK:
                yield b"".join(waiting)
                waiting, size = [], 0
        yield b"".join(waiting)


async def _in_thread(first: bytes, chunks: Iterator[bytes]) -> AsyncGenerator[bytes]:
    yield first
    while chunk := await asyncio.to_thread(next, chunks, b""):
        yield chunk


def _row(record: AuditRowRecord) -> AuditRowOut:
    return AuditRowOut(
        seq=record.seq,
        id=AuditRowId(record.id),
        ts=record.ts,
        actor_kind=record.actor_kind,
        actor_id=record.actor_id,
        event=record.event,
        payload=orjson.loads(record.payload),
        hash=record.hash.hex(),
    )
