"""A connection that cannot write: one statement, in a read-only transaction, through a cursor, within bounds.

`DECLARE CURSOR` takes nothing but a query, and the extended protocol takes nothing but one statement, so there is no
second statement that could end the transaction. Which functions a query may call is decided before: see `allowed`.
"""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from typing import Any, NamedTuple, cast

import psycopg
from psycopg import AsyncConnection, errors
from psycopg.abc import Buffer
from psycopg.adapt import Loader

from gaby_connectors.postgres.allowed_functions import check_allowed
from gaby_connectors.postgres.config import PostgresConfig
from gaby_connectors.postgres.conninfo import pinned_conninfo
from gaby_connectors.postgres.statement import parse_query
from gaby_connectors.sdk.address_guard import AddressNotAllowed, from_environment
from gaby_connectors.sdk.backend import Backend
from gaby_connectors.sdk.errors import ToolError, denied, invalid, transient
from gaby_connectors.sdk.manifest import ErrorKind

_BATCH = 50
_MOST_BYTES = 400_000
_AS_TEXT = ("date", "time", "timetz", "timestamp", "timestamptz", "interval", "numeric", "money")


class TextLoader(Loader):
    """Keeps the server's own spelling: not every value of these types has one in Python, `infinity` for instance."""

    def load(self, data: Buffer) -> str:
        return bytes(data).decode("utf-8", "replace")


class QueryRows(NamedTuple):
    columns: list[str]
    rows: list[list[Any]]
    complete: bool


class PostgresDatabase(Backend):
    config: PostgresConfig

    async def ask(self, query: str, limit: int) -> QueryRows:
        """The rows of somebody's own query."""
        statement = parse_query(query)
        async with self._reading() as connection:
            await check_allowed(connection, statement, self.config.allow_functions)
            await connection.execute(b"DECLARE gaby NO SCROLL CURSOR FOR " + statement.sql, prepare=True)
            return await _fetched(connection, limit)

    async def explain_query(self, query: str) -> Any:
        statement = parse_query(query)
        async with self._reading() as connection:
            # Planning evaluates functions, so a plan needs the same permission as an answer.
            await check_allowed(connection, statement, self.config.allow_functions)
            cursor = await connection.execute(b"EXPLAIN (FORMAT JSON) " + statement.sql, prepare=True)
            row = await cursor.fetchone()
            return row[0] if row else []

    async def look_up(self, query: bytes, *values: str) -> list[dict[str, Any]]:
        """One of the connector's own queries."""
        async with self._reading() as connection:
            cursor = await connection.execute(query, values)
            names = [column.name for column in cursor.description or ()]
            return [dict(zip(names, map(plain, row), strict=True)) for row in await cursor.fetchmany(5000)]

    async def check(self) -> str:
        rows = await self.look_up(b"SELECT current_database() AS db, current_setting('server_version') AS version")
        return f"Postgres {rows[0]['version']} answers, database {rows[0]['db']}."

    def explain(self, error: Exception) -> Exception:
        match error:
            case AddressNotAllowed():
                return denied(str(error))
            case errors.QueryCanceled() | TimeoutError():
                return ToolError(
                    ErrorKind.PERMANENT, f"The query took longer than {self.config.seconds:g} s. Ask for less."
                )
            case errors.ReadOnlySqlTransaction() | errors.InsufficientPrivilege():
                return denied(f"Not allowed: {_error_message(error)}")
            case psycopg.OperationalError():
                refused = "authentication failed" in str(error) or isinstance(error, errors.InvalidPassword)
                return _no_login() if refused else transient("Postgres does not answer.")
            case psycopg.Error():
                return invalid(f"Postgres says: {_error_message(error)}")
            case _:
                return error

    @asynccontextmanager
    async def _reading(self) -> AsyncGenerator[AsyncConnection[tuple[Any, ...]]]:
        async with asyncio.timeout(self.config.seconds + 10):
            connection = await AsyncConnection.connect(
                await pinned_conninfo(self.config.url.get_secret_value(), from_environment()),
                connect_timeout=8,
                application_name="gaby",
                options=_options(self.config),
            )
            async with connection:
                for name in _AS_TEXT:
                    connection.adapters.register_loader(name, TextLoader)
                await connection.set_read_only(True)
                await self._refuse_superuser(connection)
                yield connection
                await connection.rollback()

    async def _refuse_superuser(self, connection: AsyncConnection[tuple[Any, ...]]) -> None:
        if not self.config.allow_superuser:
            cursor = await connection.execute("SELECT current_setting('is_superuser')")
            if await cursor.fetchone() == ("on",):
                raise denied(
                    "The role is a superuser, who can read files and run programs on the server. "
                    "Make a role that may only read, or set POSTGRES_ALLOW_SUPERUSER=true."
                )


async def _fetched(connection: AsyncConnection[tuple[Any, ...]], limit: int) -> QueryRows:
    rows: list[list[Any]] = []
    used = 0
    columns: list[str] = []
    while len(rows) <= limit:
        cursor = await connection.execute(f"FETCH {min(_BATCH, limit + 1 - len(rows))} FROM gaby".encode())
        columns = [column.name for column in cursor.description or ()]
        batch = await cursor.fetchall()
        if not batch:
            return QueryRows(columns, rows, complete=True)
        for row in batch:
            used += sum(len(str(value)) for value in row)
            if used > _MOST_BYTES and rows:
                return QueryRows(columns, rows, complete=False)
            rows.append([plain(value) for value in row])
    return QueryRows(columns, rows[:limit], complete=False)


def plain(value: Any) -> Any:
    """A value that JSON knows."""
    match value:
        case None | bool() | str():
            return value
        case int() | float():
            # JSON has no infinity, and larger numbers lose digits in most readers.
            return value if abs(value) < 2**53 else str(value)
        case bytes() | bytearray() | memoryview():
            return "\\x" + bytes(cast("bytes", value)).hex()
        case list() | tuple():
            return [plain(part) for part in cast("Sequence[Any]", value)]
        case dict():
            return {str(key): plain(part) for key, part in cast("dict[Any, Any]", value).items()}
        case _:
            return str(value)


def _options(config: PostgresConfig) -> str:
    limit = int(config.seconds * 1000)
    return (
        f"-c default_transaction_read_only=on -c statement_timeout={limit} -c lock_timeout={min(limit, 3000)} "
        f"-c idle_in_transaction_session_timeout={limit + 10_000} -c client_encoding=UTF8 "
        # As the parser reads it that decides what is allowed.
        "-c standard_conforming_strings=on"
    )


def _error_message(error: psycopg.Error) -> str:
    return (error.diag.message_primary or type(error).__name__)[:500]


def _no_login() -> ToolError:
    return ToolError(ErrorKind.AUTH_EXPIRED, "Postgres does not accept the user or the password of this connector.")
