"""Reads the log from the database as one moment of it: for exports, proofs and verification."""

from collections.abc import Generator, Iterator, Sequence
from contextlib import closing, contextmanager
from typing import Any
from uuid import UUID

import orjson

from gaby.audit.export import LogSize
from gaby.audit.rows import AuditRow
from gaby.audit.statements import Checkpoint, KeyEntry, KeyRotation, understand
from gaby.audit.store import row_of
from gaby.audit.tiles import TileCoordinate
from gaby.kernel.database import Database
from gaby.kernel.database.faults import translate_driver_error
from gaby.kernel.database.raw_sql import Connection, Dialect, SqlRunner, across_workspaces, digits_of
from gaby.kernel.ids import AuditRowId, WorkspaceId

_ROWS = (
    "SELECT workspace_id, seq, id, ts, actor_kind, actor_id, event, payload, prev_hash, hash FROM audit_rows "
    "WHERE workspace_id = ?"
)
_CHECKPOINTS = "SELECT workspace_id, size, root, ts, key_id, signature FROM audit_checkpoints WHERE workspace_id = ?"
# Steps from one workspace to the next by the index, instead of reading every row.
_WORKSPACES = """
WITH RECURSIVE
in_rows(id) AS (
    SELECT * FROM (SELECT workspace_id FROM audit_rows ORDER BY workspace_id LIMIT 1) AS first_one
    UNION ALL
    SELECT (SELECT workspace_id FROM audit_rows WHERE workspace_id > in_rows.id ORDER BY workspace_id LIMIT 1)
    FROM in_rows WHERE in_rows.id IS NOT NULL
),
in_checkpoints(id) AS (
    SELECT * FROM (SELECT workspace_id FROM audit_checkpoints ORDER BY workspace_id LIMIT 1) AS first_one
    UNION ALL
    SELECT (
        SELECT workspace_id FROM audit_checkpoints WHERE workspace_id > in_checkpoints.id ORDER BY workspace_id LIMIT 1
    )
    FROM in_checkpoints WHERE in_checkpoints.id IS NOT NULL
),
found(id) AS (SELECT id FROM in_rows UNION SELECT id FROM in_checkpoints)
SELECT id, coalesce((SELECT max(seq) + 1 FROM audit_rows WHERE workspace_id = found.id), 0)
FROM found WHERE id IS NOT NULL ORDER BY id
"""


class DatabaseSource:
    """A `LogSource`, and what proofs need besides."""

    def __init__(self, connection: Connection, dialect: Dialect) -> None:
        self._sql = SqlRunner(connection, dialect)

    def sizes(self) -> list[LogSize]:
        rows = self._sql.all(_WORKSPACES)
        return [LogSize(workspace_id=WorkspaceId(UUID(digits_of(each))), size=int(size)) for each, size in rows]

    def keys(self) -> list[KeyEntry]:
        rows = self._sql.all("SELECT public_key, rotation FROM audit_keys ORDER BY term")
        return [
            KeyEntry(
                public_key=bytes(public_key),
                rotation=None if rotation is None else understand(KeyRotation, orjson.loads(rotation)),
            )
            for public_key, rotation in rows
        ]

    def rows(self, workspace_id: WorkspaceId, *, after: int = -1) -> Iterator[AuditRow]:
        for record in self._sql.stream(f"{_ROWS} AND seq > ? ORDER BY seq", workspace_id.hex, after):
            yield row_of(record)

    def some_rows(self, workspace_id: WorkspaceId, *, after: int, limit: int) -> list[AuditRow]:
        rows = self._sql.all(f"{_ROWS} AND seq > ? ORDER BY seq LIMIT ?", workspace_id.hex, after, limit)
        return [row_of(record) for record in rows]

    def row(self, workspace_id: WorkspaceId, row_id: AuditRowId) -> AuditRow | None:
        record = self._sql.one(f"{_ROWS} AND id = ?", workspace_id.hex, row_id.hex)
        return row_of(record) if record else None

    def checkpoints(self, workspace_id: WorkspaceId) -> Iterator[Checkpoint]:
        # Few, and read while the rows are still streaming over the connection.
        for record in self._sql.all(f"{_CHECKPOINTS} ORDER BY size, ts", workspace_id.hex):
            yield _checkpoint_of(record)

    def last_checkpoint(self, workspace_id: WorkspaceId) -> Checkpoint | None:
        row = self._sql.one(f"{_CHECKPOINTS} ORDER BY size DESC, ts DESC LIMIT 1", workspace_id.hex)
        return _checkpoint_of(row) if row else None

    def checkpoint_at(self, workspace_id: WorkspaceId, size: int) -> Checkpoint | None:
        row = self._sql.one(f"{_CHECKPOINTS} AND size = ? ORDER BY ts LIMIT 1", workspace_id.hex, size)
        return _checkpoint_of(row) if row else None

    def hashes(self, workspace_id: WorkspaceId, size: int) -> Iterator[bytes]:
        """The hashes of the first rows, without the rows."""
        query = "SELECT hash FROM audit_rows WHERE workspace_id = ? AND seq < ? ORDER BY seq"
        for (digest,) in self._sql.stream(query, workspace_id.hex, size):
            yield bytes(digest)

    def intent_rows(self) -> Iterator[AuditRow]:
        """Every row that states an intent or an outcome, in the order of each log."""
        # The pattern is a parameter, because Postgres' driver reads a percent sign in a statement as a placeholder.
        query = _ROWS.replace("WHERE workspace_id = ?", "WHERE event LIKE ? OR event LIKE ?")
        for record in self._sql.stream(f"{query} ORDER BY workspace_id, seq", "%.intent", "%.outcome"):
            yield row_of(record)

    def open_intents(self) -> dict[tuple[WorkspaceId, UUID], int]:
        """The list of what began and has not ended, with the rows that say so."""
        rows = self._sql.all("SELECT workspace_id, id, seq FROM audit_intents")
        return {
            (WorkspaceId(UUID(digits_of(workspace))), UUID(digits_of(intent))): int(seq)
            for workspace, intent, seq in rows
        }

    def tiles(self, workspace_id: WorkspaceId, wanted: Sequence[TileCoordinate]) -> dict[TileCoordinate, bytes]:
        tile_data: dict[TileCoordinate, bytes] = {}
        for at in wanted:
            tile = self._sql.one(
                "SELECT hashes FROM audit_tiles WHERE workspace_id = ? AND level = ? AND idx = ?",
                workspace_id.hex,
                at.level,
                at.index,
            )
            if tile is not None:
                tile_data[at] = bytes(tile[0])
        return tile_data


@contextmanager
def snapshot(db: Database) -> Generator[DatabaseSource]:
    """One moment of the whole log. Synchronous: call it in a thread of its own."""
    try:
        with closing(db.raw_connection()) as connection:
            if db.dialect == "sqlite":
                connection.execute("BEGIN")
            else:
                connection.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")
                across_workspaces(connection)
            yield DatabaseSource(connection, db.dialect)
            connection.rollback()
    except db.engine.driver_errors as error:
        raise translate_driver_error(error) or error from error


def _checkpoint_of(record: Sequence[Any]) -> Checkpoint:
    workspace, size, root, ts, key_id, signature = record
    return Checkpoint.model_construct(
        workspace_id=WorkspaceId(UUID(digits_of(workspace))),
        size=size,
        root=bytes(root),
        ts=ts,
        key_id=key_id,
        signature=bytes(signature),
    )
