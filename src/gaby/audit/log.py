"""The audit log as the rest of Gaby sees it: append a row, record events, and state an intent before an effect."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any
from uuid import UUID

import orjson
from prometheus_client import Counter
from sqlalchemy import Connection, select

from gaby.audit.canonical import canonical_payload
from gaby.audit.errors import AuditUnavailable, NotCanonical, OutcomeNotWritten, PayloadTooLarge
from gaby.audit.fences import Fence
from gaby.audit.intents import Intent, IntentOutcome, PendingIntent, make_intent
from gaby.audit.models import AuditIntentRecord, AuditRowRecord
from gaby.audit.rows import AuditRow, RowDraft, check_draft
from gaby.audit.sealed_payloads import PayloadEncoder, Sealer
from gaby.audit.store import Appender
from gaby.audit.writer import AuditWriter
from gaby.kernel.actors import Actor
from gaby.kernel.database import AllWorkspaces, Database, WriteSession
from gaby.kernel.database.raw_sql import across_workspaces
from gaby.kernel.database.scope import scope_setting
from gaby.kernel.errors import GabyError
from gaby.kernel.events import Event
from gaby.kernel.ids import AuditRowId, WorkspaceId
from gaby.kernel.log import get_log
from gaby.kernel.metrics import Metrics

_log = get_log(__name__)

OnRows = Callable[[int], None]
"""Told how many rows were added."""


class AuditLog:
    def __init__(
        self, db: Database, appender: Appender, *, sealer: Sealer | None = None, metrics: Metrics | None = None
    ) -> None:
        self._db = db
        self._appender = appender
        self._payloads = PayloadEncoder(sealer)
        self._metrics = metrics
        self._writer = AuditWriter(db, appender)
        self._listeners: list[OnRows] = []
        self._counters: dict[WorkspaceId, Counter] = {}
        self._changing: dict[object, str] = {}
        """Intents whose effects are under way in this process, with their runs."""

    def on_rows(self, listener: OnRows) -> None:
        self._listeners.append(listener)

    async def append(self, workspace_id: WorkspaceId, actor: Actor, event: str, payload: Mapping[str, Any]) -> AuditRow:
        """Write one row of its own. Returns when it is on disk. Inside a transaction, emit an event instead."""
        return await self._write(await self._draft(workspace_id, actor, event, payload))

    async def record(self, session: WriteSession, events: Sequence[Event]) -> None:
        """Write a row per event inside the session's transaction: both are committed, or neither."""
        drafts = [await self._draft(e.workspace_id, e.actor, e.name, e.payload, session=session) for e in events]
        connection = await session.connection()
        try:
            await connection.run_sync(self._append_inside, scope_setting(session.scope), drafts)
        except self._db.engine.driver_errors as error:
            raise AuditUnavailable from error
        self._tell(drafts)

    @asynccontextmanager
    async def effect(
        self,
        actor: Actor,
        event: str,
        payload: Mapping[str, Any],
        *,
        workspace_id: WorkspaceId | None = None,
        fence: Fence | None = None,
        changes: bool = True,
    ) -> AsyncGenerator[Intent]:
        """The body runs only when the intent is on disk; afterwards the outcome is written.

        With a fence the intent is written only while the fence holds; otherwise `FenceBroken`, and nothing is done.

        Say `intent.succeeded(...)` or `intent.failed(...)`. An exception means failed; saying nothing, or being
        cancelled, means unknown.

        `changes` is False for what only reads, and may be cut off when the process ends.
        """
        workspace = actor.workspace_id if workspace_id is None else workspace_id
        draft = await self._draft(workspace, actor, f"{event}.intent", payload)
        change = object()
        if changes:
            self._changing[change] = str(payload.get("run_id", ""))
        try:
            row = await self._write(draft._replace(opens=True, fence=fence))
        except BaseException:
            self._changing.pop(change, None)
            raise
        intent = make_intent(row.id, workspace, event)
        try:
            yield intent
        except Exception as error:
            detail = {"error": error.code if isinstance(error, GabyError) else type(error).__name__}
            await self._close(actor, intent, *intent.outcome(IntentOutcome.FAILED, detail))
            raise
        except BaseException:
            # Cancelled or shutting down: shielded, so that the outcome is still written.
            await asyncio.shield(self._close(actor, intent, *intent.outcome(IntentOutcome.UNKNOWN)))
            raise
        else:
            await self._close(actor, intent, *intent.outcome(IntentOutcome.UNKNOWN))
        finally:
            self._changing.pop(change, None)

    def changes_under_way(self, run_id: UUID) -> bool:
        """Whether something is being changed for this run, in this process, at this moment."""
        return str(run_id) in self._changing.values()

    async def resolve(
        self, actor: Actor, pending: PendingIntent, outcome: IntentOutcome, detail: Mapping[str, Any] | None = None
    ) -> AuditRow:
        """After a crash: write the outcome of an intent that was left open."""
        event = pending.event.removesuffix(".intent")
        return await self._write_outcome(actor, pending.workspace_id, event, pending.id, outcome, detail or {})

    async def pending(self) -> list[PendingIntent]:
        """Every intent without an outcome, oldest first."""
        async with self._db.read(AllWorkspaces("open intents of all workspaces, for recovery")) as session:
            # The few that are open first: a database may think that it is quicker to go through all rows.
            opened = (await session.scalars(select(AuditIntentRecord))).all()
            rows = [await session.get(AuditRowRecord, (each.workspace_id, each.seq)) for each in opened]
        intents = sorted((row for row in rows if row is not None), key=lambda row: (row.ts, row.id))
        return [
            PendingIntent(
                AuditRowId(row.id), WorkspaceId(row.workspace_id), row.seq, row.ts, row.event, orjson.loads(row.payload)
            )
            for row in intents
        ]

    def draft(self, actor: Actor, event: str, payload: Mapping[str, Any]) -> RowDraft:
        """A row for whoever writes rows in a transaction of their own. Without personal values."""
        return check_draft(RowDraft(actor.workspace_id, actor.kind, actor.id, event, canonical_payload(payload)))

    def appended(self, drafts: Sequence[RowDraft]) -> None:
        """Tell that such rows are on disk."""
        self._tell(drafts)

    def trouble(self) -> str | None:
        """What keeps the log from being written, as far as the last write could tell."""
        return self._writer.trouble

    async def stop(self) -> None:
        """Write what is waiting, then take no more."""
        await self._writer.stop()

    async def _draft(
        self,
        workspace_id: WorkspaceId,
        actor: Actor,
        event: str,
        payload: Mapping[str, Any],
        *,
        session: WriteSession | None = None,
    ) -> RowDraft:
        text = await self._payloads.text(workspace_id, payload, session)
        return check_draft(RowDraft(workspace_id, actor.kind, actor.id, event, text))

    async def _write(self, draft: RowDraft) -> AuditRow:
        row = await self._writer.append(draft)
        self._tell([draft])
        return row

    async def _close(self, actor: Actor, intent: Intent, outcome: IntentOutcome, detail: Mapping[str, Any]) -> None:
        place = (actor, intent.workspace_id, intent.event, intent.id, outcome)
        try:
            try:
                await self._write_outcome(*place, detail)
            except (NotCanonical, PayloadTooLarge) as error:
                # The outcome matters more than its detail.
                _log.error("audit.detail_refused", effect=intent.event, error=error.message)
                await self._write_outcome(*place, {"refused": error.code})
        except AuditUnavailable as error:
            raise OutcomeNotWritten from error

    async def _write_outcome(
        self,
        actor: Actor,
        workspace_id: WorkspaceId,
        event: str,
        intent: AuditRowId,
        outcome: IntentOutcome,
        detail: Mapping[str, Any],
    ) -> AuditRow:
        payload = {"intent": intent, "outcome": outcome, "detail": dict(detail)}
        draft = await self._draft(workspace_id, actor, f"{event}.outcome", payload)
        return await self._write(draft._replace(closes=intent))

    def _append_inside(self, connection: Connection, scope: str, drafts: Sequence[RowDraft]) -> None:
        dialect = self._db.dialect
        driver = connection.connection
        if dialect == "postgresql":
            across_workspaces(driver)
        self._appender.append(driver, dialect, drafts)
        if dialect == "postgresql":
            across_workspaces(driver, scope=scope)

    def _tell(self, drafts: Sequence[RowDraft]) -> None:
        for draft in drafts:
            self._count(draft.workspace_id)
        for listener in self._listeners:
            listener(len(drafts))

    def _count(self, workspace_id: WorkspaceId) -> None:
        if self._metrics is None:
            return
        counter = self._counters.get(workspace_id)
        if counter is None:
            # Finding the counter by its labels costs more than counting.
            counter = self._counters[workspace_id] = self._metrics.audit_rows.labels(workspace=str(workspace_id))
        counter.inc()
