"""Faults that can befall either engine, in the operator's words."""

import asyncio
from contextlib import AsyncExitStack
from pathlib import Path
from uuid import uuid4

import psycopg
import pytest
from sqlalchemy import select, text
from sqlalchemy.exc import ProgrammingError, SQLAlchemyError, StatementError

from gaby.identity.models import Group, Person
from gaby.kernel.database import Database, open_database
from gaby.kernel.database.faults import DatabaseRoleMissing, DatabaseUnavailable, SchemaOutdated
from gaby.kernel.errors import Invalid, Misconfigured
from gaby.kernel.ids import SYSTEM
from tests.kernel.database.stories import NOW, A, add_group, group_names, on_postgres, on_sqlite
from tests.support.postgres import Postgres

pytestmark = pytest.mark.promise("O5")


@pytest.mark.slow
async def test_when_every_connection_is_taken_the_next_reader_is_told_to_come_back(database_url: str) -> None:
    db = open_database(database_url, pool_size=4)
    async with AsyncExitStack() as stack:
        for _ in range(4):
            await stack.enter_async_context(db.read(SYSTEM))
        with pytest.raises(DatabaseUnavailable):
            await db.ping()
    await db.ping()
    await db.close()


async def test_tables_that_are_missing_are_named_as_such(tmp_path: Path, postgres: Postgres) -> None:
    (tmp_path / "empty.db").touch()
    postgres.execute("DROP DATABASE IF EXISTS without_tables")
    postgres.execute("CREATE DATABASE without_tables")
    postgres.execute("DO $$ BEGIN CREATE ROLE gaby_app; EXCEPTION WHEN duplicate_object THEN NULL; END $$")
    for url in (f"sqlite:///{tmp_path / 'empty.db'}", postgres.url("without_tables")):
        db = open_database(url)
        with pytest.raises(SchemaOutdated, match="gaby db upgrade"):
            await group_names(db)
        with pytest.raises(SchemaOutdated, match="gaby db upgrade"):
            await add_group(db, "too early")
        await db.close()


async def test_a_column_that_is_missing_means_an_older_database(db: Database) -> None:
    with pytest.raises(SchemaOutdated):
        async with db.read(SYSTEM) as session:
            await session.execute(text("SELECT shoe_size FROM people"))


async def test_a_missing_role_is_named_as_such(postgres: Postgres) -> None:
    db = open_database(postgres.url(), role="nobody_made_it")
    with pytest.raises(DatabaseRoleMissing, match="gaby db upgrade"):
        await db.ping()
    with pytest.raises(DatabaseRoleMissing):
        db.raw_connection()
    await db.close()


async def test_a_role_that_is_not_granted_is_named_as_such(postgres: Postgres) -> None:
    postgres.execute("DROP ROLE IF EXISTS outsider, inner_circle")
    postgres.execute("CREATE ROLE outsider LOGIN")
    postgres.execute("CREATE ROLE inner_circle")
    db = open_database(postgres.url().replace("postgres@", "outsider@"), role="inner_circle")
    with pytest.raises(DatabaseRoleMissing):
        await db.ping()
    await db.close()


@on_postgres
async def test_a_right_that_the_role_lacks_is_a_bug_and_not_a_missing_role(two_workspaces: Database) -> None:
    with pytest.raises(ProgrammingError, match="permission denied"):
        async with two_workspaces.write(A) as session:
            await session.execute(text("CREATE TABLE mine (id int)"))


@on_postgres
async def test_text_with_a_nul_is_the_callers_mistake(two_workspaces: Database) -> None:
    with pytest.raises(Invalid, match="NUL"):
        await add_group(two_workspaces, "nul \0 inside")
    with pytest.raises(Invalid, match="NUL"):
        async with two_workspaces.read(SYSTEM) as session:
            await session.execute(select(Person).where(Person.name == "\0"))
    assert await group_names(two_workspaces) == ["of A"]


@on_sqlite
async def test_text_with_a_nul_comes_back_as_it_was(two_workspaces: Database) -> None:
    await add_group(two_workspaces, "nul \0 inside")
    assert await group_names(two_workspaces) == ["nul \0 inside", "of A"]


@on_postgres
async def test_text_that_is_too_long_is_the_callers_mistake(two_workspaces: Database) -> None:
    with pytest.raises(Invalid):
        await add_group(two_workspaces, "x" * 101)


@on_postgres
async def test_a_deadlock_is_a_reason_to_try_again(two_workspaces: Database) -> None:
    both = asyncio.Barrier(2)

    async def lock(first: int, second: int) -> None:
        async with two_workspaces.write(A) as session:
            await session.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": first})
            await both.wait()
            await session.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": second})

    ended = await asyncio.gather(lock(1, 2), lock(2, 1), return_exceptions=True)
    assert {type(each) for each in ended} == {type(None), DatabaseUnavailable}


async def test_a_moment_without_a_zone_is_a_bug_and_not_stored(two_workspaces: Database) -> None:
    naive = NOW.replace(tzinfo=None)
    with pytest.raises(StatementError, match="needs a zone"):
        async with two_workspaces.write(A) as session:
            session.add(Group(workspace_id=A, id=uuid4(), name="naive", created_at=naive))
    assert await group_names(two_workspaces) == ["of A"]


async def test_a_statement_with_a_mistake_stays_an_error_for_the_log(db: Database) -> None:
    with pytest.raises(SQLAlchemyError, match="syntax error"):
        async with db.read(SYSTEM) as session:
            await session.execute(text("SELEKT 1"))
    await db.ping()


@pytest.mark.parametrize(
    "url",
    [
        "",
        "gaby.db",
        "sqlite://",
        "sqlite:///",
        "sqlite:///:memory:",
        "sqlite:///with\0nul",
        "mysql://root@localhost/gaby",
        "postgresql://host:port/name",
        "postgresql//",
        "://",
    ],
)
def test_an_address_that_is_no_database_of_ours_is_a_wrong_setting(url: str) -> None:
    with pytest.raises(Misconfigured, match="GABY_DATABASE_URL"):
        open_database(url)


def test_an_address_that_is_wrong_is_not_repeated_with_its_password() -> None:
    with pytest.raises(Misconfigured) as caught:
        open_database("postgresql://gaby:swordfish@host:port/name")
    assert "swordfish" not in str(caught.value)
    assert caught.value.__suppress_context__


@pytest.mark.parametrize("role", ['x"; DROP TABLE people; --', "Gaby", "", "a" * 64])
def test_a_role_with_an_odd_name_is_a_wrong_setting(role: str) -> None:
    with pytest.raises(Misconfigured, match="GABY_DATABASE_ROLE"):
        open_database("postgresql://localhost/gaby", role=role)


async def test_a_server_that_nobody_runs_is_unavailable(unused_tcp_port: int) -> None:
    db = open_database(f"postgresql://gaby@127.0.0.1:{unused_tcp_port}/gaby")
    with pytest.raises(DatabaseUnavailable):
        await db.ping()
    with pytest.raises(psycopg.OperationalError):
        db.raw_connection()
    await db.close()
