"""Connectors of a workspace: set up, limited, accepted, put into quarantine, removed."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import delete, select

from gaby.kernel.actors import Actor, Permission
from gaby.kernel.clock import Clock
from gaby.kernel.crypto import Vault
from gaby.kernel.database import ReadSession, WriteSession
from gaby.kernel.errors import Forbidden, Invalid, NotFound
from gaby.kernel.events import Event
from gaby.kernel.ids import ConnectorId, IdFactory
from gaby.mcp import DefinitionChange, ServerDefinitions, difference
from gaby.safety import Scopes
from gaby.tools import builtin, epochs
from gaby.tools.errors import ConnectorExists, ConnectorNotAccepted, DefinitionsMoved, NothingToAccept, TooMuchAutonomy
from gaby.tools.launches import BundledSpec, Way
from gaby.tools.manifests import read_manifests
from gaby.tools.models import ConnectorRecord, SessionNote
from gaby.tools.tokens import OAuthGrant, check_place, open_secrets, seal_secrets
from gaby_connectors.sdk.manifest import Autonomy, ConnectorManifest

_NAME = re.compile(r"[a-z][a-z0-9-]{0,38}")


@dataclass(frozen=True)
class NewConnector:
    name: str
    kind: str
    way: Way
    secrets: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)
    autonomy: Autonomy = Autonomy.INVESTIGATE
    scopes: Scopes = field(default_factory=Scopes.reading)
    manifest: ConnectorManifest | None = None
    reads_per_minute: int | None = None
    writes_per_minute: int | None = None
    """Left out, those of the installation."""
    local: bool = False
    """It touches files of this machine."""


@dataclass(frozen=True)
class DefaultRates:
    """How often a new connector may be used in a minute."""

    reads: int = 300
    writes: int = 30


@dataclass(frozen=True)
class PolicyChange:
    """What is left out stays as it is."""

    autonomy: Autonomy | None = None
    scopes: Scopes | None = None
    reads_per_minute: int | None = None
    writes_per_minute: int | None = None


class Connectors:
    def __init__(self, clock: Clock, ids: IdFactory, vault: Vault, usual: DefaultRates) -> None:
        self._usual = usual
        self._clock = clock
        self._ids = ids
        self._vault = vault

    async def add(self, session: WriteSession, actor: Actor, new: NewConnector) -> ConnectorRecord:
        """It can do nothing until its tools have been looked at and accepted."""
        if not _NAME.fullmatch(new.name):
            raise Invalid("A connector's name has small letters, digits and dashes, and begins with a letter.")
        if new.name == builtin.NAME:
            raise Invalid(f"{builtin.NAME} is the name of Gaby's own tools. Choose another.")
        if await self._find(session, new.name) is not None:
            raise ConnectorExists
        _check_setter(actor, new)
        if new.autonomy.rank > Autonomy.INVESTIGATE.rank:
            raise TooMuchAutonomy("A new connector investigates at most. Raise it once its tools are accepted.")
        row_id = self._ids.new()
        row = ConnectorRecord(
            workspace_id=session.workspace_id,
            id=row_id,
            name=new.name,
            kind=new.kind,
            launch=_reach(actor, new.way).model_dump(mode="json"),
            secrets=await seal_secrets(session, self._vault, row_id, new.secrets),
            autonomy=new.autonomy,
            scopes=new.scopes.model_dump(mode="json"),
            reads_per_minute=_or(new.reads_per_minute, self._usual.reads),
            writes_per_minute=_or(new.writes_per_minute, self._usual.writes),
            manifest=new.manifest.model_dump(mode="json") if new.manifest is not None else None,
            created_at=self._clock.now(),
        )
        session.add(row)
        await session.flush()
        await self._changed(session, actor, row, "added", {"kind": new.kind, "autonomy": row.autonomy})
        return row

    async def list(self, session: ReadSession) -> Sequence[ConnectorRecord]:
        query = (
            select(ConnectorRecord)
            .where(ConnectorRecord.workspace_id == session.workspace_id)
            .order_by(ConnectorRecord.name)
        )
        return (await session.scalars(query)).all()

    async def get(self, session: ReadSession, name: str) -> ConnectorRecord:
        connector = await self._find(session, name)
        if connector is None:
            raise NotFound(f"There is no connector {name[:60]!r}. `gaby connector list` shows them.")
        return connector

    async def by_id(self, session: ReadSession, connector_id: ConnectorId) -> ConnectorRecord:
        connector = await session.get(ConnectorRecord, (session.workspace_id, connector_id))
        if connector is None:
            raise NotFound
        return connector

    async def limit(self, session: WriteSession, actor: Actor, name: str, change: PolicyChange) -> ConnectorRecord:
        row = await self.get(session, name)
        if change.autonomy is not None:
            if change.autonomy.rank > Autonomy.INVESTIGATE.rank:
                _check_autonomy(row)
            row.autonomy = change.autonomy
        if change.scopes is not None:
            row.scopes = change.scopes.model_dump(mode="json")
        row.reads_per_minute = _or(change.reads_per_minute, row.reads_per_minute)
        row.writes_per_minute = _or(change.writes_per_minute, row.writes_per_minute)
        # Whoever agreed for a while agreed under the policy that they knew.
        of_connector = SessionNote.tool.startswith(f"{name}.", autoescape=True)
        notes = delete(SessionNote).where(SessionNote.workspace_id == session.workspace_id, of_connector)
        await session.execute(notes)
        rates = {"reads_per_minute": row.reads_per_minute, "writes_per_minute": row.writes_per_minute}
        detail = {"autonomy": row.autonomy, "scopes": row.scopes, **rates}
        await self._changed(session, actor, row, "limited", detail)
        return row

    async def describe(
        self, session: WriteSession, actor: Actor, name: str, manifest: ConnectorManifest | None
    ) -> ConnectorRecord:
        """Give a manifest to a server that has none, or take it back."""
        row = await self.get(session, name)
        row.manifest = manifest.model_dump(mode="json") if manifest is not None else None
        if is_unsafe(row) and Autonomy(row.autonomy).rank > Autonomy.INVESTIGATE.rank:
            row.autonomy = Autonomy.INVESTIGATE
        await self._changed(session, actor, row, "described", {"tools": sorted(manifest.tools) if manifest else []})
        return row

    async def sign_in(self, session: WriteSession, actor: Actor, name: str, fresh: NewConnector) -> ConnectorRecord:
        """New settings and credentials. What waited for them may go on."""
        _check_setter(actor, fresh)
        row = await self.get(session, name)
        row.launch = _reach(actor, fresh.way).model_dump(mode="json")
        row.secrets = await seal_secrets(session, self._vault, row.id, fresh.secrets)
        row.auth_expired_at = None
        await self._changed(session, actor, row, "signed_in", {"secrets": sorted(fresh.secrets)})
        return row

    async def take_token(self, session: WriteSession, actor: Actor, name: str, grant: OAuthGrant) -> ConnectorRecord:
        """Signed in by OAuth: the token joins the other secrets. What waited for it may go on."""
        if not actor.may(Permission.INSTALLATION_MANAGE):
            # To renew it, this machine sends requests to addresses that somebody gave.
            raise Forbidden("Signing in by OAuth is for whoever manages the installation: `gaby connector sign-in`.")
        row = await self.get(session, name)
        check_place(row, grant.variable)
        opened = await open_secrets(session, self._vault, row)
        row.secrets = await seal_secrets(session, self._vault, row.id, opened.secrets, grant)
        row.auth_expired_at = None
        await self._changed(session, actor, row, "signed_in", {"secrets": sorted(opened.secrets), "by": "device code"})
        return row

    async def auth_expired(self, session: WriteSession, actor: Actor, name: str) -> None:
        """Told once; until somebody signs in again it stays so."""
        row = await self.get(session, name)
        if row.auth_expired_at is None:
            row.auth_expired_at = self._clock.now()
            by_device = (await open_secrets(session, self._vault, row)).grant is not None
            command = f"gaby connector sign-in {row.name} {'--device' if by_device else '--stdin'}"
            how = {"sign_in": command, "path": f"/connectors/{row.name}/sign-in"}
            await self._changed(session, actor, row, "auth_expired", how)

    async def observe(self, session: WriteSession, actor: Actor, name: str, now: ServerDefinitions) -> None:
        """What the server shows of itself. If that is not what was accepted, it goes into quarantine."""
        row = await self.get(session, name)
        same = (
            row.accepted is not None and ServerDefinitions.model_validate(row.accepted).fingerprint == now.fingerprint
        )
        seen = None if same else now.model_dump(mode="json")
        if seen == row.seen:
            return
        row.seen, row.seen_at = seen, None if same else self._clock.now()
        event = "as_accepted" if same else "quarantined" if row.accepted is not None else "seen"
        await self._changed(session, actor, row, event, {"definitions": now.fingerprint})

    async def accept(self, session: WriteSession, actor: Actor, name: str, fingerprint: str) -> ConnectorRecord:
        """`fingerprint` is of what the person looked at, so that nothing else can be accepted in its place."""
        row = await self.get(session, name)
        if row.seen is None:
            raise NothingToAccept
        seen = ServerDefinitions.model_validate(row.seen)
        if seen.fingerprint != fingerprint:
            raise DefinitionsMoved
        row.accepted, row.accepted_at, row.accepted_by = row.seen, self._clock.now(), actor.id
        row.seen = row.seen_at = None
        if is_unsafe(row) and Autonomy(row.autonomy).rank > Autonomy.INVESTIGATE.rank:
            row.autonomy = Autonomy.INVESTIGATE
        detail = {"definitions": fingerprint, "manifest_version": seen.manifest_version, "tools": len(seen.tools)}
        await self._changed(session, actor, row, "accepted", detail)
        return row

    async def remove(self, session: WriteSession, actor: Actor, name: str) -> None:
        row = await self.get(session, name)
        await session.delete(row)
        await self._vault.shred(session, f"connector:{row.id}")
        await self._changed(session, actor, row, "removed", {})

    async def _find(self, session: ReadSession, name: str) -> ConnectorRecord | None:
        query = select(ConnectorRecord).where(
            ConnectorRecord.workspace_id == session.workspace_id, ConnectorRecord.name == name
        )
        return (await session.scalars(query)).one_or_none()

    async def _changed(
        self, session: WriteSession, actor: Actor, row: ConnectorRecord, what: str, detail: Mapping[str, Any]
    ) -> None:
        await epochs.move_on(session)
        payload = {"connector": row.name, **detail}
        session.emit(Event(f"connector.{what}", session.workspace_id, actor, payload))


def _check_setter(actor: Actor, new: NewConnector) -> None:
    """Whoever manages one workspace has no business in the files, programs and networks of the machine itself."""
    if (new.local or not isinstance(new.way, BundledSpec)) and not actor.may(Permission.INSTALLATION_MANAGE):
        raise Forbidden(
            "Programs and addresses of your own, and connectors that touch files of this machine, are set up by "
            "whoever manages the installation: `gaby connector add` on that machine."
        )


def _reach(actor: Actor, way: Way) -> Way:
    """What one workspace's people set up reaches public addresses and what the installation allows besides."""
    if not isinstance(way, BundledSpec):
        return way
    return way.model_copy(update={"any_address": actor.may(Permission.INSTALLATION_MANAGE)})


def _check_autonomy(row: ConnectorRecord) -> None:
    """Raises unless its tools are accepted and each has a manifest."""
    if row.accepted is None:
        raise ConnectorNotAccepted(
            f"{row.name} was not accepted yet, so it can only investigate. Look at its tools and accept them: "
            f"`gaby connector accept {row.name}`."
        )
    if is_unsafe(row):
        raise TooMuchAutonomy


def is_unsafe(row: ConnectorRecord) -> bool:
    """Whether some tool has no manifest. A connector of which nothing was accepted yet is unsafe too."""
    if row.accepted is None:
        return True
    return read_manifests(ServerDefinitions.model_validate(row.accepted), row.manifest).unsafe


def changes_of(row: ConnectorRecord) -> list[DefinitionChange]:
    """What differs between the accepted tools and those that the server shows now."""
    if row.seen is None:
        return []
    nothing = ServerDefinitions(server_name="", server_version="", tools=())
    accepted = ServerDefinitions.model_validate(row.accepted) if row.accepted is not None else nothing
    return list(difference(accepted, ServerDefinitions.model_validate(row.seen)))


def _or(new: int | None, old: int) -> int:
    if new is not None and not 0 <= new <= 100_000:
        raise Invalid("A limit per minute is a number from 0 to 100000.")
    return old if new is None else new
