"""Group commit: many tasks append, one thread writes, one fsync serves them all."""

import asyncio
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from contextvars import Context
from functools import partial
from typing import Any

from gaby.audit.errors import AuditUnavailable, AuditWouldWaitForItself, FenceBroken
from gaby.audit.fences import standing
from gaby.audit.rows import AuditRow, Draft
from gaby.audit.sql import Sql
from gaby.audit.store import Appender
from gaby.audit.transactions import begin, gate
from gaby.kernel.database import Database
from gaby.kernel.errors import GabyError
from gaby.kernel.failpoints import failpoint
from gaby.kernel.log import get_log

_log = get_log(__name__)


Waiter = asyncio.Future[AuditRow]


class GroupCommit:
    def __init__(self, db: Database, appender: Appender, *, max_batch: int = 512) -> None:
        self._db = db
        self._appender = appender
        self._max_batch = max_batch
        self._drafts: list[Draft] = []
        self._waiters: list[Waiter] = []
        self._wake = asyncio.Event()
        self._pump: asyncio.Task[None] | None = None
        self._stopping = False
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="gaby-audit")
        self._connection: Any = None
        self._committing = False
        self.trouble: str | None = None
        """What went wrong at the last write; None once a write succeeded."""

    async def append(self, draft: Draft) -> AuditRow:
        """Returns when the row is on disk. `AuditUnavailable` means that it must be taken as not written."""
        if self._db.in_write_session():
            raise AuditWouldWaitForItself
        if self._stopping:
            raise AuditUnavailable("Gaby is shutting down and takes no more audit rows.")
        if self._pump is None:
            # An empty context, because the task outlives the request that happens to come first.
            self._pump = asyncio.create_task(self._run(), name="audit writer", context=Context())
        written = self._pump.get_loop().create_future()
        self._drafts.append(draft)
        self._waiters.append(written)
        if len(self._drafts) == 1:
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
        while self._drafts or not self._stopping:
            if self._drafts:
                await self._write_batch()
            else:
                self._wake.clear()
                await self._wake.wait()

    async def _write_batch(self) -> None:
        async with gate(self._db):
            drafts, self._drafts = self._drafts[: self._max_batch], self._drafts[self._max_batch :]
            waiters, self._waiters = self._waiters[: self._max_batch], self._waiters[self._max_batch :]
            loop = asyncio.get_running_loop()
            written: asyncio.Future[None] = loop.create_future()
            writing = self._thread.submit(self._write, drafts)
            # One message from the thread wakes everybody; awaiting the write itself would take more turns of the loop.
            tell = partial(self._told, waiters, written)
            writing.add_done_callback(lambda done: loop.call_soon_threadsafe(tell, done))
            await written

    def _told(
        self, waiters: list[Waiter], written: asyncio.Future[None], writing: Future[list[AuditRow | None]]
    ) -> None:
        error = writing.exception()
        if not written.done():
            written.set_result(None)
        self.trouble = None if error is None else AuditUnavailable().message
        if error is not None:
            expected = isinstance(error, (*self._db.engine.driver_errors, GabyError))
            _log.error("audit.unavailable", rows=len(waiters), error=repr(error), exc_info=None if expected else error)
            for waiter in waiters:
                if not waiter.done():
                    waiter.set_exception(AuditUnavailable())
            return
        for waiter, row in zip(waiters, writing.result(), strict=True):
            if waiter.done():
                continue
            if row is None:
                waiter.set_exception(FenceBroken())
            else:
                waiter.set_result(row)

    def _write(self, drafts: list[Draft]) -> list[AuditRow | None]:
        was_open = self._connection is not None
        try:
            return self._attempt(drafts)
        except self._db.engine.driver_errors:
            # The server may have closed a connection that was idle; nothing was committed over it.
            if not was_open or self._committing or self._db.dialect == "sqlite":
                raise
            return self._attempt(drafts)

    def _attempt(self, drafts: list[Draft]) -> list[AuditRow | None]:
        """A row for each draft, in order; none for a draft whose fence is broken."""
        self._committing = False
        try:
            if self._connection is None:
                self._connection = self._db.raw_connection()
            connection = self._connection
            begin(self._db, connection)
            holds = self._standing(connection, drafts)
            kept = [draft for draft, held in zip(drafts, holds, strict=True) if held]
            rows = iter(self._appender.append(connection, self._db.dialect, kept))
            failpoint("audit.before_commit")
            self._committing = True
            connection.commit()
            failpoint("audit.after_commit")
        except BaseException:
            self._disconnect()
            raise
        return [next(rows) if held else None for held in holds]

    def _standing(self, connection: Any, drafts: list[Draft]) -> list[bool]:
        if not any(draft.fence for draft in drafts):
            return [True] * len(drafts)
        sql = Sql(connection, self._db.dialect)
        try:
            return standing(sql, [draft.fence for draft in drafts])
        finally:
            sql.close()

    def _disconnect(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            with suppress(*self._db.engine.driver_errors):
                connection.rollback()
            with suppress(*self._db.engine.driver_errors):
                connection.close()
