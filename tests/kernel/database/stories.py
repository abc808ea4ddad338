"""A few words for telling stories about two workspaces."""

from datetime import UTC, datetime
from uuid import UUID, uuid4

import pytest
from sqlalchemy import select

from gaby.identity.models import Group, Workspace
from gaby.kernel.database import Database
from gaby.kernel.ids import SYSTEM, WorkspaceId

A = WorkspaceId(UUID(int=0xA))
B = WorkspaceId(UUID(int=0xB))
NOW = datetime(2030, 1, 1, tzinfo=UTC)

on_sqlite = pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
on_postgres = pytest.mark.parametrize("database_url", ["postgresql"], indirect=True)


def group(name: str, workspace_id: WorkspaceId = A) -> Group:
    return Group(workspace_id=workspace_id, id=uuid4(), name=name, created_at=NOW)


async def add_workspaces(db: Database) -> None:
    async with db.write(SYSTEM) as session:
        session.add_all(Workspace(id=each, slug=f"w{each.int}", name="W", created_at=NOW) for each in (A, B))


async def add_group(db: Database, name: str, workspace_id: WorkspaceId = A) -> None:
    async with db.write(workspace_id) as session:
        session.add(group(name, workspace_id))


async def group_names(db: Database, workspace_id: WorkspaceId = A) -> list[str]:
    async with db.read(workspace_id) as session:
        found = await session.scalars(select(Group.name).where(Group.workspace_id == workspace_id).order_by(Group.name))
        return list(found)
