"""Desks of a workspace: connected, looked at, removed; and the adapter that talks to each."""

import json
import re
from collections.abc import Awaitable, Callable, Mapping
from datetime import timedelta
from functools import partial
from http.cookiejar import CookieJar, DefaultCookiePolicy
from typing import Any
from uuid import UUID

import httpx2
from pydantic import BaseModel, SecretStr, ValidationError
from sqlalchemy import delete, func, select
from sqlalchemy.dialects import postgresql, sqlite

from gaby.kernel.actors import Actor, Permission
from gaby.kernel.clock import Clock
from gaby.kernel.crypto import Vault
from gaby.kernel.database import Database, ReadSession, WriteSession
from gaby.kernel.errors import Conflict, Forbidden, Invalid
from gaby.kernel.events import Event
from gaby.kernel.ids import DeskId, IdFactory, WorkspaceId
from gaby.tickets.adapters.adapter import DeskDependencies, TicketAdapter
from gaby.tickets.canonical_ticket import Voucher
from gaby.tickets.desk_queries import DeskQueries, NewDesk
from gaby.tickets.kinds import kind_of
from gaby.tickets.models import DeadLetter, Desk, Ticket, WebhookDelivery
from gaby_connectors.sdk.address_guard import AddressNotAllowed, AddressPolicy
from gaby_connectors.sdk.guarded_http import GuardedTransport

INBOX = "inbox"
_OTHER_CLOCKS = timedelta(minutes=1)
_PURPOSE = "desk"
_NAME = re.compile(r"[a-z][a-z0-9-]{0,38}")
_LOCAL = {"folder"}
"""Settings that name places on Gaby's own machine."""


class DeskExists(Conflict):
    """A desk of this name exists in this workspace. Choose another name, or remove the old one."""


class DeskInUse(Conflict):
    """There are tickets of this desk, so it stays. Stop polling it with `gaby desk pause`."""


class Desks(DeskQueries):
    def __init__(
        self,
        database: Database,
        clock: Clock,
        ids: IdFactory,
        vault: Vault,
        http: httpx2.AsyncClient,
        outside: AddressPolicy | None = None,
    ) -> None:
        self._database = database
        self._clock = clock
        self._ids = ids
        self._vault = vault
        self._http = http
        self._outside = outside or AddressPolicy()
        # Desks share it, so what one of them sets must not reach another.
        no_cookies = CookieJar(DefaultCookiePolicy(allowed_domains=[]))
        self._guarded = httpx2.AsyncClient(transport=GuardedTransport(self._outside), cookies=no_cookies)
        self._open: dict[DeskId, tuple[str, TicketAdapter]] = {}

    async def add(self, session: WriteSession, actor: Actor, new: NewDesk) -> Desk:
        if not _NAME.fullmatch(new.name):
            raise Invalid("A desk's name has small letters, digits and dashes, and begins with a letter.")
        if await self.find(session, new.name) is not None:
            raise DeskExists
        any_address = actor.may(Permission.INSTALLATION_MANAGE)
        config = self._allowed_config(new.kind, new.values, any_address=any_address)
        plain, secret = _apart(config)
        row_id = self._ids.new()
        row = Desk(
            workspace_id=session.workspace_id,
            id=row_id,
            name=new.name,
            kind=new.kind,
            config=plain,
            created_at=self._clock.now(),
            secrets=await self._seal(session, row_id, secret),
            vouched_by=_voucher(new.kind, new.vouched_by),
            any_address=any_address,
            every_seconds=None if new.every is None else int(new.every.total_seconds()),
            due_at=None if new.every is None else self._clock.now(),
        )
        session.add(row)
        await session.flush()
        self._tell(session, actor, row, "added")
        return row

    async def try_out(self, actor: Actor, kind: str, values: Mapping[str, Any]) -> str:
        """Talk to a desk with settings that are not stored yet, and say what was reached."""
        any_address = actor.may(Permission.INSTALLATION_MANAGE)
        config = self._allowed_config(kind, values, any_address=any_address)
        adapter = kind_of(kind).open(config, self._dependencies(_forget, any_address=any_address))
        try:
            return await adapter.check()
        finally:
            await adapter.aclose()

    async def changed_values(self, session: ReadSession, desk: Desk, changes: Mapping[str, Any]) -> dict[str, Any]:
        """All settings of a desk after some have changed, secret ones too. An empty text goes back to the usual."""
        values = {**desk.config, **await self._unseal(session, desk), **changes}
        return {name: value for name, value in values.items() if value != ""}

    async def change(self, session: WriteSession, actor: Actor, desk: Desk, values: Mapping[str, Any]) -> None:
        """Replace all its settings. Whoever may not reach every address may not keep that right for a desk either."""
        any_address = actor.may(Permission.INSTALLATION_MANAGE)
        config = self._allowed_config(desk.kind, values, any_address=any_address)
        desk.config, secret = _apart(config)
        desk.secrets = await self._seal(session, desk.id, secret)
        desk.any_address = any_address
        self._tell(session, actor, desk, "changed")

    async def inbox(self, session: WriteSession, actor: Actor) -> Desk:
        """The built-in desk, made when it is first needed: once, however many need it at the same moment."""
        if (found := await self.find(session, INBOX)) is not None:
            return found
        insert = postgresql.insert if session.get_bind().dialect.name == "postgresql" else sqlite.insert
        row: dict[str, Any] = {
            "workspace_id": session.workspace_id,
            "id": self._ids.new(),
            "name": INBOX,
            "kind": INBOX,
            "config": {},
            "vouched_by": _voucher(INBOX, None),
            "created_at": self._clock.now(),
        }
        made = await session.execute(insert(Desk).values(**row).on_conflict_do_nothing().returning(Desk.id))
        first = made.first() is not None
        desk = await self.named(session, INBOX)
        if first:
            self._tell(session, actor, desk, "added")
        return desk

    async def poll_every(self, session: WriteSession, actor: Actor, desk: Desk, every: timedelta | None) -> None:
        desk.every_seconds = None if every is None else int(every.total_seconds())
        desk.due_at = None if every is None else self._clock.now()
        self._tell(session, actor, desk, "rescheduled")

    async def believe(self, session: WriteSession, actor: Actor, desk: Desk, voucher: Voucher) -> None:
        """From now on; what was taken in before stays as it was judged then."""
        desk.vouched_by = _voucher(desk.kind, voucher)
        self._tell(session, actor, desk, "vouched_by_changed")

    async def set_drafts(self, session: WriteSession, actor: Actor, desk: Desk, *, drafts: bool) -> None:
        """Also for replies that are due and not sent yet."""
        desk.drafts = drafts
        self._tell(session, actor, desk, "drafts_changed")

    async def remove(self, session: WriteSession, actor: Actor, desk: Desk) -> None:
        mine = (Ticket.workspace_id == session.workspace_id, Ticket.desk_id == desk.id)
        if (await session.scalars(select(func.count()).select_from(Ticket).where(*mine))).one():
            raise DeskInUse
        for table in (WebhookDelivery, DeadLetter):
            await session.execute(
                delete(table).where(table.workspace_id == session.workspace_id, table.desk_id == desk.id)
            )
        await session.delete(desk)
        self._tell(session, actor, desk, "removed")

    async def adapter(self, session: ReadSession, desk: Desk) -> TicketAdapter:
        """Kept open while the desk's settings stay as they are."""
        stamp = json.dumps([desk.config, desk.secrets], sort_keys=True)
        known = self._open.get(desk.typed_id)
        if known is not None and known[0] == stamp:
            return known[1]
        secret = await self._unseal(session, desk)
        kind = kind_of(desk.kind)
        remember = partial(self._remember, WorkspaceId(desk.workspace_id), desk.typed_id)
        dependencies = self._dependencies(remember, any_address=desk.any_address)
        adapter = kind.open(
            _since_it_was_added(desk, kind.config.model_validate({**desk.config, **secret})), dependencies
        )
        self._open[desk.typed_id] = (stamp, adapter)
        if known is not None:
            await known[1].aclose()
        return adapter

    async def close(self) -> None:
        for _, adapter in self._open.values():
            await adapter.aclose()
        self._open.clear()
        await self._guarded.aclose()

    def _dependencies(
        self, remember: Callable[[Mapping[str, str]], Awaitable[None]], *, any_address: bool
    ) -> DeskDependencies:
        return DeskDependencies(
            clock=self._clock,
            http=self._http if any_address else self._guarded,
            outside=AddressPolicy.anywhere() if any_address else self._outside,
            remember=remember,
        )

    def _allowed_config(self, kind: str, values: Mapping[str, Any], *, any_address: bool) -> BaseModel:
        config = _config(kind, values)
        if _LOCAL & config.model_fields_set and not any_address:
            raise Forbidden("Folders of Gaby's own machine are for those who manage the installation.")
        if not any_address:
            self._check_hosts(kind, config)
        return config

    def _check_hosts(self, kind: str, config: BaseModel) -> None:
        """What can be told without looking a name up. The rest is judged at each connection."""
        try:
            for host in kind_of(kind).hosts(config):
                self._outside.check_name(host)
        except AddressNotAllowed as error:
            raise Forbidden(str(error)) from None

    async def _remember(self, workspace_id: WorkspaceId, desk_id: DeskId, values: Mapping[str, str]) -> None:
        async with self._database.write(workspace_id) as session:
            desk = await session.get(Desk, (workspace_id, desk_id), with_for_update=True)
            if desk is None:
                return
            adapter = self._open.get(desk_id)
            desk.secrets = await self._seal(session, desk.id, {**await self._unseal(session, desk), **values})
            if adapter is not None:
                # It is the adapter itself that learned them, so it need not be opened anew.
                self._open[desk_id] = (json.dumps([desk.config, desk.secrets], sort_keys=True), adapter[1])

    async def _seal(self, session: WriteSession, desk_id: UUID, secret: Mapping[str, str]) -> str | None:
        if not secret:
            return None
        return await self._vault.seal(session, f"desk:{desk_id}", json.dumps(dict(secret)), _PURPOSE)

    async def _unseal(self, session: ReadSession, desk: Desk) -> dict[str, str]:
        if desk.secrets is None:
            return {}
        return json.loads(await self._vault.open(session, f"desk:{desk.id}", desk.secrets, _PURPOSE))

    def _tell(self, session: WriteSession, actor: Actor, desk: Desk, what: str) -> None:
        payload = {
            "desk_id": str(desk.id),
            "desk": desk.name,
            "kind": desk.kind,
            "vouched_by": desk.vouched_by,
            "drafts": desk.drafts,
        }
        session.emit(Event(f"desk.{what}", session.workspace_id, actor, payload))


async def _forget(_values: Mapping[str, str]) -> None:
    """What an adapter learns while its settings are tried out is learned again when they are in use."""


def _voucher(kind: str, wanted: Voucher | None) -> Voucher:
    possible = kind_of(kind).vouchers
    if wanted is not None and wanted != "nobody" and wanted not in possible:
        raise Invalid(
            f"A desk of kind {kind} cannot be vouched for by {wanted}; possible: {', '.join(possible)}. "
            f"{kind_of(kind).voucher_note}"
        )
    return wanted or possible[0]


def _config(kind: str, values: Mapping[str, Any]) -> BaseModel:
    model = kind_of(kind).config
    try:
        return model.model_validate(dict(values))
    except ValidationError as error:
        wrong = "; ".join(f"{'.'.join(map(str, each['loc']))}: {each['msg']}" for each in error.errors()[:5])
        raise Invalid(f"These settings do not fit a desk of kind {kind}: {wrong}") from None


def _since_it_was_added(desk: Desk, config: BaseModel) -> BaseModel:
    """What came between adding a desk and its first poll is not skipped. Clocks of desks differ a little from ours."""
    if "since" not in type(config).model_fields or getattr(config, "since", None) is not None:
        return config
    return config.model_copy(update={"since": desk.created_at - _OTHER_CLOCKS})


def _apart(config: BaseModel) -> tuple[dict[str, Any], dict[str, str]]:
    """Plain settings as JSON, and the secret ones."""
    secret = {
        name: value.get_secret_value()
        for name in type(config).model_fields
        if isinstance(value := getattr(config, name), SecretStr)
    }
    return config.model_dump(mode="json", exclude=set(secret), exclude_none=True), secret
