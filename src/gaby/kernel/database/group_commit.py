"""Group commit: many tasks ask, one thread writes, one fsync serves them all."""

import asyncio
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from contextvars import Context
from functools import partial
from typing import Any, Generic, TypeVar

from gaby.kernel.database.database import Database, NestedWrite
from gaby.kernel.database.raw_sql import Connection, begin, gate
from gaby.kernel.errors import GabyError, Unavailable
from gaby.kernel.failpoints import failpoint
from gaby.kernel.log import get_log

_log = get_log(__name__)

Job = TypeVar("Job")
Result = TypeVar("Result")


class GroupCommit(Generic[Job, Result]):
    """`write` does a batch of jobs in one transaction. What it returns for a job goes to whoever asked for that job:
    a result, or an error that is raised there and does not trouble the others. What it raises undoes the batch."""

    def __init__(
        self,
        db: Database,
        write: Callable[[Connection, Sequence[Job]], Sequence[Result | GabyError]],
        *,
        name: str,
        unavailable: type[Unavailable] = Unavailable,
        nested: type[GabyError] = NestedWrite,
        max_batch: int = 512,
    ) -> None:
        self._db = db
        self._write_entries = write
        self._name = name
        self._unavailable = unavailable
        self._nested = nested
        self._max_batch = max_batch
        self._jobs: list[Job] = []
        self._waiters: list[asyncio.Future[Result]] = []
        self._wake = asyncio.Event()
        self._pump: asyncio.Task[None] | None = None
        self._stopping = False
        self._thread = ThreadPoolExecutor(1, thread_name_prefix=f"gaby-{name}")
        self._connection: Any = None
        self._committing = False
        self.trouble: str | None = None
        """What went wrong at the last write; None once a write succeeded."""

    async def put(self, job: Job) -> Result:
        """Returns when it is on disk. `Unavailable` means that it must be taken as not written."""
        if self._db.in_write_session():
            raise self._nested
        if self._stopping:
            raise self._unavailable("Gaby is shutting down and writes nothing more.")
        if self._pump is None:
            # An empty context, because the task outlives the request that happens to come first.
            self._pump = asyncio.create_task(self._run(), name=f"{self._name} writer", context=Context())
        written: asyncio.Future[Result] = self._pump.get_loop().create_future()
        self._jobs.append(job)
        self._waiters.append(written)
        if len(self._jobs) == 1:
            self._wake.set()
        return await written

    async def stop(self) -> None:
        """Writes what is waiting, then ends."""
        self._stopping = True
        self._wake.set()
        if self._pump is not None:
            await self._pump
        self._thread.shutdown()
        self._disconnect()

    async def _run(self) -> None:
        while self._jobs or not self._stopping:
            if self._jobs:
                await self._write_batch()
            else:
                self._wake.clear()
                await self._wake.wait()

    async def _write_batch(self) -> None:
        async with gate(self._db):
            jobs, self._jobs = self._jobs[: self._max_batch], self._jobs[self._max_batch :]
            waiters, self._waiters = self._waiters[: self._max_batch], self._waiters[self._max_batch :]
            loop = asyncio.get_running_loop()
            written: asyncio.Future[None] = loop.create_future()
            writing = self._thread.submit(self._write, jobs)
            # One message from the thread wakes everybody; awaiting the write itself would take more turns of the loop.
            tell = partial(self._deliver_results, waiters, written)
            writing.add_done_callback(lambda done: loop.call_soon_threadsafe(tell, done))
            await written

    def _deliver_results(
        self,
        waiters: list[asyncio.Future[Result]],
        written: asyncio.Future[None],
        writing: Future[Sequence[Result | GabyError]],
    ) -> None:
        error = writing.exception()
        if not written.done():
            written.set_result(None)
        self.trouble = None if error is None else self._unavailable().message
        if error is not None:
            expected = isinstance(error, (*self._db.engine.driver_errors, GabyError))
            event = f"{self._name}.unavailable"
            _log.error(event, rows=len(waiters), error=repr(error), exc_info=None if expected else error)
            for waiter in waiters:
                if not waiter.done():
                    waiter.set_exception(self._unavailable())
            return
        for waiter, result in zip(waiters, writing.result(), strict=True):
            if waiter.done():
                continue
            if isinstance(result, GabyError):
                waiter.set_exception(result)
            else:
                waiter.set_result(result)

    def _write(self, jobs: Sequence[Job]) -> Sequence[Result | GabyError]:
        was_open = self._connection is not None
        try:
            return self._attempt(jobs)
        except self._db.engine.driver_errors:
            # The server may have closed a connection that was idle; nothing was committed over it.
            if not was_open or self._committing or self._db.dialect == "sqlite":
                raise
            return self._attempt(jobs)

    def _attempt(self, jobs: Sequence[Job]) -> Sequence[Result | GabyError]:
        self._committing = False
        try:
            if self._connection is None:
                self._connection = self._db.raw_connection()
            connection = self._connection
            begin(self._db, connection)
            results = self._write_entries(connection, jobs)
            failpoint(f"{self._name}.before_commit")
            self._committing = True
            connection.commit()
            failpoint(f"{self._name}.after_commit")
        except BaseException:
            self._disconnect()
            raise
        return results

    def _disconnect(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            with suppress(*self._db.engine.driver_errors):
                connection.rollback()
            with suppress(*self._db.engine.driver_errors):
                connection.close()
