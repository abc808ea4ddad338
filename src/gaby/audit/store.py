"""Adds rows to the log inside whatever transaction the connection is in."""

from collections.abc import Iterable, Sequence
from hashlib import sha256
from typing import Any

from gaby.audit.rows import AuditRow, LogHead, RowDraft, chain, timestamp
from gaby.audit.tiles import TileCoordinate
from gaby.kernel.clock import Clock
from gaby.kernel.database.raw_sql import Connection, Dialect, SqlRunner, digits_of
from gaby.kernel.failpoints import failpoint
from gaby.kernel.ids import IdFactory, WorkspaceId

_INSERT = (
    "INSERT INTO audit_rows (workspace_id, seq, id, ts, actor_kind, actor_id, event, payload, prev_hash, hash) "
    "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
)


class Appender:
    """Numbers and chains rows. Several processes may append: heads are read under a lock, in the transaction."""

    def __init__(self, clock: Clock, ids: IdFactory) -> None:
        self._clock = clock
        self._ids = ids

    def append(self, connection: Connection, dialect: Dialect, drafts: Sequence[RowDraft]) -> list[AuditRow]:
        sql = SqlRunner(connection, dialect)
        try:
            heads = read_heads(sql, sorted({draft.workspace_id for draft in drafts}))
            rows = chain(drafts, heads, now=timestamp(self._clock.now()), first_id=self._ids.new())
            failpoint("audit.before_insert")
            insert_rows(sql, rows)
            _track_intents(sql, drafts, rows)
        finally:
            sql.close()
        return rows


def read_heads(sql: SqlRunner, workspaces: Sequence[WorkspaceId]) -> dict[WorkspaceId, LogHead]:
    """The head of each log. On Postgres each log stays locked until the transaction ends, always in the same order."""
    if sql.dialect == "postgresql":
        for workspace_id in workspaces:
            sql.run("SELECT pg_advisory_xact_lock(?)", lock_number(str(workspace_id)))
    heads: dict[WorkspaceId, LogHead] = {}
    for workspace_id in workspaces:
        row = sql.one(
            "SELECT seq, hash, ts FROM audit_rows WHERE workspace_id = ? ORDER BY seq DESC LIMIT 1",
            workspace_id.hex,
        )
        heads[workspace_id] = LogHead(row[0] + 1, bytes(row[1]), row[2]) if row else LogHead()
    return heads


def insert_rows(sql: SqlRunner, rows: Sequence[AuditRow]) -> None:
    if sql.dialect == "sqlite":
        # Python's driver searches for an adapter for each `bytes`, but not for a `bytearray`: a tenth of the whole.
        sql.many(_INSERT, [(*row[:8], bytearray(row[8]), bytearray(row[9])) for row in rows])
    else:
        sql.many(_INSERT, rows)


def store_tiles(sql: SqlRunner, workspace_id: WorkspaceId, tiles: Iterable[tuple[TileCoordinate, bytes]]) -> None:
    sql.many(
        "INSERT INTO audit_tiles (workspace_id, level, idx, hashes) VALUES (?, ?, ?, ?) "
        "ON CONFLICT (workspace_id, level, idx) DO UPDATE SET hashes = excluded.hashes",
        [(workspace_id.hex, at.level, at.index, hashes) for at, hashes in tiles],
    )


def row_of(record: Sequence[Any]) -> AuditRow:
    """The row in a record of all columns, in the order of the table."""
    workspace, seq, row_id, ts, kind, actor, event, payload, prev_hash, digest = record
    return AuditRow(
        digits_of(workspace), seq, digits_of(row_id), ts, kind, actor, event, payload, bytes(prev_hash), bytes(digest)
    )


def lock_number(name: str) -> int:
    """The number of a Postgres advisory lock."""
    return int.from_bytes(sha256(f"gaby audit {name}".encode()).digest()[:8], "big", signed=True)


def _track_intents(sql: SqlRunner, drafts: Sequence[RowDraft], rows: Sequence[AuditRow]) -> None:
    opened = [(row.workspace, row.digits, row.seq) for draft, row in zip(drafts, rows, strict=True) if draft.opens]
    sql.many("INSERT INTO audit_intents (workspace_id, id, seq) VALUES (?, ?, ?)", opened)
    closed = [(draft.workspace_id.hex, draft.closes.hex) for draft in drafts if draft.closes is not None]
    sql.many("DELETE FROM audit_intents WHERE workspace_id = ? AND id = ?", closed)
