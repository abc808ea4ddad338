"""Upgrading: from nothing, again, several at once; and what differs from what the code expects."""

import asyncio
import sqlite3
import stat
import subprocess
import sys
from collections.abc import Generator
from contextlib import closing
from pathlib import Path
from subprocess import PIPE
from threading import Timer
from uuid import uuid4

import psycopg
import pytest
from sqlalchemy import text

from gaby.kernel.database import Database, open_database
from gaby.kernel.database.faults import SchemaOutdated
from gaby.kernel.ids import SYSTEM
from gaby.migrations import find_drift, inspect_schema, upgrade
from tests.support.postgres import Postgres

pytestmark = pytest.mark.promise("O4")

UPGRADE = """
import sys
from gaby.kernel.database import open_database
from gaby.migrations import upgrade
database = open_database(sys.argv[1], role=sys.argv[2])
print("ready", flush=True)
sys.stdin.readline()
upgrade(database)
"""


def execute(url: str, statement: str) -> None:
    if url.startswith("sqlite:///"):
        with closing(sqlite3.connect(url.removeprefix("sqlite:///"))) as connection, connection:
            connection.execute(statement)
    else:
        with psycopg.connect(url) as connection:
            connection.execute(statement.encode())


def test_an_empty_place_becomes_a_database_that_agrees_with_the_code(empty_url: str) -> None:
    database = open_database(empty_url)
    assert inspect_schema(database) == "empty"
    upgrade(database)
    assert inspect_schema(database) == "current"
    assert find_drift(database) == []


def test_upgrading_again_changes_nothing(empty_url: str) -> None:
    database = open_database(empty_url)
    upgrade(database)
    upgrade(database)
    assert inspect_schema(database) == "current"
    assert find_drift(database) == []


async def test_upgrading_again_keeps_what_is_there(db: Database) -> None:
    async with db.write(SYSTEM) as session:
        await session.execute(
            text("INSERT INTO workspaces VALUES (:id, 'kept', 'Kept', :now)"),
            {"id": "0" * 31 + "a", "now": "2030-01-01 00:00:00+00:00"},
        )
    await asyncio.to_thread(upgrade, db)
    async with db.read(SYSTEM) as session:
        assert (await session.execute(text("SELECT slug FROM workspaces"))).scalars().all() == ["kept"]


@pytest.mark.slow
def test_several_machines_may_upgrade_at_once(empty_url: str) -> None:
    assert upgrade_in_processes([empty_url] * 2) == [(0, "")] * 2
    assert find_drift(open_database(empty_url)) == []


def test_a_file_that_another_process_is_switching_to_its_log_is_waited_for(tmp_path: Path) -> None:
    file = tmp_path / "gaby.db"
    with closing(sqlite3.connect(file, isolation_level=None, check_same_thread=False)) as other:
        other.execute("BEGIN IMMEDIATE")
        Timer(0.2, other.rollback).start()
        database = open_database(f"sqlite:///{file}")
        upgrade(database)
    assert inspect_schema(database) == "current"


def upgrade_in_processes(urls: list[str], role: str = "gaby_app") -> list[tuple[int, str]]:
    """One process for each address; all are let go at the same moment."""
    processes = [
        subprocess.Popen([sys.executable, "-c", UPGRADE, url, role], stdin=PIPE, stdout=PIPE, stderr=PIPE, text=True)
        for url in urls
    ]
    for process in processes:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
    for process in processes:
        assert process.stdin is not None
        process.stdin.write("go\n")
        process.stdin.flush()
    errors = [process.communicate(timeout=60)[1] for process in processes]
    return [(process.returncode, error) for process, error in zip(processes, errors, strict=True)]


@pytest.fixture
def side_by_side(postgres: Postgres) -> Generator[list[str]]:
    """Two empty databases on one server, and no role yet."""
    names = [f"side_{uuid4().hex}" for _ in range(2)]
    for name in names:
        postgres.execute(f"CREATE DATABASE {name}")
    yield [postgres.url(name) for name in names]
    for name in names:
        postgres.execute(f"DROP DATABASE {name} WITH (FORCE)")
    postgres.execute("DROP ROLE IF EXISTS shared_role")


@pytest.mark.slow
def test_databases_of_one_server_may_be_upgraded_at_once(side_by_side: list[str]) -> None:
    """The role belongs to the whole server, so their upgrades meet there."""
    assert upgrade_in_processes(side_by_side, role="shared_role") == [(0, "")] * 2
    assert [find_drift(open_database(url)) for url in side_by_side] == [[], []]


async def test_threads_that_upgrade_different_databases_do_not_mix_them_up(side_by_side: list[str]) -> None:
    databases = [open_database(url, role="shared_role") for url in side_by_side]
    await asyncio.gather(*(asyncio.to_thread(upgrade, database) for database in databases))
    assert [find_drift(database) for database in databases] == [[], []]


def test_a_column_added_by_hand_is_named(db: Database, database_url: str) -> None:
    execute(database_url, "ALTER TABLE people ADD COLUMN shoe_size INTEGER")
    (difference,) = find_drift(db)
    assert "remove_column" in difference
    assert "shoe_size" in difference


def test_a_column_that_is_missing_is_named(db: Database, database_url: str) -> None:
    execute(database_url, "ALTER TABLE people DROP COLUMN disabled_at")
    (difference,) = find_drift(db)
    assert "add_column" in difference
    assert "disabled_at" in difference


def test_a_table_of_another_program_beside_ours_is_no_drift(db: Database, database_url: str) -> None:
    execute(database_url, "CREATE TABLE spatial_ref_sys (id INTEGER)")
    assert find_drift(db) == []


def test_there_is_nothing_to_compare_before_the_first_upgrade(empty_url: str) -> None:
    with pytest.raises(SchemaOutdated):
        find_drift(open_database(empty_url))
    if empty_url.startswith("sqlite"):
        assert not Path(empty_url.removeprefix("sqlite:///")).exists()


def rights(path: Path) -> str:
    return oct(stat.S_IMODE(path.stat().st_mode))


async def test_only_the_owner_may_read_the_file_and_its_folder(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "home" / "gaby.db"
    database = open_database(f"sqlite:///{path}")
    await asyncio.to_thread(upgrade, database)
    async with database.write(SYSTEM) as session:
        await session.execute(text("UPDATE people SET name = 'x'"))
        files = {each.name: rights(each) for each in await asyncio.to_thread(list, path.parent.iterdir())}
    assert files == {"gaby.db": "0o600", "gaby.db-wal": "0o600", "gaby.db-shm": "0o600"}
    assert rights(path.parent) == "0o700"
    await database.close()


def test_an_empty_file_that_others_could_read_becomes_private(tmp_path: Path) -> None:
    path = tmp_path / "gaby.db"
    path.touch(mode=0o644)
    path.chmod(0o644)
    upgrade(open_database(f"sqlite:///{path}"))
    assert rights(path) == "0o600"
    assert find_drift(open_database(f"sqlite:///{path}")) == []


def test_a_folder_that_was_there_keeps_its_rights(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    upgrade(open_database(f"sqlite:///{tmp_path / 'gaby.db'}"))
    assert rights(tmp_path) == "0o755"


def test_an_upgrade_leaves_nothing_beside_the_file(tmp_path: Path) -> None:
    upgrade(open_database(f"sqlite:///{tmp_path / 'gaby.db'}"))
    assert [path.name for path in tmp_path.iterdir()] == ["gaby.db"]
