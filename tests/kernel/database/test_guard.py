"""The workspace guard: what it refuses, what it lets through, on both engines."""

from datetime import UTC, datetime
from typing import Any
from uuid import UUID, uuid4

import pytest
from sqlalchemy import (
    Executable,
    Uuid,
    and_,
    bindparam,
    delete,
    exists,
    func,
    insert,
    literal_column,
    or_,
    select,
    text,
    update,
)
from sqlalchemy.orm import aliased

from gaby.identity.models import Group, GroupMember, Membership, Person, Workspace
from gaby.kernel.database import AllWorkspaces, Database
from gaby.kernel.database.guard import UnscopedStatement
from gaby.kernel.ids import SYSTEM, WorkspaceId

A = WorkspaceId(UUID(int=0xA))
B = WorkspaceId(UUID(int=0xB))
NOW = datetime(2030, 1, 1, tzinfo=UTC)

pytestmark = pytest.mark.promise("P4")


@pytest.fixture
async def two_workspaces(db: Database) -> Database:
    async with db.write(SYSTEM) as session:
        session.add_all(Workspace(id=each, slug=f"w{each.int}", name="W", created_at=NOW) for each in (A, B))
        await session.flush()
    for each in (A, B):
        async with db.write(each) as session:
            session.add(Group(workspace_id=each, id=uuid4(), name=f"group of {each.int}", created_at=NOW))
    return db


other = aliased(Group)
REFUSED: dict[str, Executable] = {
    "no condition": select(Group),
    "count": select(func.count()).select_from(Group),
    "by id alone": select(Group).where(Group.id == uuid4()),
    "under or": select(Group).where(or_(Group.workspace_id == A, Group.name == "x")),
    "under not": select(Group).where(~(Group.workspace_id == B)),
    "not equal": select(Group).where(Group.workspace_id != B),
    "in a list": select(Group).where(Group.workspace_id.in_([A, B])),
    "compared to itself": select(Group).where(Group.workspace_id == Group.workspace_id),
    "a literal": select(Group).where(Group.workspace_id == literal_column("workspace_id")),
    "one side of a join": select(Group, GroupMember)
    .join(GroupMember, GroupMember.group_id == Group.id)
    .where(Group.workspace_id == A),
    "left side of an outer join": select(Group).outerjoin(
        GroupMember, and_(GroupMember.group_id == Group.id, Group.workspace_id == A, GroupMember.workspace_id == A)
    ),
    "a second alias": select(Group, other).join(other, other.name == Group.name).where(Group.workspace_id == A),
    "second half of a union": select(Group.id).where(Group.workspace_id == A).union_all(select(Group.id)),
    "an open subquery": select(select(Group.id).subquery()),
    "an open cte": select(select(Group.id).cte("open")),
    "an open exists": select(Group).where(Group.workspace_id == A, exists().where(GroupMember.group_id == Group.id)),
    "an open scalar": select(select(func.count()).select_from(GroupMember).scalar_subquery()),
    "not correlated": select(Group).where(
        Group.workspace_id == A,
        Group.name.in_(select(Group.name).join(Person, Person.name == Group.name).correlate(None)),
    ),
    "another workspace": select(Group).where(Group.workspace_id == B),
    "update all": update(Group).values(name="mine"),
    "update another": update(Group).where(Group.workspace_id == B).values(name="mine"),
    "move away": update(Group).where(Group.workspace_id == A).values(workspace_id=B),
    "delete all": delete(Group),
    "delete by id": delete(Group).where(Group.id == uuid4()),
    "insert elsewhere": insert(Group).values(workspace_id=B, id=uuid4(), name="x", created_at=NOW),
    "insert several elsewhere": insert(Group).values(
        [{"workspace_id": each, "id": uuid4(), "name": "x", "created_at": NOW} for each in (A, B)]
    ),
    "insert from an open select": insert(Group).from_select(
        ["workspace_id", "id", "name", "created_at"], select(Group)
    ),
    "text": text("SELECT * FROM groups"),
    "text with a hint": text("SELECT * FROM groups -- workspace_id = 1"),
    "quoted text": text('SELECT * FROM "groups"'),
}

ALLOWED: dict[str, Executable] = {
    "its own": select(Group).where(Group.workspace_id == A),
    "the other way round": select(Group).where(bindparam("ours", A, Uuid()) == Group.workspace_id),
    "with more": select(Group).where(Group.workspace_id == A, or_(Group.name == "x", Group.name == "y")),
    "joined on the workspace": select(Group)
    .join(GroupMember, and_(GroupMember.workspace_id == Group.workspace_id, GroupMember.group_id == Group.id))
    .where(Group.workspace_id == A),
    "outer joined on the workspace": select(Group)
    .outerjoin(GroupMember, and_(GroupMember.workspace_id == Group.workspace_id, GroupMember.group_id == Group.id))
    .where(Group.workspace_id == A),
    "joined to a table without workspace": select(Membership, Person)
    .join(Person, Person.id == Membership.person_id)
    .where(Membership.workspace_id == A),
    "exists, leaning on the outside": select(Group).where(
        Group.workspace_id == A,
        exists().where(GroupMember.workspace_id == Group.workspace_id, GroupMember.group_id == Group.id),
    ),
    "a bound subquery": select(select(Group.id).where(Group.workspace_id == A).subquery()),
    "update": update(Group).where(Group.workspace_id == A).values(name="mine"),
    "delete": delete(Group).where(Group.workspace_id == A),
    "insert": insert(Group).values(workspace_id=A, id=uuid4(), name="x", created_at=NOW),
    "text that binds": text("SELECT * FROM groups WHERE workspace_id = :workspace_id").bindparams(
        bindparam("workspace_id", A, Uuid())
    ),
    "no workspace table": select(Person),
}


@pytest.mark.parametrize("name", REFUSED)
async def test_a_statement_that_does_not_bind_its_workspace_is_refused(two_workspaces: Database, name: str) -> None:
    with pytest.raises(UnscopedStatement):
        async with two_workspaces.write(A) as session:
            await session.execute(REFUSED[name])


@pytest.mark.parametrize("name", ALLOWED)
async def test_a_statement_that_binds_its_workspace_runs(two_workspaces: Database, name: str) -> None:
    async with two_workspaces.write(A) as session:
        await session.execute(ALLOWED[name])


async def test_raw_driver_sql_on_a_workspace_table_is_refused(two_workspaces: Database) -> None:
    async with two_workspaces.read(A) as session:
        connection = await session.connection()
        with pytest.raises(UnscopedStatement):
            await connection.exec_driver_sql("SELECT count(*) FROM groups")


async def test_the_same_statement_is_checked_again_for_each_workspace(two_workspaces: Database) -> None:
    async def names(scope: WorkspaceId, asked: WorkspaceId) -> list[str]:
        async with two_workspaces.read(scope) as session:
            return list(await session.scalars(select(Group.name).where(Group.workspace_id == asked)))

    assert await names(A, A) == ["group of 10"]
    assert await names(B, B) == ["group of 11"]
    with pytest.raises(UnscopedStatement):
        await names(B, A)


async def test_the_orm_names_the_workspace_when_it_writes(two_workspaces: Database) -> None:
    async with two_workspaces.write(A) as session:
        group = (await session.scalars(select(Group).where(Group.workspace_id == A))).one()
        group.name = "renamed"
        await session.flush()
        await session.delete(group)


async def test_an_object_of_another_workspace_cannot_be_added(two_workspaces: Database) -> None:
    with pytest.raises(UnscopedStatement):
        async with two_workspaces.write(A) as session:
            session.add(Group(workspace_id=B, id=uuid4(), name="smuggled", created_at=NOW))


async def test_across_workspaces_needs_a_reason_and_then_sees_all(two_workspaces: Database) -> None:
    async with two_workspaces.read(AllWorkspaces("a test counts everything")) as session:
        found: Any = await session.scalar(select(func.count()).select_from(Group))
    assert found == 2
