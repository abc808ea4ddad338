"""A session that reads cannot write, whichever way it tries, on both engines."""

from collections.abc import Awaitable, Callable
from uuid import uuid4

import pytest
from sqlalchemy import delete, insert, select, text, update

from gaby.identity.models import Group
from gaby.kernel.database import AllWorkspaces, Database, ReadSession
from gaby.kernel.database.sessions import ReadOnly
from gaby.kernel.errors import GabyError
from tests.kernel.database.stories import NOW, A, add_group, group, group_names

pytestmark = pytest.mark.promise("P4")

Attempt = Callable[[ReadSession], Awaitable[object]]


async def add(session: ReadSession) -> None:
    session.add(group("added"))
    await session.flush()


async def add_and_commit(session: ReadSession) -> None:
    session.add(group("added"))
    await session.commit()


async def add_and_leave(session: ReadSession) -> None:
    session.add(group("added"))


async def change(session: ReadSession) -> None:
    (await session.scalars(select(Group).where(Group.workspace_id == A))).one().name = "changed"


async def remove(session: ReadSession) -> None:
    await session.delete((await session.scalars(select(Group).where(Group.workspace_id == A))).one())


async def core_insert(session: ReadSession) -> None:
    await session.execute(insert(Group).values(workspace_id=A, id=uuid4(), name="inserted", created_at=NOW))


async def core_update(session: ReadSession) -> None:
    await session.execute(update(Group).where(Group.workspace_id == A).values(name="updated"))


async def core_delete(session: ReadSession) -> None:
    await session.execute(delete(Group).where(Group.workspace_id == A))


async def raw(session: ReadSession) -> None:
    await session.execute(text("UPDATE people SET name = 'x'"))


async def raw_driver(session: ReadSession) -> None:
    await (await session.connection()).exec_driver_sql("CREATE TABLE mine (id INTEGER)")


ATTEMPTS: list[Attempt] = [
    add,
    add_and_commit,
    add_and_leave,
    change,
    remove,
    core_insert,
    core_update,
    core_delete,
    raw,
    raw_driver,
]


@pytest.mark.parametrize("attempt", ATTEMPTS)
async def test_a_session_that_reads_cannot_write(two_workspaces: Database, attempt: Attempt) -> None:
    with pytest.raises(ReadOnly):
        async with two_workspaces.read(A) as session:
            await attempt(session)
    assert await group_names(two_workspaces) == ["of A"]


async def test_looking_at_rows_without_changing_them_is_no_write(two_workspaces: Database) -> None:
    async with two_workspaces.read(A) as session:
        row = (await session.scalars(select(Group).where(Group.workspace_id == A))).one()
        row.name = str(row.name)


async def test_a_session_that_reads_sees_one_moment(two_workspaces: Database) -> None:
    count = select(Group.name).where(Group.workspace_id == A)
    async with two_workspaces.read(A) as session:
        before = list(await session.scalars(count))
        await add_group(two_workspaces, "meanwhile")
        assert list(await session.scalars(count)) == before
    assert await group_names(two_workspaces) == ["meanwhile", "of A"]


async def test_a_session_across_workspaces_has_no_workspace_of_its_own(two_workspaces: Database) -> None:
    async with two_workspaces.read(A) as session:
        assert session.workspace_id == A
    async with two_workspaces.read(AllWorkspaces("a test counts everything")) as session:
        with pytest.raises(GabyError, match="a test counts everything"):
            assert session.workspace_id


async def test_a_ping_answers(db: Database) -> None:
    await db.ping()
