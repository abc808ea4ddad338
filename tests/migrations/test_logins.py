"""Postgres logins: what an upgrade needs, and what the server needs afterwards, are different rights."""

from collections.abc import Generator

import psycopg
import pytest
from sqlalchemy import text

from gaby.kernel.database import Database, open_database
from gaby.kernel.database.faults import DatabaseRoleMissing, UpgradeForbidden, VectorsMissing
from gaby.kernel.ids import SYSTEM
from gaby.migrations import find_drift, inspect_schema, upgrade

pytestmark = pytest.mark.promise("O4", "P4")

ROLE = "gaby_acting"


@pytest.fixture
def schema(empty_schema: str) -> Generator[str]:
    """A database with two logins: `owning` may make tables in it, `serving` may only connect."""
    forget(empty_schema)
    execute(empty_schema, "CREATE ROLE owning LOGIN; CREATE ROLE serving LOGIN; GRANT ALL ON SCHEMA public TO owning")
    execute(empty_schema, "CREATE EXTENSION IF NOT EXISTS vector")
    yield empty_schema
    forget(empty_schema)


def execute(url: str, statement: str) -> None:
    with psycopg.connect(url) as connection:
        connection.execute(statement.encode())


def forget(url: str) -> None:
    for role in ("serving", "owning", ROLE):
        with psycopg.connect(url) as connection:
            known = connection.execute("SELECT 1 FROM pg_roles WHERE rolname = %s", [role]).fetchone()
            if known:
                connection.execute(f"DROP OWNED BY {role} CASCADE; DROP ROLE {role}".encode())


def login(url: str, name: str) -> str:
    return url.replace("postgres@", f"{name}@")


def opened(schema: str, *, serving: str = "serving", owning: str = "owning") -> Database:
    return open_database(login(schema, serving), role=ROLE, migration_url=login(schema, owning))


async def assert_it_serves(database: Database) -> None:
    async with database.write(SYSTEM) as session:
        assert (await session.execute(text("SELECT current_user"))).scalar_one() == ROLE
        await session.execute(text("UPDATE people SET name = 'x'"))
    await database.close()


async def test_one_login_may_upgrade_and_another_serve(schema: str) -> None:
    execute(schema, "ALTER ROLE owning CREATEROLE")
    database = opened(schema)
    upgrade(database)
    assert find_drift(database) == []
    await assert_it_serves(database)


async def test_the_login_that_serves_can_tell_the_version_without_owning_the_tables(schema: str) -> None:
    execute(schema, "ALTER ROLE owning CREATEROLE")
    upgrade(opened(schema))
    alone = open_database(login(schema, "serving"), role=ROLE)
    assert inspect_schema(alone) == "current"
    await assert_it_serves(alone)


async def test_a_login_that_may_not_add_pgvector_is_told_what_an_administrator_has_to_do(schema: str) -> None:
    execute(schema, "ALTER ROLE owning CREATEROLE; DROP EXTENSION vector")
    with pytest.raises(VectorsMissing, match="CREATE EXTENSION vector"):
        upgrade(opened(schema))


async def test_one_login_that_may_create_roles_does_both(schema: str) -> None:
    execute(schema, "ALTER ROLE owning CREATEROLE")
    database = open_database(login(schema, "owning"), role=ROLE)
    upgrade(database)
    upgrade(database)
    await assert_it_serves(database)


async def test_a_role_that_an_administrator_made_and_granted_is_enough(schema: str) -> None:
    execute(schema, f"CREATE ROLE {ROLE}; GRANT {ROLE} TO owning; GRANT {ROLE} TO serving")
    database = opened(schema)
    upgrade(database)
    upgrade(database)
    await assert_it_serves(database)


def test_a_login_that_may_not_create_the_role_is_told_what_to_do(schema: str) -> None:
    with pytest.raises(DatabaseRoleMissing, match="GABY_DATABASE_MIGRATION_URL"):
        upgrade(opened(schema))
    assert inspect_schema(opened(schema)) == "empty"


def test_a_login_that_may_not_make_tables_is_told_what_to_do(schema: str) -> None:
    with pytest.raises(UpgradeForbidden, match="GABY_DATABASE_MIGRATION_URL"):
        upgrade(opened(schema, owning="serving"))


def test_a_login_that_may_only_serve_cannot_upgrade_by_accident(schema: str) -> None:
    execute(schema, "ALTER ROLE owning CREATEROLE")
    upgrade(opened(schema))
    execute(schema, "DROP POLICY workspace ON groups")
    with pytest.raises((UpgradeForbidden, DatabaseRoleMissing)):
        upgrade(open_database(login(schema, "serving"), role=ROLE))


@pytest.mark.parametrize("name", ["user", "select", "table"])
async def test_a_role_may_be_named_like_a_word_of_sql(empty_schema: str, name: str) -> None:
    execute(empty_schema, f'DROP ROLE IF EXISTS "{name}"')
    database = open_database(empty_schema, role=name)
    upgrade(database)
    async with database.read(SYSTEM) as session:
        assert (await session.execute(text("SELECT current_user"))).scalar_one() == name
    await database.close()
    execute(empty_schema, f'DROP OWNED BY "{name}"; DROP ROLE "{name}"')
