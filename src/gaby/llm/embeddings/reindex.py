"""Re-indexing: when the model changes every text gets a new vector, in the background, and a crash loses nothing."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from uuid import UUID

from sqlalchemy import CursorResult, or_, select, update

from gaby.kernel.actors import Actor, system_actor
from gaby.kernel.clock import Clock
from gaby.kernel.database import AllWorkspaces, Database, ReadSession, WriteSession
from gaby.kernel.errors import GabyError, Invalid, Unavailable
from gaby.kernel.events import Event
from gaby.kernel.failpoints import failpoint_async
from gaby.kernel.ids import IdFactory, WorkspaceId
from gaby.kernel.log import get_log
from gaby.llm.embeddings.collection import EmbeddingCollection
from gaby.llm.embeddings.models import ReindexState
from gaby.llm.embeddings.service import Embeddings
from gaby.llm.errors import ModelError

_log = get_log(__name__)

_BATCH = 96
_FIRST_PAUSE = timedelta(seconds=15)
_LONGEST_PAUSE = timedelta(minutes=15)
_PASSES = frozenset({429, 503})
"""Too much at the moment, or something is missing at the moment: the next attempt may go well."""


class TextsChanged(Unavailable):
    """Some texts were changed while their vectors were made. They are read again shortly."""


@dataclass(frozen=True)
class _Task:
    """A re-indexing as it was a moment ago. Nothing is written unless it still is."""

    workspace_id: WorkspaceId
    id: UUID
    collection: str
    model: str
    cursor: str | None
    done: int
    attempts: int


class Reindexer:
    """Several processes may run one each: whoever comes second with the same batch has worked for nothing."""

    def __init__(
        self, database: Database, clock: Clock, ids: IdFactory, embeddings: Embeddings, *, batch: int = _BATCH
    ) -> None:
        self._database = database
        self._clock = clock
        self._ids = ids
        self._embeddings = embeddings
        self._batch = batch
        self._collections: dict[str, EmbeddingCollection] = {}
        self._last = UUID(int=0)

    def register(self, collection: EmbeddingCollection) -> None:
        self._collections[collection.name] = collection

    async def start(
        self, session: WriteSession, actor: Actor, workspace_id: WorkspaceId, model: str
    ) -> Sequence[ReindexState]:
        """Of every collection. One that runs with this model already goes on; any other begins anew, and what was
        made before is in the cache."""
        self._embeddings.check(model)
        return [await self._start(session, actor, workspace_id, model, each) for each in self._collections.values()]

    async def progress(self, session: ReadSession) -> Sequence[ReindexState]:
        query = select(ReindexState).where(ReindexState.workspace_id == session.workspace_id)
        return (await session.scalars(query.order_by(ReindexState.collection))).all()

    async def target_model(self, session: ReadSession, collection: str) -> str | None:
        """The model whose vectors are not searched yet, and that new texts need a vector of."""
        query = select(ReindexState.model).where(
            ReindexState.workspace_id == session.workspace_id,
            ReindexState.collection == collection,
            ReindexState.state == "running",
        )
        return (await session.scalars(query)).one_or_none()

    async def run(self) -> int:
        """Steps until nothing can be done at the moment. Says how many they were."""
        steps = 0
        while await self.step():
            steps += 1
        return steps

    async def step(self) -> bool:
        """One batch of one re-indexing, the workspaces taking turns. False when nothing is due."""
        task = await self._next()
        if task is None:
            return False
        self._last = task.id
        try:
            await self._advance(task)
        except GabyError as error:
            await self._note(task, error)
        return True

    async def _start(
        self,
        session: WriteSession,
        actor: Actor,
        workspace_id: WorkspaceId,
        model: str,
        collection: EmbeddingCollection,
    ) -> ReindexState:
        query = select(ReindexState).where(
            ReindexState.workspace_id == workspace_id, ReindexState.collection == collection.name
        )
        old = (await session.scalars(query.with_for_update())).one_or_none()  # No batch may slip in between.
        if old is not None and old.model == model and old.state == "running":
            return old
        if old is not None:
            await session.delete(old)
            await session.flush()
        row = ReindexState(
            workspace_id=workspace_id,
            id=self._ids.new(),
            collection=collection.name,
            model=model,
            state="running",
            total=await collection.count(session),
            started_at=self._clock.now(),
        )
        session.add(row)
        await session.flush()
        payload = {"collection": collection.name, "model": model, "total": row.total}
        session.emit(Event("embeddings.reindex_started", workspace_id, actor, payload))
        return row

    async def _next(self) -> _Task | None:
        now = self._clock.now()
        async with self._database.read(AllWorkspaces("re-indexing serves every workspace")) as session:
            query = select(ReindexState).where(
                ReindexState.state == "running", or_(ReindexState.retry_at.is_(None), ReindexState.retry_at <= now)
            )
            due = sorted((await session.scalars(query)).all(), key=lambda row: row.id)
        row = next((row for row in due if row.id > self._last), due[0] if due else None)
        if row is None:
            return None
        place = WorkspaceId(row.workspace_id)
        return _Task(place, row.id, row.collection, row.model, row.cursor, row.done, row.attempts)

    async def _advance(self, task: _Task) -> None:
        collection = self._collections.get(task.collection)
        if collection is None:
            raise Invalid(f"There is no collection {task.collection} any more, so it cannot be indexed.")
        async with self._database.read(task.workspace_id) as session:
            texts = await collection.batch(session, task.cursor, self._batch)
        if not texts:
            await self._finish(task, collection)
            return
        spoken = [collection.spoken(task.model, text) for _, text in texts]
        rows = await self._embeddings.embed_with(task.workspace_id, task.model, spoken)
        await failpoint_async("reindex.before_store")
        async with self._database.write(task.workspace_id) as session:
            if list(await collection.batch(session, task.cursor, self._batch)) != list(texts):
                raise TextsChanged
            if await self._move(session, task, cursor=texts[-1][0], done=task.done + len(texts)):
                vectors = [(key, row) for (key, _), row in zip(texts, rows, strict=True)]
                await collection.store(session, task.model, vectors)
                await failpoint_async("reindex.before_commit")
        await failpoint_async("reindex.after_commit")

    async def _finish(self, task: _Task, collection: EmbeddingCollection) -> None:
        async with self._database.write(task.workspace_id) as session:
            if await collection.batch(session, task.cursor, 1):
                return  # Something came in at the last moment.
            now = self._clock.now()
            if await self._move(session, task, state="done", total=task.done, finished_at=now):
                await collection.swap(session, task.model)
                _tell(session, task, "embeddings.reindex_finished", {"total": task.done})
                await failpoint_async("reindex.before_swap_commit")

    async def _note(self, task: _Task, error: GabyError) -> None:
        """The reason stays visible. What may pass is tried again, ever more rarely; the rest needs a person."""
        now = self._clock.now()
        message = error.message[:1000]
        _log.warning("reindex.failed", collection=task.collection, model=task.model, error=repr(error))
        async with self._database.write(task.workspace_id) as session:
            if _may_pass(error):
                later = now + _pause(task.attempts, error)
                await self._move(session, task, error=message, attempts=task.attempts + 1, retry_at=later)
            elif await self._move(session, task, state="failed", error=message, finished_at=now):
                _tell(session, task, "embeddings.reindex_failed", {"error": message, "done": task.done})

    async def _move(self, session: WriteSession, task: _Task, **values: Any) -> bool:
        """False when somebody else moved it, or began it anew, which gives it another id."""
        unchanged = (
            ReindexState.workspace_id == task.workspace_id,
            ReindexState.id == task.id,
            ReindexState.state == "running",
            ReindexState.cursor.is_not_distinct_from(task.cursor),
        )
        forgiven = {"error": None, "attempts": 0, "retry_at": None}
        moved = await session.execute(update(ReindexState).where(*unchanged).values(forgiven | values))
        return isinstance(moved, CursorResult) and moved.rowcount == 1


def _tell(session: WriteSession, task: _Task, name: str, more: dict[str, Any]) -> None:
    payload = {"collection": task.collection, "model": task.model, **more}
    session.emit(Event(name, task.workspace_id, system_actor("reindex", task.workspace_id), payload))


def _may_pass(error: GabyError) -> bool:
    return error.status in _PASSES or (isinstance(error, ModelError) and error.transient)


def _pause(attempts: int, error: GabyError) -> timedelta:
    asked = getattr(error, "retry_after", None)
    at_least = timedelta(seconds=asked) if isinstance(asked, int | float) else timedelta()
    return max(min(_FIRST_PAUSE * 2 ** min(attempts, 10), _LONGEST_PAUSE), min(at_least, _LONGEST_PAUSE))
