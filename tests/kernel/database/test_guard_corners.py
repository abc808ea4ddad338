"""The workspace guard in the corners of SQL: other sources of a change, upserts, writes inside reads, bits of text."""

from typing import Any
from uuid import uuid4

import pytest
from sqlalchemy import (
    Executable,
    String,
    column,
    delete,
    func,
    insert,
    literal_column,
    select,
    table,
    tablesample,
    text,
    true,
    update,
)
from sqlalchemy.dialects import postgresql, sqlite

from gaby.identity.models import ApiKey, Group, GroupMember, Invitation, Membership, Person
from gaby.kernel.database import Database
from gaby.kernel.database.guard import UnscopedStatement
from tests.kernel.database.stories import NOW, A, B, group_names, on_postgres

pytestmark = pytest.mark.promise("P4")


def row(**values: Any) -> dict[str, Any]:
    return {"workspace_id": A, "id": uuid4(), "name": "of A", "created_at": NOW} | values


newest_key = select(func.max(ApiKey.name)).scalar_subquery()
own_newest_key = select(func.max(ApiKey.name)).where(ApiKey.workspace_id == A).scalar_subquery()
members = select(GroupMember.group_id).where(GroupMember.workspace_id == A).subquery()
all_members = select(GroupMember.group_id).subquery()

REFUSED: dict[str, Executable] = {
    "update from": update(Group).where(Group.workspace_id == A, Group.name == Membership.role).values(name="x"),
    "update to a column of": update(Group)
    .where(Group.workspace_id == A, Group.id == Membership.person_id)
    .values(name=Membership.role),
    "update from a subquery": update(Group)
    .where(Group.workspace_id == A, Group.id == all_members.c.group_id)
    .values(name="x"),
    "update of another table from": update(Person).where(Person.id == Membership.person_id).values(name="x"),
    "update to a subquery": update(Group).where(Group.workspace_id == A).values(name=newest_key),
    "delete where in": delete(Group).where(Group.workspace_id == A, Group.id.in_(select(GroupMember.group_id))),
    "insert a subquery": insert(Group).values(row(name=newest_key)),
    "insert several with a subquery": insert(Group).values([row(), row(name=newest_key)]),
    "insert a subquery elsewhere": insert(Person).values(
        id=uuid4(), email="e", name=newest_key, created_at=NOW, manages_installation=False
    ),
    "delete inside a select": select(Person).add_cte(delete(Group).cte("gone")),
    "update inside a select": select(Person).add_cte(
        update(Group).where(Group.workspace_id == B).values(name="x").cte("changed")
    ),
    "order by a subquery": select(Person).order_by(newest_key),
    "a sample": select(tablesample(Group, 10)),
    "lateral": select(Person).join(select(Group.name).lateral("names"), true()),
    "text as a source": select(literal_column("name", String())).select_from(text("groups")),
    "a bare table": select(column("name", String())).select_from(table("groups")),
    "a literal column": select(literal_column("(SELECT max(name) FROM groups)", String())),
    "text as a column": select(text("(SELECT max(name) FROM groups)")),
    "text as a condition": select(Person).where(text("name IN (SELECT name FROM groups)")),
    "text as an order": select(Person).order_by(text("(SELECT max(name) FROM groups)")),
    "text as a value": update(Group)
    .where(Group.workspace_id == A)
    .values(name=text("(SELECT max(name) FROM api_keys)")),
    "text among several values": insert(Group).values([row(), row(name=text("(SELECT max(name) FROM api_keys)"))]),
}

ALLOWED: dict[str, Executable] = {
    "update from its own": update(Group)
    .where(Group.workspace_id == A, Membership.workspace_id == Group.workspace_id, Membership.role == "owner")
    .values(name="x"),
    "update from its own subquery": update(Group)
    .where(Group.workspace_id == A, Group.id == members.c.group_id)
    .values(name="x"),
    "update to its own subquery": update(Invitation).where(Invitation.workspace_id == A).values(email=own_newest_key),
    "delete where in its own": delete(Group).where(
        Group.workspace_id == A, Group.id.in_(select(GroupMember.group_id).where(GroupMember.workspace_id == A))
    ),
    "insert its own subquery": insert(Group).values(row(name=func.coalesce(own_newest_key, "none"))),
    "several": insert(Group).values([row(name="one"), row(name="two")]),
    "text on other tables": select(Person).where(text("name IN (SELECT email FROM people)")),
}


@pytest.mark.parametrize("name", REFUSED)
async def test_what_another_workspace_owns_is_not_reached_by_a_detour(two_workspaces: Database, name: str) -> None:
    with pytest.raises(UnscopedStatement):
        async with two_workspaces.write(A) as session:
            await session.execute(REFUSED[name])


@pytest.mark.parametrize("name", ALLOWED)
async def test_the_same_detours_within_the_workspace_are_fine(two_workspaces: Database, name: str) -> None:
    async with two_workspaces.write(A) as session:
        await session.execute(ALLOWED[name])


def upsert(
    db: Database, into: type[Any], values: dict[str, Any], key: list[str], changes: dict[str, Any]
) -> Executable:
    made = sqlite.insert(into) if db.dialect == "sqlite" else postgresql.insert(into)
    return made.values(values).on_conflict_do_update(index_elements=key, set_=changes)


async def test_an_upsert_within_the_workspace_is_fine(two_workspaces: Database) -> None:
    async with two_workspaces.write(A) as session:
        await session.execute(upsert(two_workspaces, Group, row(), ["workspace_id", "name"], {"name": "renamed"}))
    assert await group_names(two_workspaces) == ["renamed"]


async def test_an_upsert_cannot_move_a_row_to_another_workspace(two_workspaces: Database) -> None:
    moved = upsert(two_workspaces, Group, row(), ["workspace_id", "name"], {"workspace_id": B})
    with pytest.raises(UnscopedStatement):
        async with two_workspaces.write(A) as session:
            await session.execute(moved)
    assert await group_names(two_workspaces, B) == ["of B"]


async def test_an_upsert_cannot_meet_a_row_of_another_workspace(two_workspaces: Database) -> None:
    """The hash of an invitation is unique across workspaces, so the row it meets may be anybody's."""
    values = {
        "workspace_id": A,
        "id": uuid4(),
        "email": "a@example.org",
        "role": "viewer",
        "token_hash": b"x" * 32,
        "created_at": NOW,
        "expires_at": NOW,
    }
    with pytest.raises(UnscopedStatement):
        async with two_workspaces.write(A) as session:
            await session.execute(upsert(two_workspaces, Invitation, values, ["token_hash"], {"email": "mine"}))


async def test_an_upsert_cannot_copy_from_another_workspace(two_workspaces: Database) -> None:
    with pytest.raises(UnscopedStatement):
        async with two_workspaces.write(A) as session:
            await session.execute(upsert(two_workspaces, Group, row(), ["workspace_id", "name"], {"name": newest_key}))


@on_postgres
async def test_a_delete_cannot_lean_on_rows_of_another_workspace(two_workspaces: Database) -> None:
    with pytest.raises(UnscopedStatement):
        async with two_workspaces.write(A) as session:
            await session.execute(delete(Group).where(Group.workspace_id == A, Group.id == GroupMember.group_id))


@on_postgres
async def test_a_delete_inside_a_select_works_within_the_workspace(two_workspaces: Database) -> None:
    gone = delete(Group).where(Group.workspace_id == A).returning(Group.name).cte("gone")
    async with two_workspaces.write(A) as session:
        assert list(await session.scalars(select(gone.c.name))) == ["of A"]
    assert await group_names(two_workspaces) == []
