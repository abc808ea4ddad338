"""Postgres is stopped in the middle of the work, and comes back."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator

import pytest

from gaby.kernel.database import Database, open_database
from gaby.kernel.database.faults import DatabaseUnavailable
from gaby.migrations import find_drift, inspect_schema, upgrade
from tests.kernel.database.stories import A, add_group, add_workspaces, group, group_names
from tests.support.postgres import Postgres, start_postgres

pytestmark = pytest.mark.promise("O5")


@pytest.fixture(scope="module")
def server() -> Generator[Postgres]:
    """A server of our own: the others must not notice when it stops."""
    server = start_postgres()
    yield server
    server.remove()


@pytest.fixture
async def database(server: Postgres) -> AsyncGenerator[Database]:
    server.execute("DROP DATABASE IF EXISTS gaby WITH (FORCE)")
    server.execute("CREATE DATABASE gaby")
    database = open_database(server.url("gaby"))
    upgrade(database)
    await add_workspaces(database)
    await add_group(database, "before")
    yield database
    await database.close()


async def refused(operation: Callable[[], Awaitable[object]]) -> None:
    """The operation is answered at once, with an error that says to come back."""
    with pytest.raises(DatabaseUnavailable) as caught:
        async with asyncio.timeout(30):
            await operation()
    assert caught.value.status == 503
    assert int(caught.value.headers["Retry-After"]) > 0


async def test_while_it_is_gone_everything_is_refused_and_afterwards_everything_works(
    server: Postgres, database: Database
) -> None:
    server.stop()
    for _ in range(3):
        await refused(database.ping)
        await refused(lambda: group_names(database))
        await refused(lambda: add_group(database, "while it was gone"))
    server.start()
    await database.ping()
    await add_group(database, "after")
    assert await group_names(database) == ["after", "before"]


async def test_a_write_that_it_interrupts_leaves_nothing_half_written(server: Postgres, database: Database) -> None:
    async def write_two() -> None:
        async with database.write(A) as session:
            session.add(group("first half"))
            await session.flush()
            server.stop()
            session.add(group("second half"))

    await refused(write_two)
    server.start()
    assert await group_names(database) == ["before"]
    await add_group(database, "after")
    assert await group_names(database) == ["after", "before"]


async def test_a_write_that_only_has_to_commit_is_refused_too(server: Postgres, database: Database) -> None:
    async def write() -> None:
        async with database.write(A) as session:
            session.add(group("flushed"))
            await session.flush()
            server.stop()

    await refused(write)
    server.start()
    assert await group_names(database) == ["before"]


async def test_many_tasks_that_it_interrupts_all_hear_of_it_and_recover(server: Postgres, database: Database) -> None:
    inside = asyncio.Barrier(9)
    stopped = asyncio.Event()

    async def write(name: str) -> None:
        async with database.write(A) as session:
            session.add(group(name))
            await session.flush()
            await inside.wait()
            await stopped.wait()

    tasks = [asyncio.create_task(write(f"task {number}")) for number in range(8)]
    await inside.wait()
    server.stop()
    stopped.set()
    ended = await asyncio.gather(*tasks, return_exceptions=True)
    assert [type(each) for each in ended] == [DatabaseUnavailable] * 8

    server.start()
    await asyncio.gather(*(add_group(database, f"again {number}") for number in range(8)))
    assert await group_names(database) == [*(f"again {number}" for number in range(8)), "before"]


async def test_looking_at_the_schema_and_upgrading_say_so_too(server: Postgres, database: Database) -> None:
    server.stop()
    for look in (inspect_schema, upgrade, find_drift):
        with pytest.raises(DatabaseUnavailable):
            look(database)
    server.start()
    assert inspect_schema(database) == "current"
