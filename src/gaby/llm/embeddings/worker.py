"""One thread for all local models, in turns: a question gets its turn between two batches of an indexing."""

import asyncio
from collections import deque
from collections.abc import AsyncGenerator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import numpy as np

from gaby.kernel.errors import Unavailable
from gaby.llm.embeddings.embedder import Embedder, Matrix
from gaby.llm.embeddings.errors import EmbeddingsBusy
from gaby.llm.embeddings.texts import batches

_TEXTS_AT_ONCE = 256
_SMALL_IN_A_ROW = 8


@dataclass(frozen=True)
class QueueSlots:
    """How many requests may wait: those that are done at once, and those that take several turns."""

    small: int = 256
    large: int = 16


@dataclass
class _Job:
    embedder: Embedder
    batches: deque[Sequence[str]]
    answer: asyncio.Future[Matrix]
    rows: list[Matrix] = field(default_factory=list[Matrix])


class EmbeddingWorker:
    """Two threads would fight for the same two cores, and both would take longer. Used from one event loop."""

    def __init__(self, places: QueueSlots | None = None) -> None:
        places = places or QueueSlots()
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="gaby-embeddings")
        self._free = {"small": asyncio.Semaphore(places.small), "large": asyncio.Semaphore(places.large)}
        self._small: deque[_Job] = deque()
        self._large: deque[_Job] = deque()
        self._small_in_a_row = 0
        self._now: _Job | None = None
        self._closed = False
        self._turns: asyncio.Task[None] | None = None

    async def embed(self, embedder: Embedder, texts: Sequence[str], *, wait: bool = True) -> Matrix:
        """When no place is free, waits for one, or raises `EmbeddingsBusy`."""
        parts = deque(batches(texts, characters=embedder.batch_characters, count=_TEXTS_AT_ONCE))
        if not parts:
            return np.zeros((0, embedder.dimensions), np.float32)
        is_small = len(parts) == 1
        async with self._place("small" if is_small else "large", wait=wait):
            if self._closed:
                raise Unavailable("Gaby is being stopped, and embeds nothing any more. Try again when it runs.")
            job = _Job(embedder, parts, asyncio.get_running_loop().create_future())
            (self._small if is_small else self._large).append(job)
            self._wake()
            return await job.answer

    async def close(self) -> None:
        """Whoever still waits is told by a cancellation. The batch that is being made is made to its end."""
        self._closed = True
        if self._turns is not None:
            self._turns.cancel()
        for job in (*self._small, *self._large, *([self._now] if self._now else [])):
            job.answer.cancel()
        self._small.clear()
        self._large.clear()
        await asyncio.to_thread(self._thread.shutdown)

    @asynccontextmanager
    async def _place(self, queue: str, *, wait: bool) -> AsyncGenerator[None]:
        if not wait and self._free[queue].locked():
            raise EmbeddingsBusy(retry_after=1)
        async with self._free[queue]:
            yield

    def _wake(self) -> None:
        if self._turns is None or self._turns.done():
            self._turns = asyncio.create_task(self._take_turns(), name="embeddings")

    async def _take_turns(self) -> None:
        while (job := self._next()) is not None:
            await self._turn(job)

    def _next(self) -> _Job | None:
        """Small ones first, but not so many that the large ones stand still."""
        for queue in (self._small, self._large):
            while queue and queue[0].answer.done():
                queue.popleft()  # Whoever asked has gone away.
        if self._small and (not self._large or self._small_in_a_row < _SMALL_IN_A_ROW):
            self._small_in_a_row += 1
            return self._small.popleft()
        self._small_in_a_row = 0
        return self._large.popleft() if self._large else None

    async def _turn(self, job: _Job) -> None:
        self._now = job
        batch = asyncio.get_running_loop().run_in_executor(self._thread, job.embedder.embed, job.batches.popleft())
        await asyncio.wait([batch])
        error = batch.exception()
        if job.answer.done():
            return
        if error is not None:  # It belongs to whoever asked, and the others get their turns.
            job.answer.set_exception(error)
            return
        job.rows.append(batch.result())
        if job.batches:
            self._large.append(job)
        else:
            job.answer.set_result(np.vstack(job.rows))
