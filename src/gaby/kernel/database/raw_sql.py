"""Statements that bypass the ORM where it would cost too much, in the two spellings of the two engines."""

from collections.abc import Iterator, Sequence
from contextlib import AbstractAsyncContextManager, nullcontext
from datetime import UTC, datetime
from typing import Any, NamedTuple, Protocol
from uuid import UUID

from gaby.kernel.database.database import Database
from gaby.kernel.database.engines import Dialect

_BATCH = 1000


class Cursor(Protocol):
    def execute(self, statement: Any, parameters: Any = ..., /) -> Any: ...
    def executemany(self, statement: Any, parameters: Any, /) -> Any: ...
    def fetchone(self) -> Any: ...
    def fetchall(self) -> Any: ...
    def fetchmany(self, size: int = ..., /) -> Any: ...
    def close(self) -> None: ...

    @property
    def rowcount(self) -> int: ...


class Connection(Protocol):
    """What sqlite3, psycopg and the connections inside SQLAlchemy have in common."""

    def cursor(self, *args: Any, **kwargs: Any) -> Any: ...


class SqlStatement(NamedTuple):
    """A statement spelled with `?`, to be run in somebody else's transaction."""

    sql: str
    parameters: tuple[Any, ...]


class SqlRunner:
    """Runs statements written with `?` on either engine."""

    def __init__(self, connection: Connection, dialect: Dialect) -> None:
        self._connection = connection
        self.dialect: Dialect = dialect
        self._cursor: Cursor = connection.cursor()

    def run(self, statement: str, *parameters: object) -> None:
        self._cursor.execute(self._spelled(statement), parameters)

    def changed(self, statement: str, *parameters: object) -> int:
        """How many rows it touched."""
        self._cursor.execute(self._spelled(statement), parameters)
        return self._cursor.rowcount

    def many(self, statement: str, parameters: Sequence[tuple[object, ...]]) -> None:
        if parameters:
            self._cursor.executemany(self._spelled(statement), parameters)

    def all(self, statement: str, *parameters: object) -> list[tuple[Any, ...]]:
        self._cursor.execute(self._spelled(statement), parameters)
        return list(self._cursor.fetchall())

    def one(self, statement: str, *parameters: object) -> tuple[Any, ...] | None:
        self._cursor.execute(self._spelled(statement), parameters)
        return self._cursor.fetchone()

    def stream(self, statement: str, *parameters: object) -> Iterator[tuple[Any, ...]]:
        """Row after row with little memory. Postgres needs a named cursor for that."""
        named = {"name": "gaby_stream"} if self.dialect == "postgresql" else {}
        cursor: Cursor = self._connection.cursor(**named)
        try:
            cursor.execute(self._spelled(statement), parameters)
            while rows := cursor.fetchmany(_BATCH):
                yield from rows
        finally:
            cursor.close()

    def close(self) -> None:
        self._cursor.close()

    def _spelled(self, statement: str) -> str:
        return statement if self.dialect == "sqlite" else statement.replace("?", "%s")


def digits_of(value: object) -> str:
    """An id as both engines take it: SQLite stores the digits, Postgres reads them as a uuid."""
    return value.hex if isinstance(value, UUID) else str(value)


def moment_for(dialect: Dialect, moment: datetime) -> object:
    """A time in UTC as the ORM would have stored it."""
    moment = moment.astimezone(UTC)
    return moment if dialect == "postgresql" else moment.strftime("%Y-%m-%d %H:%M:%S.%f")


def across_workspaces(connection: Connection, *, scope: str = "*") -> None:
    """Postgres: lets the transaction see every workspace, or with a scope only that one again."""
    cursor: Cursor = connection.cursor()
    cursor.execute("SELECT set_config('gaby.workspace_id', %s, true)", (scope,))
    cursor.close()


def gate(db: Database) -> AbstractAsyncContextManager[Any]:
    """On SQLite the process has one writer at a time; on Postgres rows have locks of their own."""
    return db.gate if db.dialect == "sqlite" else nullcontext()


def begin(db: Database, connection: Any) -> None:
    if db.dialect == "sqlite":
        connection.execute("BEGIN IMMEDIATE")
    else:
        across_workspaces(connection)
