"""Traces of model calls: stored in the background, sealed, read by whoever may, and deleted when they are old."""

import asyncio
from collections.abc import Iterable, Sequence
from contextlib import suppress
from contextvars import Context
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import groupby
from typing import NamedTuple
from uuid import UUID

from sqlalchemy import and_, delete, insert, select

from gaby.kernel.clock import Clock
from gaby.kernel.crypto import CannotOpen, SubjectSealer, SubjectShredded, Vault
from gaby.kernel.database import AllWorkspaces, Database, ReadSession, WriteSession
from gaby.kernel.errors import NotFound
from gaby.kernel.ids import ModelCallId, WorkspaceId
from gaby.kernel.log import get_log
from gaby.llm.call_trace import CallTrace
from gaby.llm.trace_format import TraceContent, pack_trace, unpack_trace
from gaby.usage.models import LlmCall, LlmCallTrace

log = get_log(__name__)

_PAUSE = 0.25
"""Seconds in which traces gather, so that many calls share one transaction."""
_MOST_WAITING = 500
_BATCH = 500
_PURPOSE = "model call"


class NoSuchCall(NotFound):
    """This run made no such model call. `gaby runs trace RUN` lists those that it made."""


class TraceNotStored(NotFound):
    """What was asked in this call is not stored: it is too old (`GABY_MODELS_KEEP_TRACES`), no model was asked, or
    it could not be written then."""


@dataclass(frozen=True)
class RunModelCall:
    """One model call of a run."""

    number: int
    """Its place among the calls of the run, from 1."""
    call: LlmCall
    outcome: str
    subject: str | None
    """Whose key its trace is sealed with; None when there is no trace."""

    @property
    def has_trace(self) -> bool:
        return self.subject is not None

    @property
    def belongs_to_workspace(self) -> bool:
        """Not to a ticket."""
        return self.subject == _workspace_subject(self.call.workspace_id)


class _QueuedTrace(NamedTuple):
    trace: CallTrace
    at: datetime


class _PackedTrace(NamedTuple):
    call_id: ModelCallId
    workspace_id: WorkspaceId
    subject: str
    outcome: str
    at: datetime
    content: bytes


class CallTraces:
    def __init__(self, database: Database, vault: Vault, clock: Clock, keep: timedelta) -> None:
        self._database = database
        self._vault = vault
        self._clock = clock
        self._keep = keep
        self._waiting: list[_QueuedTrace] = []
        self._writer: asyncio.Task[None] | None = None
        self._at_once = asyncio.Event()

    def record(self, trace: CallTrace) -> None:
        """Stores it soon. Never raises; what cannot be stored is lost, with a warning."""
        if not self._keep:
            return
        if len(self._waiting) >= _MOST_WAITING:
            log.warning("llm.trace_dropped", call=str(trace.call_id))
            return
        self._waiting.append(_QueuedTrace(trace, self._clock.now()))
        if self._writer is None or self._writer.done():
            # An empty context, because the task outlives the request that happens to come first.
            self._writer = asyncio.create_task(self._write_waiting(), name="call traces", context=Context())

    async def flush(self) -> None:
        """Returns when everything that was recorded is stored, or given up."""
        if self._writer is not None:
            self._at_once.set()
            await self._writer

    async def stop(self) -> None:
        await self.flush()

    async def sweep(self) -> int:
        """Delete traces that are older than they are kept."""
        before, deleted = self._clock.now() - self._keep, 0
        while True:
            async with self._database.write(AllWorkspaces("old traces of all workspaces")) as session:
                old = select(LlmCallTrace.id).where(LlmCallTrace.created_at <= before).limit(_BATCH)
                rows = (await session.scalars(old)).all()
                await session.execute(delete(LlmCallTrace).where(LlmCallTrace.id.in_(rows)))
            deleted += len(rows)
            if len(rows) < _BATCH:
                return deleted

    async def of_run(self, session: ReadSession, run_id: UUID) -> list[RunModelCall]:
        """Every call that the run made, in order, with a trace or without."""
        same = and_(
            LlmCallTrace.workspace_id == session.workspace_id,
            LlmCallTrace.workspace_id == LlmCall.workspace_id,
            LlmCallTrace.id == LlmCall.id,
        )
        query = (
            select(LlmCall, LlmCallTrace.outcome, LlmCallTrace.subject)
            .outerjoin(LlmCallTrace, same)
            .where(LlmCall.workspace_id == session.workspace_id, LlmCall.run_id == run_id)
            .order_by(LlmCall.created_at, LlmCall.id)
        )
        rows = (await session.execute(query)).all()
        return [
            RunModelCall(number, call, outcome or call.error or call.state, subject)
            for number, (call, outcome, subject) in enumerate(rows, start=1)
        ]

    async def call_of_run(self, session: ReadSession, run_id: UUID, which: int | UUID) -> RunModelCall:
        """By its number or by its id."""
        for call in await self.of_run(session, run_id):
            if which in (call.number, call.call.id):
                return call
        raise NoSuchCall

    async def content(self, session: ReadSession, call: RunModelCall) -> TraceContent:
        """What was asked and answered, decrypted. `SubjectShredded` when its ticket was forgotten."""
        row = await session.get(LlmCallTrace, (session.workspace_id, call.call.id))
        if row is None:
            raise TraceNotStored
        sealing = await self._vault.opening(session, row.subject, _PURPOSE)
        content = unpack_trace(sealing.open(row.content))
        if content.call_id != row.id.hex:
            raise CannotOpen
        return content

    async def _write_waiting(self) -> None:
        while self._waiting:
            with suppress(TimeoutError):
                await asyncio.wait_for(self._at_once.wait(), _PAUSE)
            self._at_once.clear()
            batch, self._waiting = self._waiting, []
            await self._write(batch)

    async def _write(self, batch: Sequence[_QueuedTrace]) -> None:
        packed = await asyncio.to_thread(_packed, batch)
        for workspace_id, rows in groupby(packed, key=_workspace_of):
            try:
                async with self._database.write(workspace_id) as session:
                    await self._insert(session, rows)
            except Exception as error:  # noqa: BLE001
                # Whatever it is, the calls themselves went well.
                log.warning("llm.traces_not_stored", workspace_id=str(workspace_id), error=repr(error))

    async def _insert(self, session: WriteSession, packed: Iterable[_PackedTrace]) -> None:
        sealings: dict[str, SubjectSealer | None] = {}
        rows: list[dict[str, object]] = []
        for each in packed:
            if each.subject not in sealings:
                sealings[each.subject] = await self._sealing(session, each.subject)
            sealing = sealings[each.subject]
            if sealing is not None:
                rows.append(
                    {
                        "workspace_id": each.workspace_id,
                        "id": each.call_id,
                        "created_at": each.at,
                        "subject": each.subject,
                        "outcome": each.outcome[:60],
                        "content": sealing.seal(each.content),
                    }
                )
        if rows:
            await session.execute(insert(LlmCallTrace), rows)

    async def _sealing(self, session: WriteSession, subject: str) -> SubjectSealer | None:
        """None when the subject was forgotten; then so are its traces."""
        try:
            with suppress(CannotOpen):
                return await self._vault.opening(session, subject, _PURPOSE)
            # Nothing was sealed for it so far, so it has no key; sealing makes one.
            await self._vault.seal(session, subject, "", _PURPOSE)
            return await self._vault.opening(session, subject, _PURPOSE)
        except SubjectShredded:
            return None


def _packed(batch: Sequence[_QueuedTrace]) -> list[_PackedTrace]:
    """Sorted by workspace."""
    packed: list[_PackedTrace] = []
    for trace, at in batch:
        subject = trace.subject or _workspace_subject(trace.workspace_id)
        try:
            content = pack_trace(trace)
        except Exception as error:  # noqa: BLE001
            log.warning("llm.traces_not_stored", call=str(trace.call_id), error=repr(error))
        else:
            packed.append(_PackedTrace(trace.call_id, trace.workspace_id, subject, trace.outcome, at, content))
    return sorted(packed, key=_workspace_of)


def _workspace_of(packed: _PackedTrace) -> WorkspaceId:
    return packed.workspace_id


def _workspace_subject(workspace_id: UUID) -> str:
    return f"workspace:{workspace_id}"
