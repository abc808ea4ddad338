"""SQLite: the embedded default. Many readers, one writer, WAL, every commit on disk."""

import asyncio
import errno
import os
import sqlite3
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

from sqlalchemy import URL, Engine, event
from sqlalchemy.ext.asyncio import AsyncEngine, create_async_engine

from gaby.kernel.database.engines import Dialect
from gaby.kernel.database.faults import unusable_file
from gaby.kernel.database.guard import install_guard
from gaby.kernel.database.sessions import ReadSession
from gaby.kernel.database.sqlite_driver import OneTripConnection

APPLICATION_ID = 0x47414259  # "GABY": how we know the file is ours.
BUSY_SECONDS = 5.0
_ANALYSED = 400


class SqliteEngine:
    dialect: Dialect = "sqlite"

    def __init__(self, path: Path) -> None:
        self.path = path
        self.reader = self._engine(pool_size=4, begin="BEGIN", query_only=True)
        # One connection: inside the process writers queue here instead of colliding in the file.
        self.writer = self._engine(pool_size=1, begin="BEGIN IMMEDIATE", query_only=False)

    @property
    def driver_errors(self) -> tuple[type[Exception], ...]:
        return (sqlite3.Error, OSError)

    async def enter(self, session: ReadSession) -> None:
        await session.enter()

    def raw_connection(self) -> sqlite3.Connection:
        connection = sqlite3.connect(
            f"{_uri(self.path)}?mode=rw", uri=True, isolation_level=None, timeout=BUSY_SECONDS, check_same_thread=False
        )
        try:
            _prepare(connection.cursor(), query_only=False)
        except BaseException:
            connection.close()
            raise
        return connection

    def analyze(self) -> None:
        """Tell the planner how the rows lie. Of each index only some are looked at, so it takes milliseconds."""
        with closing(self.raw_connection()) as connection:
            connection.execute(f"PRAGMA analysis_limit = {_ANALYSED}")
            connection.execute("ANALYZE")

    def migration_url(self) -> str:
        return _url("sqlite", self.path).render_as_string(hide_password=False)

    def _engine(self, *, pool_size: int, begin: str, query_only: bool) -> AsyncEngine:
        engine = create_async_engine(
            _url("sqlite+aiosqlite", self.path),
            pool_size=pool_size,
            max_overflow=0,
            pool_timeout=10,
            connect_args={"timeout": BUSY_SECONDS, "async_creator_fn": OneTripConnection},
            hide_parameters=True,  # Values are people's data; errors end up in logs.
        )
        _check_file_before_connecting(engine.sync_engine, self.path)
        _take_over_transactions(engine.sync_engine, begin, query_only=query_only)
        install_guard(engine.sync_engine)
        return engine


def _url(driver: str, path: Path) -> URL:
    # `rw` and not `rwc`: only an upgrade creates the file, with the rights it should have.
    return URL.create(driver, database=_uri(path), query={"mode": "rw", "uri": "true"})


def _uri(path: Path) -> str:
    return path.absolute().as_uri()


def file_size(path: Path) -> int:
    """Of the database's file; an `OSError` when it cannot be one, or cannot be read.

    Never by opening it: closing any descriptor of a file drops all the locks that this process has on it, and with them
    the only thing that keeps another process from throwing our log away.
    """
    size = path.stat().st_size
    if path.is_dir():
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
    if not os.access(path, os.R_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
    return size


def _check_file_before_connecting(engine: Engine, path: Path) -> None:
    def connecting(*_: object) -> None:
        try:
            file_size(path)
        except OSError as error:
            raise unusable_file(path, error) from error

    event.listen(engine, "do_connect", connecting)


def _take_over_transactions(engine: Engine, begin: str, *, query_only: bool) -> None:
    def connected(connection: Any, _record: object) -> None:
        connection.isolation_level = None  # The driver must not begin on its own; we choose how.
        cursor = connection.cursor()
        _prepare(cursor, query_only=query_only)
        cursor.close()

    def begun(connection: Any) -> None:
        if query_only:
            # Who reads sees the moment of the first statement, so the transaction may as well begin with it.
            connection.connection.driver_connection.begin_with(begin)
        else:
            connection.exec_driver_sql(begin)

    def invalidated(connection: Any, _record: object, _error: object) -> None:
        # A cancelled task leaves its statement running, and closing does not end a transaction with an open
        # statement: the file would stay locked until the garbage collector comes by.
        with suppress(sqlite3.Error, asyncio.CancelledError):
            connection.run_async(_interrupt)
            connection.rollback()

    event.listen(engine, "connect", connected)
    event.listen(engine, "begin", begun)
    event.listen(engine, "invalidate", invalidated)


async def _interrupt(driver: Any) -> None:
    await driver.interrupt()


def _prepare(cursor: Any, *, query_only: bool) -> None:
    cursor.execute("PRAGMA foreign_keys = ON")
    cursor.execute("PRAGMA secure_delete = ON")  # A shredded key must not survive in free pages.
    cursor.execute("PRAGMA synchronous = FULL")
    cursor.execute("PRAGMA trusted_schema = OFF")
    if query_only:
        cursor.execute("PRAGMA query_only = ON")
    else:
        cursor.execute("PRAGMA journal_mode = WAL")
