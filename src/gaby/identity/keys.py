"""API keys: for programs. Each belongs to one workspace and can do no more than its scopes."""

from collections.abc import Sequence
from datetime import datetime, timedelta

from sqlalchemy import select, update

from gaby.identity.errors import KeyNotAccepted, MalformedKey
from gaby.identity.models import ApiKey
from gaby.identity.secrets import KeyText, hash_token, matches, new_key, parse_key
from gaby.kernel.actors import Actor, Permission
from gaby.kernel.clock import Clock
from gaby.kernel.database import ReadSession, WriteSession
from gaby.kernel.errors import Forbidden, Invalid, NotFound
from gaby.kernel.events import Event
from gaby.kernel.ids import ApiKeyId, Ids, Random, WorkspaceId

USED_EVERY = timedelta(minutes=1)
_NOBODY = hash_token("the secret of no key")


class ApiKeys:
    def __init__(self, clock: Clock, ids: Ids, random: Random) -> None:
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
        """The key's text is given here once and never again."""
        if not scopes:
            raise Invalid("A key needs at least one scope.")
        if missing := [scope for scope in scopes if not actor.may(scope)]:
            raise Forbidden(f"You cannot give a key what you may not do yourself: {', '.join(sorted(missing))}.")
        if expires_at is not None and expires_at <= self._clock.now():
            raise Invalid("The key would be expired already. Give a time in the future.")
        text = new_key(self._random)
        key = ApiKey(
            workspace_id=session.workspace_id,
            id=self._ids.new(),
            name=name,
            prefix=text.prefix,
            secret_hash=hash_token(text.secret),
            scopes=sorted(set(scopes)),
            created_by=actor.person_id,
            created_at=self._clock.now(),
            expires_at=expires_at,
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

    async def authenticate(self, session: ReadSession, text: str) -> ApiKey:
        """Needs a session across workspaces: the key is what tells the workspace."""
        try:
            given = parse_key(text)
        except MalformedKey:
            raise KeyNotAccepted from None
        key = (await session.scalars(select(ApiKey).where(ApiKey.prefix == given.prefix))).one_or_none()
        same = matches(given.secret, key.secret_hash if key is not None else _NOBODY)
        if key is None or not same or not self._is_live(key):
            raise KeyNotAccepted
        return key

    def was_used_long_ago(self, key: ApiKey) -> bool:
        return key.last_used_at is None or self._clock.now() - key.last_used_at >= USED_EVERY

    async def used(self, session: WriteSession, key_id: ApiKeyId) -> None:
        mine = (ApiKey.workspace_id == session.workspace_id, ApiKey.id == key_id)
        await session.execute(update(ApiKey).where(*mine).values(last_used_at=self._clock.now()))

    def _is_live(self, key: ApiKey) -> bool:
        return key.revoked_at is None and (key.expires_at is None or self._clock.now() < key.expires_at)


def actor_of(key: ApiKey) -> Actor:
    known = frozenset(permission for permission in Permission if permission.value in key.scopes)
    return Actor(kind="key", id=str(key.id), workspace_id=WorkspaceId(key.workspace_id), permissions=known)
