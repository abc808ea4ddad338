"""Groups of people in a workspace: audiences for what is shared and approved."""

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import delete, select

from gaby.identity.models import Group, GroupMember, Membership
from gaby.kernel.actors import Actor
from gaby.kernel.clock import Clock
from gaby.kernel.database import ReadSession, WriteSession
from gaby.kernel.errors import Conflict, NotFound
from gaby.kernel.events import Event
from gaby.kernel.ids import GroupId, IdFactory, PersonId


@dataclass(frozen=True)
class GroupWithMembers:
    id: GroupId
    name: str
    members: list[PersonId]


class Groups:
    def __init__(self, clock: Clock, ids: IdFactory) -> None:
        self._clock = clock
        self._ids = ids

    async def create(self, session: WriteSession, actor: Actor, *, name: str) -> GroupWithMembers:
        same = select(Group.id).where(Group.workspace_id == session.workspace_id, Group.name == name)
        if (await session.scalars(same)).first() is not None:
            raise Conflict("There is a group of this name already. Choose another name.")
        group = Group(workspace_id=session.workspace_id, id=self._ids.new(), name=name, created_at=self._clock.now())
        session.add(group)
        await session.flush()
        session.emit(Event("group.created", session.workspace_id, actor, {"group_id": str(group.id), "name": name}))
        return GroupWithMembers(GroupId(group.id), name, [])

    async def list(self, session: ReadSession) -> Sequence[GroupWithMembers]:
        groups = select(Group).where(Group.workspace_id == session.workspace_id).order_by(Group.name)
        members = (
            select(GroupMember)
            .where(GroupMember.workspace_id == session.workspace_id)
            .order_by(GroupMember.group_id, GroupMember.person_id)
        )
        by_group: dict[GroupId, list[PersonId]] = {}
        for member in await session.scalars(members):
            by_group.setdefault(GroupId(member.group_id), []).append(PersonId(member.person_id))
        return [
            GroupWithMembers(GroupId(group.id), group.name, by_group.get(GroupId(group.id), []))
            for group in await session.scalars(groups)
        ]

    async def remove(self, session: WriteSession, actor: Actor, group_id: GroupId) -> None:
        group = await self._load(session, group_id, lock=True)
        await session.delete(group)
        session.emit(Event("group.removed", session.workspace_id, actor, {"group_id": str(group_id)}))

    async def add_member(self, session: WriteSession, actor: Actor, group_id: GroupId, person_id: PersonId) -> None:
        await self._load(session, group_id)
        if await session.get(Membership, (session.workspace_id, person_id)) is None:
            raise NotFound
        key = (session.workspace_id, group_id, person_id)
        if await session.get(GroupMember, key) is None:
            session.add(GroupMember(workspace_id=key[0], group_id=group_id, person_id=person_id))
            session.emit(Event("group.member_added", session.workspace_id, actor, _pair(group_id, person_id)))

    async def remove_member(self, session: WriteSession, actor: Actor, group_id: GroupId, person_id: PersonId) -> None:
        await self._load(session, group_id)
        gone = delete(GroupMember).where(
            GroupMember.workspace_id == session.workspace_id,
            GroupMember.group_id == group_id,
            GroupMember.person_id == person_id,
        )
        removed = await session.scalars(gone.returning(GroupMember.person_id))
        if removed.first() is None:
            raise NotFound
        session.emit(Event("group.member_removed", session.workspace_id, actor, _pair(group_id, person_id)))

    async def _load(self, session: ReadSession, group_id: GroupId, *, lock: bool = False) -> Group:
        group = await session.get(Group, (session.workspace_id, group_id), with_for_update=lock)
        if group is None:
            raise NotFound
        return group


def _pair(group_id: GroupId, person_id: PersonId) -> dict[str, str]:
    return {"group_id": str(group_id), "person_id": str(person_id)}
