"""Tokens of connectors that were signed in by OAuth: sealed with the other secrets, renewed before they run out."""

import asyncio
import json
from collections.abc import Mapping
from copy import copy
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from pydantic import BaseModel, ConfigDict, Field
from sqlalchemy import select

from gaby.kernel.actors import system_actor
from gaby.kernel.clock import Clock
from gaby.kernel.crypto import Vault
from gaby.kernel.database import Database, ReadSession, WriteSession
from gaby.kernel.errors import Invalid, NotFound
from gaby.kernel.events import Event
from gaby.kernel.log import get_log
from gaby.mcp import ConnectorAuthExpired, ConnectorError, ConnectorUnavailable, ServerKey
from gaby.tools.device_code import IssuedTokens, OAuthClient, OAuthHttp, SignInFailed, SignInRefused, refresh
from gaby.tools.models import ConnectorRecord
from gaby_connectors.catalogue import BUNDLED, settings_of_bundle

_log = get_log(__name__)
_PURPOSE = "connector"
_GRANT = "gaby:oauth"
"""Where the token lies among the sealed secrets. No variable and no header has a name like this."""

_MARGIN = timedelta(minutes=1)
_PAUSE = 10.0


class OAuthGrant(BaseModel):
    """What a sign-in brought, and what is needed to renew it or to sign in again."""

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)

    client: OAuthClient
    access_token: str = Field(repr=False)
    refresh_token: str | None = Field(default=None, repr=False)
    expires_at: datetime | None = None
    renew_at: datetime | None = None
    variable: str | None = Field(default=None, pattern=r"^[A-Za-z_][A-Za-z0-9_]{0,99}$")
    """Under which name a program gets the token. A server over HTTP gets a header."""

    @classmethod
    def from_issued(
        cls, client: OAuthClient, issued: IssuedTokens, now: datetime, variable: str | None = None
    ) -> "OAuthGrant":
        lifetime = timedelta(seconds=issued.lifetime) if issued.lifetime is not None else None
        return cls(
            client=client,
            access_token=issued.access_token,
            refresh_token=issued.refresh_token,
            expires_at=now + lifetime if lifetime is not None else None,
            # A token that lives for seconds is not renewed at every call.
            renew_at=now + lifetime - min(_MARGIN, lifetime / 5) if lifetime is not None else None,
            variable=variable,
        )

    def renewed(self, issued: IssuedTokens, now: datetime) -> "OAuthGrant":
        fresh = OAuthGrant.from_issued(self.client, issued, now, self.variable)
        # A server that sends no new refresh token lets the old one live.
        return fresh if fresh.refresh_token else fresh.model_copy(update={"refresh_token": self.refresh_token})

    def is_due(self, now: datetime) -> bool:
        return self.refresh_token is not None and self.renew_at is not None and now >= self.renew_at

    def has_expired(self, now: datetime) -> bool:
        return self.expires_at is not None and now >= self.expires_at


@dataclass(frozen=True)
class ConnectorSecrets:
    """A connector's secrets, for its launch alone."""

    secrets: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)
    grant: OAuthGrant | None = None

    @property
    def environment(self) -> dict[str, str]:
        grant = self.grant
        token = {grant.variable: grant.access_token} if grant is not None and grant.variable is not None else {}
        return {**self.secrets, **token}

    @property
    def headers(self) -> dict[str, str]:
        if self.grant is None:
            return dict(self.secrets)
        others = {name: value for name, value in self.secrets.items() if name.lower() != "authorization"}
        return {**others, "Authorization": f"Bearer {self.grant.access_token}"}


async def seal_secrets(
    session: WriteSession, vault: Vault, row_id: object, secrets: Mapping[str, str], grant: OAuthGrant | None = None
) -> str | None:
    if _GRANT in secrets:
        raise Invalid(f"No setting can be called {_GRANT}.")
    together = {**secrets, **({_GRANT: grant.model_dump_json()} if grant is not None else {})}
    return await vault.seal(session, f"connector:{row_id}", json.dumps(together), _PURPOSE) if together else None


async def open_secrets(session: ReadSession, vault: Vault, row: ConnectorRecord) -> ConnectorSecrets:
    if row.secrets is None:
        return ConnectorSecrets()
    secrets: dict[str, str] = json.loads(await vault.open(session, f"connector:{row.id}", row.secrets, _PURPOSE))
    grant = secrets.pop(_GRANT, None)
    return ConnectorSecrets(secrets, OAuthGrant.model_validate_json(grant) if grant is not None else None)


def check_place(row: ConnectorRecord, variable: str | None) -> None:
    """The token must have a place to go. Gaby's own connectors take only what they declare as a secret."""
    way = row.launch["transport"]
    if way == "http" and variable is not None:
        raise Invalid(f"{row.name} is a server over HTTP and gets its token as a header. Leave out --as.")
    if way != "http" and variable is None:
        raise Invalid(f"{row.name} is a program. Say with --as under which variable it expects its token.")
    if way == "bundled":
        secret = [each.variable for each in settings_of_bundle(BUNDLED[row.kind]) if each.secret]
        if variable not in secret:
            raise Invalid(f"{row.kind} takes no token under that name. Its secrets are: {', '.join(secret) or 'none'}.")


class TokenRefresher:
    """Renews tokens, for each connector once at a time, however many calls wait for it."""

    def __init__(self, database: Database, vault: Vault, clock: Clock, wire: OAuthHttp) -> None:
        self._database = database
        self._vault = vault
        self._clock = clock
        self._wire = wire
        self._under_way: dict[ServerKey, asyncio.Task[OAuthGrant | ConnectorError]] = {}
        self._not_before: dict[ServerKey, float] = {}
        self._unsaved: dict[ServerKey, tuple[OAuthGrant, OAuthGrant]] = {}

    def is_due(self, grant: OAuthGrant) -> bool:
        return grant.is_due(self._clock.now())

    async def keep_fresh(self, key: ServerKey) -> None:
        """Renew the token if it runs out soon. Trouble with that matters only once it has run out."""
        async with self._database.read(key.workspace_id) as session:
            grant = (await open_secrets(session, self._vault, await _row(session, key))).grant
        if grant is None or not self.is_due(grant):
            return
        try:
            await self._newer(key, grant)
        except ConnectorError as error:
            if grant.has_expired(self._clock.now()):
                raise
            _log.warning("connector.not_renewed", connector=key.connector, error=error.code)

    async def renew(self, key: ServerKey, refused: OAuthGrant) -> bool:
        """Whether there is a newer token than the one that was refused. Raises when that cannot be known now."""
        try:
            return (await self._newer(key, refused)).access_token != refused.access_token
        except ConnectorAuthExpired:
            return False

    async def finish(self) -> None:
        """What was renewed is also stored, since the old token may be worth nothing any more."""
        if self._under_way:
            await asyncio.wait(list(self._under_way.values()))

    async def _newer(self, key: ServerKey, used: OAuthGrant) -> OAuthGrant:
        task = self._under_way.get(key)
        if task is None:
            task = asyncio.create_task(self._renew(key, used), name=f"token of {key.connector}")
            self._under_way[key] = task
            task.add_done_callback(lambda done: self._done(key, done))
        # Shielded: whoever gives up does not take the others with him, nor a token that was just exchanged.
        outcome = await asyncio.shield(task)
        if isinstance(outcome, ConnectorError):
            raise copy(outcome)
        return outcome

    def _done(self, key: ServerKey, task: asyncio.Task[OAuthGrant | ConnectorError]) -> None:
        del self._under_way[key]
        if not task.cancelled() and (error := task.exception()) is not None:
            _log.warning("connector.not_renewed", connector=key.connector, error=type(error).__name__)

    async def _renew(self, key: ServerKey, used: OAuthGrant) -> OAuthGrant | ConnectorError:
        async with self._database.read(key.workspace_id) as session:
            stored = (await open_secrets(session, self._vault, await _row(session, key))).grant
        if stored is None or (stored.access_token == used.access_token and stored.refresh_token is None):
            return _signed_out(key)
        if stored.access_token != used.access_token:
            return stored
        before, fresh = self._unsaved.get(key, (None, None))
        if fresh is None or before != stored:
            fresh = await self._asked_for(key, stored, stored.refresh_token or "")
        if isinstance(fresh, ConnectorUnavailable):
            return fresh
        if isinstance(fresh, ConnectorError):
            return await self._put(key, stored, stored.model_copy(update={"refresh_token": None})) or fresh
        # Kept until it is stored: a token can be exchanged only once.
        self._unsaved[key] = (stored, fresh)
        kept = await self._put(key, stored, fresh)
        self._unsaved.pop(key, None)
        return kept or fresh

    async def _asked_for(self, key: ServerKey, stored: OAuthGrant, refresh_token: str) -> OAuthGrant | ConnectorError:
        name = key.connector
        if self._clock.monotonic() < self._not_before.get(key, 0.0):
            message = (
                f"The sign-in of {name} could not be renewed a moment ago. Nothing was sent to it; try again shortly."
            )
            return ConnectorUnavailable(message, connector=name)
        try:
            issued = await refresh(self._wire, stored.client, refresh_token)
        except SignInRefused as error:
            return _signed_out(key, f"{error.message} ")
        except SignInFailed as error:
            self._not_before[key] = self._clock.monotonic() + _PAUSE
            message = f"The sign-in of {name} could not be renewed: {error.message} Nothing was sent to {name}."
            return ConnectorUnavailable(message, connector=name)
        return stored.renewed(issued, self._clock.now())

    async def _put(self, key: ServerKey, old: OAuthGrant, fresh: OAuthGrant) -> OAuthGrant | None:
        """Store it, unless somebody else was faster; then theirs counts and is given back."""
        async with self._database.write(key.workspace_id) as session:
            row = await _row(session, key, lock=True)
            opened = await open_secrets(session, self._vault, row)
            if opened.grant is None or opened.grant.access_token != old.access_token:
                return opened.grant
            row.secrets = await seal_secrets(session, self._vault, row.id, opened.secrets, fresh)
            if fresh.access_token != old.access_token:
                row.auth_expired_at = None
                until = fresh.expires_at.isoformat() if fresh.expires_at is not None else None
                payload = {"connector": row.name, "expires_at": until}
                actor = system_actor("connector host", key.workspace_id)
                session.emit(Event("connector.renewed", key.workspace_id, actor, payload))
        return None


async def _row(session: ReadSession, key: ServerKey, *, lock: bool = False) -> ConnectorRecord:
    query = select(ConnectorRecord).where(
        ConnectorRecord.workspace_id == session.workspace_id, ConnectorRecord.name == key.connector
    )
    row = (await session.scalars(query.with_for_update() if lock else query)).one_or_none()
    if row is None:
        raise NotFound(f"There is no connector {key.connector}. `gaby connector list` shows them.")
    return row


def _signed_out(key: ServerKey, why: str = "") -> ConnectorAuthExpired:
    name = key.connector
    message = f"{name} is no longer signed in. {why}Sign in again: `gaby connector sign-in {name} --device`."
    return ConnectorAuthExpired(message, connector=name)
