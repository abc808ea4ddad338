"""SQLite's connection for the event loop: each statement goes to the connection's thread once, and comes back with all
of its rows.

The driver below makes four trips of it: for the cursor, the statement, the rows, and to close the cursor. A trip wakes
two threads and costs more than most statements do.
"""

import sqlite3
from collections import deque
from collections.abc import Sequence
from typing import Any, Self

import aiosqlite


class OneTripConnection(aiosqlite.Connection):
    def __init__(self, database: str, **options: Any) -> None:
        super().__init__(lambda: sqlite3.connect(database, **options), iter_chunk_size=64)
        # A process that ends must not wait for it.
        self._thread.daemon = True
        self._begin_with: str | None = None

    def begin_with(self, statement: str) -> None:
        """Begin a transaction with the first statement, on the same trip."""
        self._begin_with = statement

    def cursor(self) -> Any:
        return OneTripCursor(self)

    async def commit(self) -> None:
        await self._end(super().commit)

    async def rollback(self) -> None:
        await self._end(super().rollback)

    async def run(self, statement: str, parameters: Any, *, many: bool) -> "StatementResult":
        # The driver does not say what it takes.
        return await self._execute(self._run, statement, parameters, many)  # pyright: ignore[reportUnknownMemberType]

    async def _end(self, end: Any) -> None:
        if self._begin_with is None:
            await end()
        self._begin_with = None  # Nothing was run, so nothing has begun.

    def _run(self, statement: str, parameters: Any, many: object) -> "StatementResult":
        begin, self._begin_with = self._begin_with, None
        if begin is not None:
            self._conn.execute(begin)
        cursor = self._conn.cursor()
        try:
            if many:
                cursor.executemany(statement, parameters)
            else:
                cursor.execute(statement, parameters)
            rows = cursor.fetchall() if cursor.description else []
            return StatementResult(rows, cursor)
        finally:
            cursor.close()


class StatementResult:
    """What is known of a statement once it has been run."""

    def __init__(self, rows: list[Any], cursor: sqlite3.Cursor | None = None) -> None:
        self.rows = deque(rows)
        self.description: Any = cursor.description if cursor else None
        self.rowcount = cursor.rowcount if cursor else -1
        self.lastrowid = cursor.lastrowid if cursor else None


class OneTripCursor:
    """What SQLAlchemy asks of a cursor. Only `execute` and `executemany` go anywhere."""

    arraysize = 1

    def __init__(self, connection: OneTripConnection) -> None:
        self._connection = connection
        self._answered = StatementResult([])

    async def __aenter__(self) -> Self:
        return self

    async def execute(self, statement: str, parameters: Any = ()) -> Self:
        self._answered = await self._connection.run(statement, parameters, many=False)
        return self

    async def executemany(self, statement: str, parameters: Any) -> Self:
        self._answered = await self._connection.run(statement, parameters, many=True)
        return self

    async def fetchone(self) -> Any:
        return self._answered.rows.popleft() if self._answered.rows else None

    async def fetchmany(self, size: int | None = None) -> Sequence[Any]:
        rows = self._answered.rows
        return [rows.popleft() for _ in range(min(size or self.arraysize, len(rows)))]

    async def fetchall(self) -> Sequence[Any]:
        rows, self._answered.rows = self._answered.rows, deque[Any]()
        return rows

    async def close(self) -> None:
        """The real one was closed when its rows had been read."""

    @property
    def description(self) -> Any:
        return self._answered.description

    @property
    def rowcount(self) -> int:
        return self._answered.rowcount

    @property
    def lastrowid(self) -> int | None:
        return self._answered.lastrowid
