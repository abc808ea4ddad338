"""API keys: for programs. Each belongs to one workspace, and can do no more than its scopes and its maker together.

A key follows its maker: when the person is removed or suspended it is refused, when they are demoted it is cut down. A
key that was made by a key has the same person behind it, no wider scopes, no later end, and is revoked with it.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta
from uuid import UUID

from sqlalchemy import select, update

from gaby.identity.authority import EffectivePermissions, actor_authority, key_authority
from gaby.identity.errors import KeyNotAccepted, MalformedKey
from gaby.identity.models import ApiKey
from gaby.identity.secrets import KeyText, hash_token, matches, new_key, parse_key
from gaby.kernel.actors import Actor, Permission
from gaby.kernel.clock import Clock
from gaby.kernel.database import ReadSession, WriteSession
from gaby.kernel.errors import Forbidden, Invalid, NotFound
from gaby.kernel.events import Event
from gaby.kernel.ids import ApiKeyId, IdFactory, Random, WorkspaceId

USED_EVERY = timedelta(minutes=1)
_NOBODY = hash_token("the secret of no key")


class ApiKeys:
    def __init__(self, clock: Clock, ids: IdFactory, random: Random) -> None:
        self._clock = clock
        self._ids = ids
        self._random = random

    async def create(
        self,
        session: WriteSession,
        actor: Actor,
        *,
        name: str,
        scopes: Sequence[Permission],
        expires_at: datetime | None = None,
    ) -> tuple[ApiKey, KeyText]:
        """The key's text is given here once and never again. What a key makes lasts no longer than itself."""
        if not scopes:
            raise Invalid("A key needs at least one scope.")
        now = self._clock.now()
        authority = await actor_authority(session, actor, now=now)
        if missing := set(scopes) - authority.permissions:
            raise Forbidden(f"You cannot give a key what you may not do yourself: {', '.join(sorted(missing))}.")
        if expires_at is not None and expires_at <= now:
            raise Invalid("The key would be expired already. Give a time in the future.")
        parent = await session.get(ApiKey, (session.workspace_id, UUID(actor.id))) if actor.kind == "key" else None
        text = new_key(self._random)
        key = ApiKey(
            workspace_id=session.workspace_id,
            id=self._ids.new(),
            name=name,
            prefix=text.prefix,
            secret_hash=hash_token(text.secret),
            scopes=sorted(set(scopes)),
            created_by=parent.created_by if parent is not None else actor.person_id,
            parent_id=parent.id if parent is not None else None,
            created_at=now,
            expires_at=_no_later(expires_at, authority.expires_at),
        )
        session.add(key)
        await session.flush()
        payload = {"key_id": str(key.id), "prefix": key.prefix, "scopes": key.scopes}
        session.emit(Event("key.created", session.workspace_id, actor, payload))
        return key, text

    async def list(self, session: ReadSession) -> Sequence[ApiKey]:
        query = select(ApiKey).where(ApiKey.workspace_id == session.workspace_id).order_by(ApiKey.id)
        return (await session.scalars(query)).all()

    async def revoke(self, session: WriteSession, actor: Actor, key_id: ApiKeyId) -> None:
        key = await session.get(ApiKey, (session.workspace_id, key_id), with_for_update=True)
        if key is None or key.revoked_at is not None:
            raise NotFound
        key.revoked_at = self._clock.now()
        session.emit(Event("key.revoked", session.workspace_id, actor, {"key_id": str(key_id)}))
        # Somebody who had the key in their hands may have made others with it.
        children = select(ApiKey.id).where(
            ApiKey.workspace_id == session.workspace_id, ApiKey.parent_id == key_id, ApiKey.revoked_at.is_(None)
        )
        for child in (await session.scalars(children)).all():
            await self.revoke(session, actor, ApiKeyId(child))

    async def authenticate(self, session: ReadSession, text: str) -> tuple[ApiKey, EffectivePermissions]:
        """The key and what it may do now. Needs a session across workspaces: the key is what tells the workspace."""
        try:
            given = parse_key(text)
        except MalformedKey:
            raise KeyNotAccepted from None
        key = (await session.scalars(select(ApiKey).where(ApiKey.prefix == given.prefix))).one_or_none()
        same = matches(given.secret, key.secret_hash if key is not None else _NOBODY)
        authority = await key_authority(session, key, now=self._clock.now()) if key is not None else None
        if key is None or not same or authority is None:
            raise KeyNotAccepted
        return key, authority

    def was_used_long_ago(self, key: ApiKey) -> bool:
        return key.last_used_at is None or self._clock.now() - key.last_used_at >= USED_EVERY

    async def used(self, session: WriteSession, key_id: ApiKeyId) -> None:
        mine = (ApiKey.workspace_id == session.workspace_id, ApiKey.id == key_id)
        await session.execute(update(ApiKey).where(*mine).values(last_used_at=self._clock.now()))


def actor_of(key: ApiKey, authority: EffectivePermissions) -> Actor:
    workspace_id = WorkspaceId(key.workspace_id)
    return Actor(kind="key", id=str(key.id), workspace_id=workspace_id, permissions=authority.permissions)


def _no_later(asked: datetime | None, end: datetime | None) -> datetime | None:
    if asked is not None and end is not None and asked > end:
        raise Forbidden(f"A key cannot outlive the one that makes it, which ends at {end.isoformat()}.")
    return asked or end
