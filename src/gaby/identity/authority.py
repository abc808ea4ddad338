"""What somebody may do and hand on at this moment.

Read from the database each time, never from what was true when a key or a link was made: whoever is removed, suspended
or demoted takes down with them what acts in their name.
"""

from datetime import datetime
from typing import NamedTuple
from uuid import UUID

from gaby.identity.models import ApiKey, Invitation, Membership, Person
from gaby.identity.roles import Role
from gaby.kernel.actors import Actor, Permission
from gaby.kernel.database import ReadSession


class EffectivePermissions(NamedTuple):
    permissions: frozenset[Permission] = frozenset()
    highest_role: Role | None = None
    """The highest role that may be given or taken. A key has none, and goes by its permissions."""
    expires_at: datetime | None = None
    """When it ends by itself. What it makes ends no later."""

    def may_grant(self, role: Role) -> bool:
        """Nobody hands out, or takes away, more than they hold; and no key makes or unmakes owners."""
        if self.highest_role is not None:
            return self.highest_role.may_grant(role)
        return role is not Role.OWNER and role.permissions <= self.permissions


NONE = EffectivePermissions()
ALL = EffectivePermissions(frozenset(Permission), Role.OWNER)


async def person_authority(session: ReadSession, workspace_id: UUID, person_id: UUID) -> EffectivePermissions:
    person = await session.get(Person, person_id)
    membership = await session.get(Membership, (workspace_id, person_id))
    if person is None or person.disabled_at is not None or membership is None:
        return NONE
    role = Role(membership.role)
    if person.manages_installation:
        return EffectivePermissions(role.permissions | {Permission.INSTALLATION_MANAGE}, Role.OWNER)
    return EffectivePermissions(role.permissions, role)


async def key_authority(session: ReadSession, key: ApiKey, *, now: datetime) -> EffectivePermissions | None:
    """The key's scopes, as far as the person who made it has them still; None when the key is no longer accepted."""
    if key.revoked_at is not None or (key.expires_at is not None and now >= key.expires_at):
        return None
    scopes = frozenset(permission for permission in Permission if permission.value in key.scopes)
    if key.created_by is not None:
        maker = await person_authority(session, key.workspace_id, key.created_by)
        if maker is NONE:
            return None
        scopes &= maker.permissions
    return EffectivePermissions(scopes, expires_at=key.expires_at)


async def actor_authority(session: ReadSession, actor: Actor, *, now: datetime) -> EffectivePermissions:
    """What the actor may hand on in their own workspace. A key stays locked, so that it cannot be revoked meanwhile."""
    match actor.kind:
        case "system":
            return ALL
        case "user" if actor.person_id is not None:
            return await person_authority(session, actor.workspace_id, actor.person_id)
        case "key":
            return await _authority_of_key(session, actor.workspace_id, UUID(actor.id), now=now, lock=True)
        case _:
            return NONE


async def inviter_authority(session: ReadSession, invitation: Invitation, *, now: datetime) -> EffectivePermissions:
    """What whoever made the invitation may give now."""
    workspace_id = invitation.workspace_id
    if invitation.invited_by_key is not None:
        return await _authority_of_key(session, workspace_id, invitation.invited_by_key, now=now)
    if invitation.invited_by is not None:
        return await person_authority(session, workspace_id, invitation.invited_by)
    return ALL


async def _authority_of_key(
    session: ReadSession, workspace_id: UUID, key_id: UUID, *, now: datetime, lock: bool = False
) -> EffectivePermissions:
    key = await session.get(ApiKey, (workspace_id, key_id), with_for_update=lock)
    return (await key_authority(session, key, now=now) if key is not None else None) or NONE
