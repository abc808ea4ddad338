"""SQLite's locks: nothing that Gaby does to its own file may drop them while it works."""

import asyncio
import sqlite3
import sys
from pathlib import Path

import pytest
from sqlalchemy import text

from gaby.kernel.database import Database, open_database
from gaby.kernel.ids import SYSTEM
from gaby.migrations import inspect_schema, upgrade

pytestmark = pytest.mark.promise("O5")

_VISIT = """
import sqlite3, sys
visitor = sqlite3.connect(sys.argv[1])
visitor.execute("SELECT count(*) FROM workspaces").fetchall()
visitor.close()
"""


@pytest.fixture
def path(migrated_file: Path, tmp_path: Path) -> Path:
    path = tmp_path / "gaby.db"
    path.write_bytes(migrated_file.read_bytes())
    return path


async def _write(database: Database, name: str) -> None:
    async with database.write(SYSTEM) as session:
        await session.execute(
            text("INSERT INTO workspaces (id, slug, name, created_at) VALUES (:id, :id, :id, '2030-01-01 00:00:00')"),
            {"id": name},
        )


async def test_a_visitor_who_leaves_does_not_take_the_log_of_those_who_stay(path: Path) -> None:
    database = open_database(f"sqlite:///{path}")
    try:
        await _write(database, "first")
        log = path.with_name("gaby.db-wal")
        before = log.stat().st_ino
        # More connections, a look at the tables and an upgrade: each touches the file.
        async with database.read(SYSTEM) as one, database.read(SYSTEM) as other:
            await one.execute(text("SELECT 1"))
            await other.execute(text("SELECT 1"))
        assert inspect_schema(database) == "current"
        upgrade(database)

        visit = await asyncio.create_subprocess_exec(sys.executable, "-c", _VISIT, str(path))
        assert await visit.wait() == 0

        assert log.exists()
        assert log.stat().st_ino == before
        await _write(database, "second")
    finally:
        await database.close()
    connection = sqlite3.connect(path)
    assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    assert connection.execute("SELECT count(*) FROM workspaces").fetchone() == (2,)
    connection.close()
