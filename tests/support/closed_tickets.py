"""A database as it looks after years of work: copies of one closed ticket, with everything that it left behind."""

from collections.abc import Iterable
from contextlib import closing
from typing import Any

from sqlalchemy import Column, LargeBinary, Table, Text, Uuid, func, select

from gaby.audit.rows import RowDraft
from gaby.audit.store import Appender
from gaby.kernel.database import AllWorkspaces, Base, Database, UtcDateTime
from gaby.kernel.database.engines import Dialect
from gaby.kernel.database.raw_sql import across_workspaces
from gaby.kernel.ids import TicketId, WorkspaceId

_ALL = AllWorkspaces("a test looks at every table")
_AGE = 24 * 60
"""Minutes. What is a day old is no neighbour of a new ticket any more."""
_SHARED = {"workspace_id", "desk_id", "person_id", "source_id", "document_id"}
"""What closed tickets have in common, so that their copies point to the same."""
_OF_TICKET = {"ticket_id", "lead_ticket_id"}
_UNIQUE_TEXTS = {
    "tickets": "external_id",
    "ticket_messages": "external_id",
    "usage_counters": "key",
    "data_keys": "subject",
    "knowledge_citations": "content_hash",
}
_SETTLED = {
    ("investigations", "weigh_at"): "NULL",
    ("kb_candidates", "state"): "'archived'",
    ("usage_counters", "updated_at"): "t.updated_at",  # Those that are old are forgotten.
}
"""What is decided once a ticket has been closed for long."""
_NUMBERS: dict[Dialect, str] = {
    "sqlite": (
        "CREATE TEMP TABLE copies AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {copies})"
        " SELECT i AS number, printf('%08x', i) AS prefix,"
        " strftime('%Y-%m-%d %H:%M:%S.000000', 'now', '-' || (i + {age}) || ' minutes') AS moment FROM n"
    ),
    "postgresql": (
        "CREATE TEMP TABLE copies AS SELECT i AS number, lpad(to_hex(i), 8, '0') AS prefix,"
        " now() - (i + {age}) * interval '1 minute' AS moment FROM generate_series(1, {copies}) AS n(i)"
    ),
}
_NO_BYTES = "''::bytea"
_LOG = "audit_rows"
_OF_THE_LOG = {_LOG, "audit_checkpoints", "audit_tiles"}


async def row_counts(database: Database) -> dict[str, int]:
    async with database.read(_ALL) as session:
        return {
            table.name: (await session.scalars(select(func.count()).select_from(table))).one()
            for table in Base.metadata.sorted_tables
        }


def add_closed_tickets(
    database: Database,
    appender: Appender,
    workspace_id: WorkspaceId,
    ticket_id: TicketId,
    tables: Iterable[str],
    copies: int,
) -> None:
    """Copies of a ticket: one row of each table for each, every ticket a minute older than the one before."""
    wanted = set(tables)
    with closing(database.raw_connection()) as connection:
        cursor: Any = connection.cursor()
        if database.dialect == "sqlite":
            # A scratch database: nothing of it has to survive, and every copy has its parents.
            cursor.execute("PRAGMA synchronous = OFF")
            cursor.execute("PRAGMA foreign_keys = OFF")
            cursor.execute("PRAGMA cache_size = -200000")
            cursor.execute("BEGIN IMMEDIATE")
        else:
            across_workspaces(connection)
        cursor.execute(_NUMBERS[database.dialect].format(copies=copies, age=_AGE))
        for table in Base.metadata.sorted_tables:
            if table.name in wanted - _OF_THE_LOG:
                cursor.execute(_copying(database.dialect, table, workspace_id, ticket_id))
        if _LOG in wanted:
            # A log that can be signed and verified, so it is written as any other.
            draft = RowDraft(workspace_id, "system", "test", "ticket.closed", "{}")
            appender.append(connection, database.dialect, [draft] * copies)
        connection.commit()
        if database.dialect == "sqlite":
            # Otherwise the next who commits would have to bring all of it home.
            cursor.execute("PRAGMA wal_checkpoint(TRUNCATE)")


def _copying(dialect: Dialect, table: Table, workspace_id: WorkspaceId, ticket_id: TicketId) -> str:
    columns: list[Column[Any]] = list(table.columns)
    values = ", ".join(_value(dialect, table, column, ticket_id) for column in columns)
    names = ", ".join(f'"{column.name}"' for column in columns)
    first = (
        f"SELECT * FROM {table.name} WHERE workspace_id = '{workspace_id.hex}'{_condition(table, ticket_id)} LIMIT 1"  # noqa: S608
    )
    return f"INSERT INTO {table.name} ({names}) SELECT {values} FROM copies, ({first}) t ORDER BY copies.number"  # noqa: S608


def _condition(table: Table, ticket_id: TicketId) -> str:
    """So that the copies in all tables belong to copies of the same ticket, and of its first run."""
    run = f"(SELECT id FROM investigations WHERE ticket_id = '{ticket_id.hex}' ORDER BY id LIMIT 1)"  # noqa: S608
    if table.name == "tickets":
        return f" AND id = '{ticket_id.hex}'"
    if table.name == "investigations":
        return f" AND id = {run}"
    if "run_id" in table.c:
        return f" AND run_id = {run}"
    return f" AND ticket_id = '{ticket_id.hex}'" if "ticket_id" in table.c else ""


def _value(dialect: Dialect, table: Table, column: Column[Any], ticket_id: TicketId) -> str:
    if (settled := _SETTLED.get((table.name, column.name))) is not None:
        return settled
    if column.name == _UNIQUE_TEXTS.get(table.name):
        return "'copy ' || copies.number"
    if column.name == "number":
        return "1000000 + copies.number"
    # What points to a ticket points to a copy of this one, whichever it was.
    old = f"'{ticket_id if dialect == 'postgresql' else ticket_id.hex}'" if column.name in _OF_TICKET else ""
    return _copied(dialect, column, old or f't."{column.name}"')


def _copied(dialect: Dialect, column: Column[Any], old: str) -> str:
    sqlite = dialect == "sqlite"
    match column.type:
        case Uuid() if column.name not in _SHARED:
            return f"prefix || substr({old}, 9)" if sqlite else f"(prefix || substr({old}::text, 9))::uuid"
        case UtcDateTime():
            return f"CASE WHEN {old} IS NULL THEN NULL ELSE moment END"
        # Short, because it is the number of rows that counts.
        case LargeBinary():
            return f"CASE WHEN {old} IS NULL THEN NULL ELSE {'zeroblob(0)' if sqlite else _NO_BYTES} END"
        case Text():
            return f"substr({old}, 1, 40)"
        case _:
            return old
