"""A write is one transaction: everything or nothing, its events inside it and after it, one writer at a time."""

import asyncio

import pytest
from sqlalchemy import select

from gaby.identity.models import Group
from gaby.kernel.actors import system_actor
from gaby.kernel.database import Database, WriteSession
from gaby.kernel.database.database import NestedWrite
from gaby.kernel.errors import Conflict
from gaby.kernel.events import Event
from tests.kernel.database.stories import NOW, A, B, add_group, group, group_names, on_sqlite

pytestmark = pytest.mark.promise("P4")


class Broken(Exception):
    pass


def event(name: str = "group.created") -> Event:
    return Event(name, A, system_actor("test", A), {"at": NOW.isoformat()})


async def test_a_write_is_committed_when_its_block_ends_and_not_before(two_workspaces: Database) -> None:
    async with two_workspaces.write(A) as session:
        session.add(group("new"))
        await session.flush()
        assert await group_names(two_workspaces) == ["of A"]
    assert await group_names(two_workspaces) == ["new", "of A"]


async def test_a_write_that_fails_leaves_nothing(two_workspaces: Database) -> None:
    async def fail() -> None:
        async with two_workspaces.write(A) as session:
            session.add(group("new"))
            await session.flush()
            raise Broken

    with pytest.raises(Broken):
        await fail()
    assert await group_names(two_workspaces) == ["of A"]


async def test_a_row_that_exists_already_is_a_conflict_and_undoes_the_whole_write(two_workspaces: Database) -> None:
    async def add_twice() -> None:
        async with two_workspaces.write(A) as session:
            session.add(group("first"))
            await session.flush()
            session.add(group("of A"))

    with pytest.raises(Conflict):
        await add_twice()
    assert await group_names(two_workspaces) == ["of A"]


async def test_events_are_heard_inside_the_transaction_and_then_after_it(two_workspaces: Database) -> None:
    heard: list[tuple[str, str, list[str]]] = []

    async def inside(session: WriteSession, events: list[Event]) -> None:
        session.add(group("written by the listener"))
        heard.append(("inside", events[0].name, await group_names(two_workspaces)))

    async def after(told: Event) -> None:
        assert not two_workspaces.in_write_session()
        heard.append(("after", told.name, await group_names(two_workspaces)))

    two_workspaces.on_events(inside)
    two_workspaces.after_commit(after)
    async with two_workspaces.write(A) as session:
        session.add(group("new"))
        session.emit(event())
        assert heard == []

    assert heard == [
        ("inside", "group.created", ["of A"]),
        ("after", "group.created", ["new", "of A", "written by the listener"]),
    ]


async def test_when_a_listener_inside_fails_nothing_is_committed_and_nobody_is_told(two_workspaces: Database) -> None:
    told: list[Event] = []

    async def inside(session: WriteSession, events: list[Event]) -> None:
        await session.flush()
        raise Broken

    async def after(each: Event) -> None:
        told.append(each)

    async def write() -> None:
        async with two_workspaces.write(A) as session:
            session.add(group("new"))
            session.emit(event())

    two_workspaces.on_events(inside)
    two_workspaces.after_commit(after)
    with pytest.raises(Broken):
        await write()
    assert await group_names(two_workspaces) == ["of A"]
    assert told == []


async def test_events_of_a_write_that_fails_are_not_told(two_workspaces: Database) -> None:
    told: list[str] = []

    async def inside(session: WriteSession, events: list[Event]) -> None:
        told.append("inside")

    async def after(each: Event) -> None:
        told.append("after")

    async def write() -> None:
        async with two_workspaces.write(A) as session:
            session.emit(event())
            raise Broken

    two_workspaces.on_events(inside)
    two_workspaces.after_commit(after)
    with pytest.raises(Broken):
        await write()
    assert told == []


async def test_work_before_commit_rides_in_the_transaction(two_workspaces: Database) -> None:
    async def add_more(session: WriteSession) -> None:
        session.add(group("more"))

    async with two_workspaces.write(A) as session:
        session.before_commit(add_more)
    assert await group_names(two_workspaces) == ["more", "of A"]


async def test_what_is_written_is_not_called_failed_because_a_listener_fails(two_workspaces: Database) -> None:
    heard: list[str] = []

    async def breaks(each: Event) -> None:
        two_workspaces.after_commit(hears)
        raise Broken

    async def hears(each: Event) -> None:
        heard.append(each.name)

    two_workspaces.after_commit(breaks)
    two_workspaces.after_commit(hears)
    async with two_workspaces.write(A) as session:
        session.add(group("new"))
        session.emit(event())
    assert await group_names(two_workspaces) == ["new", "of A"]
    # Who begins to listen meanwhile hears what comes next.
    assert len(heard) == 1


async def test_a_listener_after_commit_may_write_again(two_workspaces: Database) -> None:
    async def after(each: Event) -> None:
        await add_group(two_workspaces, "follow-up")

    two_workspaces.after_commit(after)
    async with two_workspaces.write(A) as session:
        session.emit(event())
    assert await group_names(two_workspaces) == ["follow-up", "of A"]


async def test_a_write_inside_a_write_is_refused_at_once(two_workspaces: Database) -> None:
    with pytest.raises(NestedWrite):
        async with two_workspaces.write(A):
            await add_group(two_workspaces, "inner", B)
    assert await group_names(two_workspaces, B) == ["of B"]


async def test_after_a_refused_write_the_next_one_works(two_workspaces: Database) -> None:
    with pytest.raises(NestedWrite):
        async with two_workspaces.write(A), two_workspaces.write(A):
            pass
    await add_group(two_workspaces, "next")
    assert await group_names(two_workspaces) == ["next", "of A"]


async def test_a_task_started_inside_a_write_may_write_once_that_is_over(two_workspaces: Database) -> None:
    over = asyncio.Event()

    async def later() -> None:
        await over.wait()
        await add_group(two_workspaces, "later")

    async with two_workspaces.write(A):
        task = asyncio.create_task(later())
    over.set()
    await task
    assert await group_names(two_workspaces) == ["later", "of A"]


async def test_a_read_inside_a_write_sees_what_was_there_before(two_workspaces: Database) -> None:
    async with two_workspaces.write(A) as session:
        session.add(group("new"))
        await session.flush()
        assert await group_names(two_workspaces) == ["of A"]


async def test_fifty_writers_at_once_all_succeed(two_workspaces: Database) -> None:
    async def write(number: int) -> None:
        await add_group(two_workspaces, f"writer {number:02}")

    async with asyncio.TaskGroup() as tasks:
        for number in range(50):
            tasks.create_task(write(number))
    assert await group_names(two_workspaces) == ["of A", *(f"writer {number:02}" for number in range(50))]


@on_sqlite
async def test_writers_on_one_file_take_turns_in_the_order_they_came(two_workspaces: Database) -> None:
    begun: list[int] = []

    async def write(number: int) -> None:
        async with two_workspaces.write(A) as session:
            begun.append(number)
            session.add(group(f"writer {number:02}"))

    async with asyncio.TaskGroup() as tasks:
        for number in range(50):
            tasks.create_task(write(number))
    assert begun == list(range(50))


@on_sqlite
async def test_each_writer_on_one_file_sees_what_the_one_before_left(two_workspaces: Database) -> None:
    """A counter that is read and then written loses nothing, because nobody writes in between."""

    async def count_up() -> None:
        async with two_workspaces.write(A) as session:
            rows = (await session.scalars(select(Group).where(Group.workspace_id == A))).all()
            session.add(group(f"{len(rows):03}"))

    async with asyncio.TaskGroup() as tasks:
        for _ in range(20):
            tasks.create_task(count_up())
    assert await group_names(two_workspaces) == [*(f"{number:03}" for number in range(1, 21)), "of A"]
