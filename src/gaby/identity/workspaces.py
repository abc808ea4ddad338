"""Workspaces: the customers or departments that share an installation without seeing each other."""

import re
from collections.abc import Sequence

from sqlalchemy import select

from gaby.identity.models import Membership, Workspace
from gaby.identity.roles import Role
from gaby.kernel.actors import Actor
from gaby.kernel.clock import Clock
from gaby.kernel.database import ReadSession, WriteSession
from gaby.kernel.errors import Conflict, Invalid, NotFound
from gaby.kernel.events import Event
from gaby.kernel.ids import SYSTEM, IdFactory, PersonId, WorkspaceId

_SLUG = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?")


class Workspaces:
    def __init__(self, clock: Clock, ids: IdFactory) -> None:
        self._clock = clock
        self._ids = ids

    async def create(self, session: WriteSession, actor: Actor, *, slug: str, name: str) -> Workspace:
        if not _SLUG.fullmatch(slug):
            raise Invalid("A workspace's slug has 1 to 63 of a-z, 0-9 and -, and neither begins nor ends with -.")
        if await self.find(session, slug) is not None:
            raise Conflict(f"There is a workspace {slug} already. Choose another slug.")
        workspace = Workspace(id=self._ids.new(), slug=slug, name=name, created_at=self._clock.now())
        session.add(workspace)
        await session.flush()
        payload = {"slug": slug, "workspace_id": str(workspace.id)}
        session.emit(Event("workspace.created", SYSTEM, actor, payload))
        return workspace

    async def main(self, session: WriteSession, actor: Actor) -> Workspace:
        """The first workspace of an installation, made when it is not there yet."""
        return await self.find(session, "main") or await self.create(session, actor, slug="main", name="Main")

    async def rename(self, session: WriteSession, actor: Actor, *, name: str) -> Workspace:
        workspace = await self.get(session, session.workspace_id)
        payload = {"from": workspace.name, "to": name}
        workspace.name = name
        session.emit(Event("workspace.renamed", session.workspace_id, actor, payload))
        return workspace

    async def get(self, session: ReadSession, workspace_id: WorkspaceId) -> Workspace:
        workspace = await session.get(Workspace, workspace_id)
        if workspace is None:
            raise NotFound
        return workspace

    async def find(self, session: ReadSession, slug: str) -> Workspace | None:
        return (await session.scalars(select(Workspace).where(Workspace.slug == slug))).one_or_none()

    async def all(self, session: ReadSession) -> Sequence[Workspace]:
        return (await session.scalars(select(Workspace).order_by(Workspace.slug))).all()

    async def of_person(self, session: ReadSession, person_id: PersonId) -> list[tuple[Workspace, Role]]:
        """Needs a session across workspaces: it is asked before a workspace is chosen."""
        query = (
            select(Workspace, Membership.role)
            .join(Membership, Membership.workspace_id == Workspace.id)
            .where(Membership.person_id == person_id)
            .order_by(Workspace.slug)
        )
        return [(workspace, Role(role)) for workspace, role in (await session.execute(query))]
