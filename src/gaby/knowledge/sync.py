"""Syncs: a source is read, embedded and written side by side; a crash costs a batch, and a second process waits."""

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from sqlalchemy import delete, select, update

from gaby.kernel.actors import Actor, system_actor
from gaby.kernel.clock import Clock
from gaby.kernel.database import AllWorkspaces, Database, ReadSession, WriteSession
from gaby.kernel.errors import Conflict, GabyError
from gaby.kernel.events import Event
from gaby.kernel.failpoints import failpoint_async
from gaby.kernel.ids import IdFactory, WorkspaceId
from gaby.kernel.log import get_log
from gaby.knowledge.batches import KnownDocuments, SourceReader, SyncBatch
from gaby.knowledge.document_store import DocumentStore, ModelChanged, StoredDocument
from gaby.knowledge.embedding import PassageEmbedder
from gaby.knowledge.index.index import Stored
from gaby.knowledge.models import KnowledgeDocument, KnowledgeFailure, KnowledgeSource
from gaby.knowledge.parsers.front_matter import unknown_audience
from gaby.knowledge.prefetch import prefetch
from gaby.knowledge.preparation import PreparedDocument
from gaby.knowledge.source_service import SourceService
from gaby.knowledge.sources.source import DocumentSource

_log = get_log(__name__)

_LEASE = timedelta(minutes=2)
_AGAIN = timedelta(minutes=10)
"""When a scheduled source could not be reached; sooner if its schedule says so."""
_TRIES = 3
_AT_ONCE = 3
"""Scheduled syncs, so that a website with long pauses does not keep the others waiting."""


class AlreadySyncing(Conflict):
    """This source is being synced at the moment. `gaby knowledge list` shows how far it is."""


class LostLease(Conflict):
    """Another process went on with this sync, since this one was silent for too long. Nothing of it is lost."""


@dataclass(frozen=True)
class SyncProgress:
    done: int
    total: int | None
    added: int
    changed: int
    removed: int
    failed: int


ProgressCallback = Callable[[SyncProgress], None]


@dataclass(frozen=True)
class _SyncClaim:
    workspace_id: WorkspaceId
    source_id: UUID
    sync_id: UUID
    started_at: datetime
    """No two claims begin at the same moment, so it tells whose the lease is."""
    cursor: str | None
    actor: Actor


class Syncer:
    def __init__(
        self,
        database: Database,
        clock: Clock,
        ids: IdFactory,
        library: DocumentStore,
        embedding: PassageEmbedder,
        sources: SourceService,
    ) -> None:
        self._database = database
        self._clock = clock
        self._ids = ids
        self._library = library
        self._embedding = embedding
        self._sources = sources

    async def run_due(self) -> int:
        """Every source whose time has come, and every sync that was interrupted. Says how many there were."""
        now = self._clock.now()
        async with self._database.read(AllWorkspaces("syncs are due in any workspace")) as session:
            query = select(KnowledgeSource).where(KnowledgeSource.due_at <= now).order_by(KnowledgeSource.due_at)
            due = [(WorkspaceId(row.workspace_id), row.id) for row in await session.scalars(query)]
        places = asyncio.Semaphore(_AT_ONCE)
        await asyncio.gather(*(self._sync_due(places, workspace_id, source_id) for workspace_id, source_id in due))
        return len(due)

    async def _sync_due(self, places: asyncio.Semaphore, workspace_id: WorkspaceId, source_id: UUID) -> None:
        async with places:
            try:
                await self.sync(system_actor("schedule", workspace_id), source_id)
            except GabyError as error:
                _log.warning("knowledge.sync_failed", source=str(source_id), error=repr(error))

    async def sync(self, actor: Actor, source_id: UUID, report: ProgressCallback | None = None) -> KnowledgeSource:
        """Raises when the source as a whole could not be read; single documents only end up in its list."""
        workspace_id = actor.workspace_id
        async with self._database.write(workspace_id) as session:
            claim = await self._claim(session, actor, source_id)
        try:
            async with self._database.read(workspace_id) as session:
                source = await self._sources.open(session, source_id)
                known = await self._known(session, source_id)
            lease = asyncio.create_task(self._keep_lease(claim))
            try:
                await self._run(claim, source, known, report)
            finally:
                lease.cancel()
                await source.close()
        except LostLease:
            raise
        except (GabyError, OSError) as error:
            await self._note_failure(claim, error.message if isinstance(error, GabyError) else f"It failed: {error}")
            raise
        except asyncio.CancelledError:
            await asyncio.shield(self._note_failure(claim, "It was interrupted, and goes on with the next sync."))
            raise
        async with self._database.read(workspace_id) as session:
            return await self._sources.get(session, source_id)

    async def _claim(self, session: WriteSession, actor: Actor, source_id: UUID) -> _SyncClaim:
        row = await self._sources.get(session, source_id, lock=True)
        now = self._clock.now()
        if row.state == "running" and row.lease_until is not None and row.lease_until > now:
            raise AlreadySyncing
        if row.sync_id is None:  # Else it goes on where the last one stopped.
            row.sync_id = self._ids.new()
            row.cursor, row.total = None, None
            row.done = row.added = row.changed = row.removed = 0
        row.state, row.started_at, row.lease_until = "running", now, now + _LEASE
        row.due_at = now + _LEASE  # Should this process end, the schedule picks it up.
        await session.flush()
        return _SyncClaim(session.workspace_id, source_id, row.sync_id, now, row.cursor, actor)

    async def _known(self, session: ReadSession, source_id: UUID) -> KnownDocuments:
        query = select(KnowledgeFailure.uri, KnowledgeFailure.fingerprint).where(
            KnowledgeFailure.workspace_id == session.workspace_id, KnowledgeFailure.source_id == source_id
        )
        failures = {uri: fingerprint for uri, fingerprint in await session.execute(query) if fingerprint is not None}
        return KnownDocuments(await self._library.held(session, source_id), failures)

    async def _run(
        self, claim: _SyncClaim, source: DocumentSource, known: KnownDocuments, report: ProgressCallback | None
    ) -> None:
        reading = SourceReader(source, known, claim.cursor)
        embedded = self._embedded(claim.workspace_id, reading.batches())
        async with aclosing(prefetch(embedded)) as batches:
            async for batch, vectors in batches:
                await failpoint_async("knowledge.before_write")
                progress = await self._written(claim, known, batch, vectors)
                await failpoint_async("knowledge.after_write")
                if report is not None:
                    report(progress)
        progress = await self._finish(claim, known, reading)
        await self._library.tend(claim.workspace_id)
        if report is not None:
            report(progress)

    async def _keep_lease(self, claim: _SyncClaim) -> None:
        """A slow model may work on one batch for longer than the lease."""
        while True:
            await asyncio.sleep(_LEASE.total_seconds() / 4)
            try:
                async with self._database.write(claim.workspace_id) as session:
                    await self._mine(session, claim)
            except GabyError as error:  # Lost, or the database is away: the next batch will tell.
                _log.warning("knowledge.lease_not_kept", source=str(claim.source_id), error=repr(error))

    async def _embedded(
        self, workspace_id: WorkspaceId, batches: AsyncGenerator[SyncBatch]
    ) -> AsyncGenerator[tuple[SyncBatch, Stored]]:
        async with aclosing(prefetch(batches)) as read:
            async for batch in read:
                yield batch, await self._vectors(workspace_id, batch)

    async def _vectors(self, workspace_id: WorkspaceId, batch: SyncBatch) -> Stored:
        return await self._embedding.stored(workspace_id, batch.ready) if batch.ready else {}

    async def _written(
        self, claim: _SyncClaim, known: KnownDocuments, batch: SyncBatch, vectors: Stored
    ) -> SyncProgress:
        for _ in range(_TRIES):
            try:
                async with self._database.write(claim.workspace_id) as session:
                    return await self._write(session, claim, known, batch, vectors)
            except ModelChanged:
                vectors = await self._vectors(claim.workspace_id, batch)
        raise ModelChanged

    async def _write(
        self, session: WriteSession, claim: _SyncClaim, known: KnownDocuments, batch: SyncBatch, vectors: Stored
    ) -> SyncProgress:
        row = await self._mine(session, claim)
        if batch.ready:
            await self._library.put(session, claim.source_id, batch.ready, vectors, seen_in=claim.sync_id)
        gone = [
            known.held[each.failed.uri]
            for each in batch.broken
            if not each.failed.passing and each.failed.uri in known.held
        ]
        await self._library.remove(session, gone)
        await self._note_documents(session, claim, batch)
        new = sum(document.uri not in known.held for document in batch.ready)
        row.added += new
        row.changed += len(batch.ready) - new
        row.removed += len(gone)
        row.done += batch.done
        row.total = batch.total if batch.total is not None else row.total
        row.cursor = batch.cursor or row.cursor
        return await self._progress(session, row)

    async def _note_documents(self, session: WriteSession, claim: _SyncClaim, batch: SyncBatch) -> None:
        place = claim.workspace_id
        document = KnowledgeDocument
        for kept in batch.kept:
            where = (document.workspace_id == place, document.id == kept.held.id)
            values = {"fingerprint": kept.fingerprint, "seen_in": claim.sync_id}
            await session.execute(update(document).where(*where).values(values))
        met = [held.id for held in batch.met]
        if met:
            where = (document.workspace_id == place, document.id.in_(met))
            await session.execute(update(document).where(*where).values(seen_in=claim.sync_id))
        failure = KnowledgeFailure
        of_source = (failure.workspace_id == place, failure.source_id == claim.source_id)
        noted = [each.failed.uri for each in batch.broken]
        noted += [each.uri for each in batch.ready]
        for start in range(0, len(noted), 400):
            await session.execute(delete(failure).where(*of_source, failure.uri.in_(noted[start : start + 400])))
        failed = {each.failed.uri: (each.failed.reason, each.fingerprint) for each in batch.broken}
        # It is read and kept, for staff only; without a word nobody would know why.
        failed |= {each.uri: (reason, None) for each in batch.ready if (reason := _misspelt_audience(each)) is not None}
        for uri, (reason, fingerprint) in failed.items():
            session.add(
                failure(
                    workspace_id=place,
                    source_id=claim.source_id,
                    uri=uri,
                    reason=reason[:1000],
                    failed_at=self._clock.now(),
                    fingerprint=fingerprint,
                )
            )

    async def _finish(self, claim: _SyncClaim, known: KnownDocuments, reading: SourceReader) -> SyncProgress:
        """Only after a complete listing: what it did not name is no longer there."""
        seen = reading.seen
        async with self._database.write(claim.workspace_id) as session:
            row = await self._mine(session, claim)
            gone = await self._unseen(session, claim, known, seen)
            await self._library.remove(session, list(gone.values()))
            failure = KnowledgeFailure
            of_source = (failure.workspace_id == claim.workspace_id, failure.source_id == claim.source_id)
            failed = set(await session.scalars(select(failure.uri).where(*of_source)))
            if claim.cursor is None:
                for uri in failed - seen:
                    await session.execute(delete(failure).where(*of_source, failure.uri == uri))
            now = self._clock.now()
            row.removed += len(gone)
            row.skipped = {} if reading.skipped is None else asdict(reading.skipped)
            row.state, row.error, row.lease_until = "done", None, None
            row.finished_at = row.fresh_at = now
            row.sync_id = row.cursor = None
            row.total = row.done
            row.due_at = now if row.again else self._next(row)
            row.again = False
            progress = await self._progress(session, row)
            self._tell(session, claim, "knowledge.synced", row.name, progress)
        return progress

    def _next(self, row: KnowledgeSource) -> datetime | None:
        return None if row.every_seconds is None else self._clock.now() + timedelta(seconds=row.every_seconds)

    async def _unseen(
        self, session: ReadSession, claim: _SyncClaim, known: KnownDocuments, seen: set[str]
    ) -> dict[str, StoredDocument]:
        unseen = {uri: held for uri, held in known.held.items() if uri not in seen}
        if not unseen or claim.cursor is None:
            return unseen
        # This sync went on for another, which had met some of them before it was interrupted.
        query = select(KnowledgeDocument.uri).where(
            KnowledgeDocument.workspace_id == claim.workspace_id,
            KnowledgeDocument.source_id == claim.source_id,
            KnowledgeDocument.seen_in == claim.sync_id,
        )
        met = set((await session.scalars(query)).all())
        return {uri: held for uri, held in unseen.items() if uri not in met}

    async def _mine(self, session: WriteSession, claim: _SyncClaim) -> KnowledgeSource:
        row = await self._sources.get(session, claim.source_id, lock=True)
        if row.state != "running" or row.started_at != claim.started_at:
            raise LostLease
        row.lease_until = row.due_at = self._clock.now() + _LEASE
        return row

    async def _progress(self, session: ReadSession, row: KnowledgeSource) -> SyncProgress:
        failed = await self._sources.failure_count(session, row.id)
        return SyncProgress(row.done, row.total, row.added, row.changed, row.removed, failed)

    async def _note_failure(self, claim: _SyncClaim, message: str) -> None:
        async with self._database.write(claim.workspace_id) as session:
            row = await self._mine(session, claim)
            now = self._clock.now()
            row.state, row.error, row.lease_until, row.finished_at = "failed", message[:1000], None, now
            if row.cursor is None:
                row.sync_id = None
            every = None if row.every_seconds is None else timedelta(seconds=row.every_seconds)
            row.due_at = None if every is None else now + min(every, _AGAIN)
            self._tell(session, claim, "knowledge.sync_failed", row.name, await self._progress(session, row))

    @staticmethod
    def _tell(session: WriteSession, claim: _SyncClaim, name: str, source: str, progress: SyncProgress) -> None:
        payload: dict[str, Any] = {"source": source, **vars(progress)}
        session.emit(Event(name, claim.workspace_id, claim.actor, payload))


def _misspelt_audience(document: PreparedDocument) -> str | None:
    return unknown_audience(document.text.text) if document.text.kind == "markdown" else None
