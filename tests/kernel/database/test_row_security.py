"""Row-level security: what Postgres itself refuses, when every check of ours has been slipped past."""

import secrets
from collections.abc import Callable, Generator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any, LiteralString
from uuid import UUID, uuid4

import psycopg
import pytest
from psycopg import sql
from psycopg.errors import InsufficientPrivilege
from psycopg.types.json import Jsonb
from sqlalchemy import JSON, Boolean, Column, DateTime, Integer, LargeBinary, String, Table, Uuid, create_engine

from gaby.kernel.database import Base, Database, workspace_tables
from gaby.kernel.database.postgres import PostgresEngine
from gaby.kernel.errors import Misconfigured
from gaby.kernel.ids import WorkspaceId
from gaby.knowledge.models import VectorColumn
from gaby.migrations import upgrade
from gaby.migrations.protect import POLICY, unprotected_tables
from tests.kernel.database.stories import A, B, on_postgres

pytestmark = [pytest.mark.promise("P4"), on_postgres]

Connection = psycopg.Connection[tuple[Any, ...]]


@pytest.fixture
def filled(database_url: str) -> str:
    """One row of A and one of B in every workspace table, whatever its other columns are."""
    with psycopg.connect(database_url) as connection:
        connection.execute("SET session_replication_role = replica")  # Which rows they refer to does not matter here.
        for table in workspace_tables():
            forget_checks(connection, table)
            for workspace in (A, B):
                insert(connection, table, row_of(table, workspace))
    return database_url


def forget_checks(connection: Connection, table: Table) -> None:
    named = connection.execute(
        "SELECT conname FROM pg_constraint WHERE contype = 'c' AND conrelid = %s::regclass", [table.name]
    )
    for (name,) in named.fetchall():
        drop = sql.SQL("ALTER TABLE {} DROP CONSTRAINT {}")
        connection.execute(drop.format(sql.Identifier(table.name), sql.Identifier(name)))


def row_of(table: Table, workspace: WorkspaceId) -> dict[str, Any]:
    return {column.name: value_for(column) for column in table.c} | {"workspace_id": workspace}


def value_for(column: Column[Any]) -> Any:
    if isinstance(column.type, VectorColumn):
        return "[0.6,0.8]"
    kind: Any = getattr(column.type, "impl", column.type)
    makers: dict[type[Any], Callable[[], Any]] = {
        Uuid: uuid4,
        JSON: lambda: Jsonb({}),
        LargeBinary: lambda: secrets.token_bytes(kind.length or 32),
        String: lambda: secrets.token_hex(20)[: kind.length],
        DateTime: lambda: datetime.now(UTC),
        Boolean: lambda: False,
        Integer: lambda: secrets.randbelow(1 << 30),
    }
    return next(make for of, make in makers.items() if isinstance(kind, of))()


def insert(connection: Connection, table: Table, row: dict[str, Any]) -> None:
    statement = sql.SQL("INSERT INTO {} ({}) VALUES ({})").format(
        sql.Identifier(table.name),
        sql.SQL(", ").join(map(sql.Identifier, row)),
        sql.SQL(", ").join([sql.Placeholder()] * len(row)),
    )
    connection.execute(statement, list(row.values()))


@contextmanager
def connected_as_app(url: str, scope: str | None = None) -> Generator[Connection]:
    """A connection of our own, with none of Gaby's code in between, in the role that Gaby acts as."""
    with psycopg.connect(url) as connection:
        connection.execute("SET ROLE gaby_app")
        if scope is not None:
            connection.execute("SELECT set_config('gaby.workspace_id', %s, false)", [scope])
        connection.commit()
        yield connection


def owners(connection: Connection, table: Table) -> set[UUID]:
    found = connection.execute(sql.SQL("SELECT workspace_id FROM {}").format(sql.Identifier(table.name)))
    return {owner for (owner,) in found.fetchall()}


@pytest.mark.parametrize("scope", [None, ""])
def test_without_a_workspace_no_row_of_any_table_is_visible(filled: str, scope: str | None) -> None:
    with connected_as_app(filled, scope) as connection:
        assert {table.name: owners(connection, table) for table in workspace_tables()} == {
            table.name: set[UUID]() for table in workspace_tables()
        }


def test_with_a_workspace_only_its_own_rows_are_visible_in_every_table(filled: str) -> None:
    for workspace in (A, B):
        with connected_as_app(filled, str(workspace)) as connection:
            for table in workspace_tables():
                assert owners(connection, table) == {workspace}, table.name


def test_a_workspace_that_is_no_id_is_refused_rather_than_guessed(filled: str) -> None:
    with connected_as_app(filled, "all of them") as connection, pytest.raises(psycopg.errors.InvalidTextRepresentation):
        owners(connection, workspace_tables()[0])


def test_a_row_cannot_be_inserted_into_another_workspace(filled: str) -> None:
    for table in workspace_tables():
        with connected_as_app(filled, str(A)) as connection, pytest.raises(InsufficientPrivilege, match=table.name):
            insert(connection, table, row_of(table, B))


def test_a_row_cannot_be_inserted_without_a_workspace(filled: str) -> None:
    for table in workspace_tables():
        with connected_as_app(filled) as connection, pytest.raises(InsufficientPrivilege, match=table.name):
            insert(connection, table, row_of(table, A))


def test_a_row_cannot_be_moved_to_another_workspace(filled: str) -> None:
    for table in workspace_tables():
        move = sql.SQL("UPDATE {} SET workspace_id = %s").format(sql.Identifier(table.name))
        with connected_as_app(filled, str(A)) as connection, pytest.raises(InsufficientPrivilege, match=table.name):
            connection.execute(move, [B])


def test_rows_of_another_workspace_can_be_neither_changed_nor_deleted(filled: str) -> None:
    for table in workspace_tables():
        for statement in ("UPDATE {} SET workspace_id = workspace_id WHERE workspace_id = %s", DELETE):
            with connected_as_app(filled, str(A)) as connection:
                try:
                    done = connection.execute(sql.SQL(statement).format(sql.Identifier(table.name)), [B])
                except InsufficientPrivilege:
                    continue  # An append-only table: nobody may, not even with their own rows.
                assert done.rowcount == 0, table.name


DELETE: LiteralString = "DELETE FROM {} WHERE workspace_id = %s"


def test_the_role_has_no_power_to_get_around_it(database_url: str) -> None:
    powers = (
        "SELECT rolsuper, rolbypassrls, rolcreaterole, rolcreatedb, rolcanlogin, rolinherit, rolreplication "
        "FROM pg_roles WHERE rolname = 'gaby_app'"
    )
    with connected_as_app(database_url) as connection:
        assert connection.execute(powers).fetchone() == (False,) * 7
        owned = connection.execute("SELECT count(*) FROM pg_class WHERE relowner = 'gaby_app'::regrole").fetchone()
        assert owned == (0,)


@pytest.mark.parametrize(
    "statement",
    [
        "ALTER TABLE groups DISABLE ROW LEVEL SECURITY",
        "DROP POLICY workspace ON groups",
        "CREATE POLICY mine ON groups USING (true)",
        "TRUNCATE groups",
        "DROP TABLE groups",
        "CREATE TABLE mine (id int)",
        "ALTER ROLE gaby_app BYPASSRLS",
        "SELECT * FROM pg_authid",
    ],
)
def test_the_role_cannot_lift_the_protection(database_url: str, statement: LiteralString) -> None:
    with connected_as_app(database_url) as connection, pytest.raises(InsufficientPrivilege):
        connection.execute(statement)


def unprotected(url: str) -> list[str]:
    engine = create_engine(url.replace("postgresql://", "postgresql+psycopg://"))
    try:
        with engine.connect() as connection:
            return unprotected_tables(connection)
    finally:
        engine.dispose()


def test_every_workspace_table_is_protected(database_url: str) -> None:
    assert workspace_tables()
    assert unprotected(database_url) == []


@pytest.mark.parametrize(
    "statement",
    [
        f"DROP POLICY {POLICY} ON groups",
        "ALTER TABLE groups DISABLE ROW LEVEL SECURITY",
        "ALTER TABLE groups NO FORCE ROW LEVEL SECURITY",
    ],
)
def test_a_table_that_lost_its_protection_is_named_and_the_next_upgrade_mends_it(
    db: Database, database_url: str, statement: str
) -> None:
    with psycopg.connect(database_url) as connection:
        connection.execute(statement.encode())
    assert unprotected(database_url) == ["groups"]
    upgrade(db)
    assert unprotected(database_url) == []


@pytest.fixture
def new_table() -> Generator[Table]:
    columns = [Column("workspace_id", Uuid(), primary_key=True), Column("id", Uuid(), primary_key=True)]
    table = Table("a_new_room", Base.metadata, *columns)
    yield table
    Base.metadata.remove(table)


def test_a_new_table_with_a_workspace_is_protected_by_the_next_upgrade(
    db: Database, database_url: str, new_table: Table
) -> None:
    with psycopg.connect(database_url) as connection:
        connection.execute("CREATE TABLE a_new_room (workspace_id uuid, id uuid, PRIMARY KEY (workspace_id, id))")
        for workspace in (A, B):
            insert(connection, new_table, row_of(new_table, workspace))
    assert unprotected(database_url) == ["a_new_room"]

    upgrade(db)

    assert unprotected(database_url) == []
    with connected_as_app(database_url, str(A)) as connection:
        assert owners(connection, new_table) == {A}


async def test_raw_text_that_slips_past_the_guard_still_sees_nothing_of_others(two_workspaces: Database) -> None:
    with two_workspaces.raw_connection() as connection:
        assert connection.execute("SELECT name FROM groups").fetchall() == []
        connection.execute("SELECT set_config('gaby.workspace_id', %s, true)", [str(A)])
        assert connection.execute("SELECT name FROM groups").fetchall() == [("of A",)]
        assert connection.execute("SELECT name FROM groups WHERE workspace_id = %s", [B]).fetchall() == []
        connection.commit()
        assert connection.execute("SELECT name FROM groups").fetchall() == []


async def test_a_pooled_connection_forgets_the_workspace_of_whoever_had_it_before(two_workspaces: Database) -> None:
    pool = two_workspaces.engine.writer
    async with two_workspaces.write(A):
        pass
    async with pool.connect() as connection:
        held = (await connection.exec_driver_sql("SELECT current_setting('gaby.workspace_id', true)")).scalar()
    assert not held


def test_a_role_that_may_bypass_the_protection_is_refused(database_url: str) -> None:
    with psycopg.connect(database_url) as connection:
        connection.execute("DROP ROLE IF EXISTS mighty")
        connection.execute("CREATE ROLE mighty BYPASSRLS")
    for role in ("mighty", "postgres"):
        database = Database(PostgresEngine(database_url, role=role))
        with pytest.raises(Misconfigured, match=role):
            upgrade(database)
