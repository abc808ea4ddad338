"""The database as the rest of Gaby sees it: `read` and `write`, each one transaction limited to one scope."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import Any

from sqlalchemy import text
from sqlalchemy.exc import ArgumentError, SQLAlchemyError

from gaby.kernel.database.engines import DatabaseEngine, Dialect
from gaby.kernel.database.faults import is_refused_write, translate
from gaby.kernel.database.postgres import PostgresEngine, is_postgres
from gaby.kernel.database.scope import Scope
from gaby.kernel.database.sessions import InTransaction, ReadOnly, ReadSession, WriteSession
from gaby.kernel.database.sqlite import SqliteEngine
from gaby.kernel.errors import GabyError, Misconfigured
from gaby.kernel.events import AfterCommit
from gaby.kernel.ids import SYSTEM
from gaby.kernel.log import get_log

_log = get_log(__name__)
_write: ContextVar[WriteSession | None] = ContextVar("write", default=None)
"""The write this task runs in. A task started inside inherits it, so whether it is still open is asked of itself."""


class NestedWrite(GabyError):
    """A second write was opened inside a write session; it would wait for itself. This is a bug in Gaby."""


class Database:
    def __init__(self, engine: DatabaseEngine) -> None:
        self.engine = engine
        self.gate = asyncio.Lock()
        """Held by whoever writes on SQLite, where a second writer in the process could only wait anyway."""
        self._in_transaction: list[InTransaction] = []
        self._after_commit: list[AfterCommit] = []

    @property
    def dialect(self) -> Dialect:
        return self.engine.dialect

    def raw_connection(self) -> Any:
        return self.engine.raw_connection()

    def on_events(self, listener: InTransaction, *, first: bool = False) -> None:
        """Hear every event inside its transaction; if the listener fails, nothing is committed.

        Whoever changes rows comes before the audit log, which holds its lock until the end.
        """
        self._in_transaction.insert(0 if first else len(self._in_transaction), listener)

    def after_commit(self, listener: AfterCommit) -> None:
        """Hear every event once it is committed."""
        self._after_commit.append(listener)

    @staticmethod
    def in_write_session() -> bool:
        write = _write.get()
        return write is not None and write.open

    @asynccontextmanager
    async def read(self, scope: Scope) -> AsyncGenerator[ReadSession]:
        try:
            # Closing it may fail as well: whoever was about to give its connection back finds a dead server.
            async with ReadSession(self.engine.reader, scope) as session:
                await self.engine.enter(session)
                yield session
                session.sync_session.flush()  # Raises when something was changed here, which would be forgotten.
        except SQLAlchemyError as error:
            raise ReadOnly if is_refused_write(error) else translate(error) from error

    @asynccontextmanager
    async def write(self, scope: Scope) -> AsyncGenerator[WriteSession]:
        if self.in_write_session():
            raise NestedWrite
        try:
            async with AsyncExitStack() as stack:
                if self.dialect == "sqlite":
                    await stack.enter_async_context(self.gate)
                session = await stack.enter_async_context(WriteSession(self.engine.writer, scope))
                session.open = True
                _write.set(session)
                try:
                    await self.engine.enter(session)
                    yield session
                    await self._commit(session)
                finally:
                    session.open = False
        except SQLAlchemyError as error:
            raise translate(error) from error
        for event in session.events:
            # A copy: a listener may build a service that listens from now on.
            for listener in tuple(self._after_commit):
                try:
                    await listener(event)
                except Exception as error:  # noqa: BLE001
                    # What was written is written. Whoever wrote it must not take it for failed.
                    _log.error("listener.failed", news=event.name, error=repr(error))

    async def _commit(self, session: WriteSession) -> None:
        await session.run_before_commit()
        if session.events:
            for listener in self._in_transaction:
                await listener(session, session.events)
        await session.commit()

    async def ping(self) -> None:
        """Raise when the database does not answer."""
        async with self.read(SYSTEM) as session:
            await session.execute(text("SELECT 1"))

    async def refresh_statistics(self) -> None:
        """Connections that are opened afterwards plan by them. Postgres keeps its own."""
        if isinstance(self.engine, SqliteEngine):
            async with self.gate:
                await asyncio.to_thread(self.engine.analyze)

    async def close(self) -> None:
        await self.engine.reader.dispose()
        await self.engine.writer.dispose()


def open_database(
    url: str, *, role: str = "gaby_app", migration_url: str | None = None, pool_size: int = 20
) -> Database:
    """The engine that the URL names. Nothing is connected or created yet."""
    try:
        if is_postgres(url):
            return Database(PostgresEngine(url, role=role, migration_url=migration_url, pool_size=pool_size))
    except (ArgumentError, ValueError):
        # Without the cause, which would show the password to whoever reads the log.
        raise Misconfigured(
            "GABY_DATABASE_URL or GABY_DATABASE_MIGRATION_URL is not a database URL. "
            "Use sqlite:///PATH or postgresql://USER:PASSWORD@HOST/NAME."
        ) from None
    path = url.removeprefix("sqlite:///")
    if path in {url, "", ":memory:"} or "\0" in path:
        raise Misconfigured("GABY_DATABASE_URL must be sqlite:///PATH or postgresql://USER:PASSWORD@HOST/NAME.")
    return Database(SqliteEngine(Path(path)))
