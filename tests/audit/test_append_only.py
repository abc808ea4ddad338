"""In the database itself, audit rows cannot be changed, deleted or replaced, on either engine."""

import sqlite3
from typing import Any

import psycopg
import pytest

from gaby.audit import AuditLog, Checkpointer
from gaby.kernel.actors import system_actor
from gaby.kernel.database import Database
from gaby.kernel.database.sqlite import SqliteEngine
from tests.audit.logs import ACME
from tests.audit.tampering import owner_connection

pytestmark = pytest.mark.promise("A6")

CHANGES = [
    "UPDATE audit_rows SET event = 'x'",
    "UPDATE audit_rows SET payload = payload",
    "DELETE FROM audit_rows",
    "DELETE FROM audit_rows WHERE seq = 0",
    "UPDATE audit_checkpoints SET size = 9",
    "DELETE FROM audit_checkpoints",
    "UPDATE audit_keys SET term = 7",
    "DELETE FROM audit_keys",
]
REPLACEMENTS = [
    "INSERT OR REPLACE INTO audit_rows SELECT * FROM audit_rows",
    "REPLACE INTO audit_rows SELECT workspace_id, seq + 100, id, ts, 'user', actor_id, event, payload, prev_hash, hash "
    "FROM audit_rows LIMIT 1",
    "INSERT OR REPLACE INTO audit_checkpoints SELECT * FROM audit_checkpoints",
    "INSERT OR REPLACE INTO audit_keys SELECT * FROM audit_keys",
    "INSERT INTO audit_rows SELECT * FROM audit_rows WHERE true "
    "ON CONFLICT (workspace_id, seq) DO UPDATE SET event = 'x'",
]
CONTENT = ["SELECT * FROM audit_rows", "SELECT * FROM audit_checkpoints", "SELECT * FROM audit_keys"]
TRUNCATIONS = ["TRUNCATE audit_rows", "TRUNCATE audit_checkpoints CASCADE", "TRUNCATE audit_keys"]


@pytest.fixture
async def filled(db: Database, audit: AuditLog, checkpointer: Checkpointer) -> Database:
    for _ in range(3):
        await audit.append(ACME, system_actor("test"), "test.row", {})
    await checkpointer.checkpoint()
    return db


def _content(connection: Any) -> list[Any]:
    return [sorted(connection.execute(query).fetchall()) for query in CONTENT]


async def test_nobody_can_change_or_delete(filled: Database) -> None:
    statements = [*CHANGES, *(REPLACEMENTS if isinstance(filled.engine, SqliteEngine) else TRUNCATIONS)]
    with owner_connection(filled) as connection:
        before = _content(connection)
        assert all(before)
        for statement in statements:
            with pytest.raises((psycopg.Error, sqlite3.Error), match="append-only"):
                connection.execute(statement)
            connection.rollback()
        assert _content(connection) == before


@pytest.mark.parametrize("database_url", ["postgresql"], indirect=True)
async def test_the_role_that_gaby_acts_as_has_no_right_to(filled: Database) -> None:
    connection = filled.raw_connection()
    connection.execute("SELECT set_config('gaby.workspace_id', '*', false)")
    connection.commit()
    for statement in [*CHANGES, *TRUNCATIONS]:
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            connection.execute(statement)
        connection.rollback()
    connection.close()
