"""A task that is cancelled in the middle of a write commits nothing and holds nothing up."""

import asyncio
import contextvars
from collections import Counter
from collections.abc import Awaitable, Callable

import pytest
from sqlalchemy import text

from gaby.kernel.database import Database, WriteSession
from gaby.kernel.ids import SYSTEM
from tests.kernel.database.stories import A, add_group, group, group_names, on_postgres, on_sqlite

pytestmark = pytest.mark.promise("P4")

SLOW_ON_SQLITE = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 400000) SELECT max(i) FROM n"
SLOW_ON_POSTGRES = "SELECT pg_sleep(30)"
_outside = contextvars.copy_context()


async def cancel_at(db: Database, moment: Callable[[WriteSession, asyncio.Event], Awaitable[None]]) -> None:
    """Write a group, arrive at the moment, and be cancelled there."""
    arrived = asyncio.Event()

    async def write() -> None:
        async with db.write(A) as session:
            session.add(group("unfinished"))
            await session.flush()
            await moment(session, arrived)

    task = asyncio.create_task(write())
    await arrived.wait()
    await asyncio.wait([task], timeout=0.01)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


async def assert_all_is_well(db: Database) -> None:
    assert not db.gate.locked()
    assert not db.in_write_session()
    await asyncio.wait_for(add_group(db, "next"), timeout=10)
    assert await group_names(db) == ["next", "of A"]


async def waiting_for_something_else(session: WriteSession, arrived: asyncio.Event) -> None:
    arrived.set()
    await asyncio.Event().wait()


async def in_a_slow_statement_of_sqlite(session: WriteSession, arrived: asyncio.Event) -> None:
    arrived.set()
    await session.execute(text(SLOW_ON_SQLITE))
    await asyncio.Event().wait()


async def in_a_slow_statement_of_postgres(session: WriteSession, arrived: asyncio.Event) -> None:
    arrived.set()
    await session.execute(text(SLOW_ON_POSTGRES))


async def test_cancelled_between_statements(two_workspaces: Database) -> None:
    await cancel_at(two_workspaces, waiting_for_something_else)
    await assert_all_is_well(two_workspaces)


@on_sqlite
async def test_cancelled_inside_a_statement_on_sqlite(two_workspaces: Database) -> None:
    await cancel_at(two_workspaces, in_a_slow_statement_of_sqlite)
    await assert_all_is_well(two_workspaces)


@on_postgres
async def test_cancelled_inside_a_statement_on_postgres(two_workspaces: Database) -> None:
    await cancel_at(two_workspaces, in_a_slow_statement_of_postgres)
    await assert_all_is_well(two_workspaces)


async def test_cancelled_while_a_listener_hears_the_events(two_workspaces: Database) -> None:
    async def hook(session: WriteSession) -> None:
        await waiting_for_something_else(session, arrived)

    arrived = asyncio.Event()

    async def write() -> None:
        async with two_workspaces.write(A) as session:
            session.add(group("unfinished"))
            session.before_commit(hook)

    task = asyncio.create_task(write())
    await arrived.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await assert_all_is_well(two_workspaces)


@on_sqlite
async def test_cancelled_while_waiting_for_its_turn(two_workspaces: Database) -> None:
    async with two_workspaces.write(SYSTEM):
        # A fresh context: this writer is not inside the one above, it only has to wait for it.
        waiting = asyncio.get_running_loop().create_task(add_group(two_workspaces, "never"), context=_outside)
        await asyncio.wait([waiting], timeout=0.05)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
    await assert_all_is_well(two_workspaces)


async def test_cancelled_anywhere_a_write_is_whole_or_absent(two_workspaces: Database) -> None:
    """Cancelled after none, one, two, ... turns of the event loop, wherever that finds it."""

    async def write(turns: int) -> None:
        async with two_workspaces.write(A) as session:
            session.add(group(f"{turns:03} one half"))
            await session.flush()
            session.add(group(f"{turns:03} other half"))

    for turns in range(100):
        task = asyncio.create_task(write(turns))
        for _ in range(turns):
            await asyncio.sleep(0)
        task.cancel()
        await asyncio.wait([task])
    await asyncio.wait_for(add_group(two_workspaces, "next"), timeout=10)
    halves = [name for name in await group_names(two_workspaces) if name.endswith("half")]
    assert Counter(name[:3] for name in halves) == {name[:3]: 2 for name in halves}
