"""Vectors of a workspace in a memory-mapped file of this process, kept in step with the database and searched exactly.

The database is the truth. The file has no name, so it is gone with the process and nobody else can open it.
"""

import asyncio
import tempfile
from collections import OrderedDict
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import ColumnElement, select

from gaby.kernel.database import Database, ReadSession
from gaby.kernel.ids import WorkspaceId
from gaby.knowledge.index.index import Hits
from gaby.knowledge.models import KnowledgeCorpus, KnowledgeVector
from gaby.llm.embeddings.embedder import Matrix

_AT_ONCE = 1000
"""Vectors that are read together. What is read stands in memory twice for a moment."""
_GROWTH = 1.5
"""How much larger than needed a file is made, so that it need not be made anew for each document."""
_WASTE = 0.3
"""The share of removed rows at which the file is written anew."""
_OPEN = 32
"""Workspaces whose vectors stay mapped. The others are read again when they are asked something."""
_NEARLY = 1e-3
_MULTIPLIED = 390_000
"""Numbers in one go. For more, the library would take all processors, and half of its time they only wait for each
other, while the search for words needs one of them."""


@dataclass(frozen=True)
class VectorSnapshot:
    """What a search sees; later changes make another one."""

    ids: NDArray[np.int64]
    rows: Matrix
    live: NDArray[np.bool_]

    async def nearest(self, queries: Matrix, limit: int) -> list[Hits]:
        return await asyncio.to_thread(self._nearest, queries, limit)

    def rows_of(self, ids: Sequence[int], dimensions: int) -> Matrix:
        """One for each, of zeros where there is none."""
        rows = np.zeros((len(ids), dimensions), np.float32)
        if len(self.ids) and dimensions == self.rows.shape[1]:
            wanted = np.asarray(ids, np.int64)
            places = np.minimum(np.searchsorted(self.ids, wanted), len(self.ids) - 1)
            there = (self.ids[places] == wanted) & self.live[places]
            rows[there] = self.rows[places[there]]
        return rows

    def _nearest(self, queries: Matrix, limit: int) -> list[Hits]:
        if not len(self.ids) or queries.shape[1] != self.rows.shape[1]:
            return [{} for _ in queries]
        scores = np.empty((len(queries), len(self.rows)), np.float32)
        step = max(1, _MULTIPLIED // queries.size)
        for start in range(0, len(self.rows), step):
            np.matmul(queries, self.rows[start : start + step].T, out=scores[:, start : start + step])
        scores[:, ~self.live] = -np.inf
        return [self._best(row, limit) for row in scores]

    def _best(self, scores: Matrix, limit: int) -> Hits:
        most = min(limit, int(self.live.sum()))
        if most == 0:
            return {}
        # All that reach the last place, so that which of several equals is left out does not depend on chance.
        last = np.partition(scores, len(scores) - most)[len(scores) - most]
        places = np.flatnonzero(scores >= last)
        order = places[np.lexsort((self.ids[places], -scores[places]))][:most]
        return dict(zip(self.ids[order].tolist(), scores[order].tolist(), strict=True))


class VectorStore:
    """One workspace and one model."""

    def __init__(self, folder: Path, workspace_id: WorkspaceId, model: str) -> None:
        self._folder = folder
        self._workspace_id = workspace_id
        self._model = model
        self._version = -1
        self._mapped: Matrix = np.zeros((0, 0), np.float32)
        self._now = VectorSnapshot(np.zeros(0, np.int64), self._mapped, np.zeros(0, np.bool_))
        self._lock = asyncio.Lock()

    async def current(self, database: Database, version: int | None) -> VectorSnapshot:
        """Of that version of the corpus at least. Whoever just looked it up spares a look at the database."""
        if version is not None and version == self._version:
            return self._now
        async with self._lock, database.read(self._workspace_id) as session:
            corpus = await session.get(KnowledgeCorpus, self._workspace_id)
            stored, passages = (corpus.version, corpus.passages) if corpus is not None else (0, 0)
            if stored != self._version:
                live = await self._still_there(session)
                await self._append(session, live, passages)
                self._version = stored
            return self._now

    async def _still_there(self, session: ReadSession) -> NDArray[np.bool_]:
        """Which of the rows are still good. All are forgotten when too many are not."""
        known, live = self._now.ids, self._now.live
        if not len(known):
            return live
        query = select(KnowledgeVector.passage_id).where(*self._mine(), KnowledgeVector.passage_id <= int(known[-1]))
        there = np.array((await session.scalars(query)).all(), np.int64)
        live = np.isin(known, there, assume_unique=True)
        if len(there) > live.sum() or 1 - live.mean() > _WASTE:
            # Vectors that came for old passages, as after damage, have their place in between.
            live = live[:0]
            self._now = VectorSnapshot(known[:0], self._now.rows[:0], live)
        return live

    async def _append(self, session: ReadSession, live: NDArray[np.bool_], expected: int) -> None:
        ids, good = [self._now.ids], [live]
        place = len(live)
        async for some, blobs in self._newer(session):
            rows, fine = await asyncio.to_thread(_parsed, blobs, self._mapped.shape[1] if place else 0)
            self._reserve(place + len(rows), rows.shape[1], expected, keep=place)
            self._mapped[place : place + len(rows)] = rows
            place += len(rows)
            ids.append(some)
            good.append(fine)
        self._now = VectorSnapshot(np.concatenate(ids), self._mapped[:place], np.concatenate(good))

    async def _newer(self, session: ReadSession) -> AsyncIterator[tuple[NDArray[np.int64], list[bytes]]]:
        """What is not among the rows yet, in order."""
        after = int(self._now.ids[-1]) if len(self._now.ids) else -1
        query = select(KnowledgeVector.passage_id, KnowledgeVector.vector).where(*self._mine())
        query = query.order_by(KnowledgeVector.passage_id).limit(_AT_ONCE)
        while rows := (await session.execute(query.where(KnowledgeVector.passage_id > after))).all():
            after = rows[-1][0]
            yield np.array([each for each, _ in rows], np.int64), [blob for _, blob in rows]

    def _mine(self) -> tuple[ColumnElement[bool], ...]:
        return KnowledgeVector.workspace_id == self._workspace_id, KnowledgeVector.model == self._model

    def _reserve(self, rows: int, dimensions: int, expected: int, *, keep: int) -> None:
        if keep and len(self._mapped) >= rows:
            return  # What is written anew from the beginning gets another file: a search may be reading this one.
        self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        shape = (max(1, int(max(rows, expected) * _GROWTH)), max(1, dimensions))
        with tempfile.TemporaryFile(dir=self._folder) as file:  # Without a name, it lives as long as its mapping.
            mapped: Matrix = np.memmap(file, np.float32, "w+", shape=shape)
        if keep:
            mapped[:keep] = self._mapped[:keep]
        self._mapped = mapped


class VectorStores:
    """Of every workspace that was asked lately."""

    def __init__(self, database: Database, folder: Path) -> None:
        self._database = database
        self._folder = folder
        self._stores: OrderedDict[tuple[WorkspaceId, str], VectorStore] = OrderedDict()

    async def snapshot(self, workspace_id: WorkspaceId, model: str, version: int | None = None) -> VectorSnapshot:
        key = (workspace_id, model)
        store = self._stores.pop(key, None) or VectorStore(self._folder, workspace_id, model)
        self._stores[key] = store
        while len(self._stores) > _OPEN:
            self._stores.popitem(last=False)
        return await store.current(self._database, version)


def _parsed(blobs: Sequence[bytes], dimensions: int) -> tuple[Matrix, NDArray[np.bool_]]:
    """The rows, and which of them are vectors of length 1. What is damaged is found by nobody until it is mended."""
    sizes = [len(blob) for blob in blobs]
    size = dimensions * 4 or max(set(sizes), key=sizes.count)
    size = max(4, size - size % 4)
    whole = [blob if len(blob) == size else bytes(size) for blob in blobs]
    rows = np.frombuffer(b"".join(whole), "<f4").reshape(len(blobs), -1).astype(np.float32, copy=False)
    with np.errstate(over="ignore", invalid="ignore"):
        lengths = np.linalg.norm(rows, axis=1)
    fine = np.abs(lengths - 1) < _NEARLY
    return np.where(fine[:, np.newaxis], rows, np.float32(0)), fine
