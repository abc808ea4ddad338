"""SQLite when the disk is full, when another program holds the lock, and when the file is gone or damaged."""

import os
import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest
from sqlalchemy import text

from gaby.kernel.database import Database, open_database
from gaby.kernel.database.faults import DatabaseDamaged, DatabaseUnavailable
from gaby.kernel.ids import SYSTEM
from tests.kernel.database.stories import A, add_group, group, group_names, on_sqlite

pytestmark = pytest.mark.promise("O5")


def path_of(url: str) -> Path:
    return Path(url.removeprefix("sqlite:///"))


def names_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


FULL_DISK = """
import asyncio, resource, sys

from gaby.kernel.database import open_database
from gaby.kernel.database.faults import DatabaseUnavailable
from tests.kernel.database.stories import A, add_group, add_workspaces, group, group_names


def limit_files_to(size):
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))


async def write_much(db):
    async with db.write(A) as session:
        session.add_all(group(f"{number:05}" + "x" * 90) for number in range(6_000))


async def main(url):
    db = open_database(url)
    await add_workspaces(db)
    await add_group(db, "before")

    limit_files_to(500_000)
    for _ in range(2):
        try:
            await write_much(db)
        except DatabaseUnavailable as error:
            print("refused", error.status, error.headers["Retry-After"])
        print(await group_names(db))

    limit_files_to(resource.RLIM_INFINITY)
    await add_group(db, "after")
    print(await group_names(db))
    await db.close()


asyncio.run(main(sys.argv[1]))
"""


@on_sqlite
def test_a_full_disk_refuses_the_write_keeps_what_was_there_and_writes_again_with_room(database_url: str) -> None:
    child = subprocess.run(
        [sys.executable, "-c", FULL_DISK, database_url],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        env=os.environ | {"PYTHONPATH": str(Path(__file__).parents[3])},
    )
    assert child.stderr == ""
    assert child.stdout.splitlines() == [
        "refused 503 5",
        "['before']",
        "refused 503 5",
        "['before']",
        "['after', 'before']",
    ]
    with closing(sqlite3.connect(path_of(database_url))) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]


@pytest.mark.slow
@on_sqlite
async def test_a_lock_that_another_program_keeps_is_waited_for_and_then_reported(
    two_workspaces: Database, database_url: str
) -> None:
    with closing(sqlite3.connect(path_of(database_url), isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        assert await group_names(two_workspaces) == ["of A"]
        with pytest.raises(DatabaseUnavailable):
            await add_group(two_workspaces, "locked out")
        other.execute("ROLLBACK")
    await add_group(two_workspaces, "after")
    assert await group_names(two_workspaces) == ["after", "of A"]


async def test_a_file_that_is_missing_is_not_made_by_looking_at_it(tmp_path: Path) -> None:
    db = open_database(f"sqlite:///{tmp_path / 'gone.db'}")
    with pytest.raises(DatabaseUnavailable, match="cannot be opened: No such file"):
        await db.ping()
    with pytest.raises(DatabaseUnavailable):
        await add_group(db, "nowhere to go")
    with pytest.raises(sqlite3.OperationalError):
        db.raw_connection()
    assert names_in(tmp_path) == []
    await db.close()


@on_sqlite
@pytest.mark.parametrize("name", ["with space.db", "100%25.db", "a?mode=memory.db", "a#b.db", "ü.db", "a;b&c=d.db"])
async def test_a_file_may_have_any_name(database_url: str, tmp_path: Path, name: str) -> None:
    shutil.copyfile(path_of(database_url), tmp_path / name)
    path_of(database_url).unlink()
    db = open_database(f"sqlite:///{tmp_path / name}")
    async with db.write(SYSTEM) as session:
        await session.execute(text("UPDATE people SET name = 'x'"))
    await db.close()
    assert names_in(tmp_path) == [name]


async def test_a_file_that_is_no_database_is_damaged(tmp_path: Path) -> None:
    path = tmp_path / "gaby.db"
    path.write_bytes(b"this is not a database" * 1000)
    db = open_database(f"sqlite:///{path}")
    with pytest.raises(DatabaseDamaged, match="Restore a backup"):
        await group_names(db)
    assert path.read_bytes() == b"this is not a database" * 1000
    await db.close()


@on_sqlite
async def test_pages_that_were_overwritten_are_noticed_when_they_are_read(
    two_workspaces: Database, database_url: str
) -> None:
    await two_workspaces.close()
    path = path_of(database_url)
    whole = path.read_bytes()
    path.write_bytes(whole[:4096] + b"\xff" * (len(whole) - 4096))
    with pytest.raises(DatabaseDamaged):
        await group_names(two_workspaces)


@on_sqlite
async def test_every_commit_is_on_disk_and_readers_do_not_wait_for_writers(
    two_workspaces: Database, database_url: str
) -> None:
    async with two_workspaces.write(A) as session:
        settings = [
            (await session.execute(text(f"PRAGMA {name}"))).scalar_one()
            for name in ("journal_mode", "synchronous", "foreign_keys", "trusted_schema")
        ]
        session.add(group("writing"))
        await session.flush()
        assert await group_names(two_workspaces) == ["of A"]
    assert settings == ["wal", 2, 1, 0]
