"""Model accounts, routes and agreed prices of a workspace: what its admins set up."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from pydantic import ValidationError
from sqlalchemy import delete, select

from gaby.kernel.actors import Actor, Permission
from gaby.kernel.clock import Clock
from gaby.kernel.crypto import Vault
from gaby.kernel.database import ReadSession, WriteSession
from gaby.kernel.errors import Conflict, Forbidden, Invalid, NotFound
from gaby.kernel.events import Event
from gaby.kernel.ids import IdFactory, ModelAccountId
from gaby.llm.budget_ledger import OFFLINE
from gaby.llm.models import ModelAccount, ModelPrice, ModelRoute
from gaby.llm.prices import Price
from gaby.llm.providers.config import ProviderConfig
from gaby.llm.setups import Chain, ModelRef, parse_ref

_NAME = re.compile(r"[a-z][a-z0-9-]{0,38}")
_RESERVED = frozenset({OFFLINE, "local"})
_PURPOSE = "model key"
_MICRO = Decimal(1_000_000)
_MOST_USD = Decimal(1_000_000)

EMBEDDINGS = "embeddings"
"""The route that says what turns texts into vectors."""


class ModelAccountExists(Conflict):
    """There is an account of that name already. Change its key with `gaby model key`, or remove it first."""

    @property
    def code(self) -> str:
        return "account_exists"


class OwnAddress(Forbidden):
    """Addresses of your own are set up by whoever manages the installation, since they reach into its network."""


@dataclass(frozen=True)
class NewAccount:
    name: str
    kind: str
    base_url: str | None = None
    key: str | None = None
    options: dict[str, str] | None = None


class ModelAccounts:
    def __init__(self, clock: Clock, ids: IdFactory, vault: Vault) -> None:
        self._clock = clock
        self._ids = ids
        self._vault = vault

    async def add(self, session: WriteSession, actor: Actor, new: NewAccount) -> ModelAccount:
        if not _NAME.fullmatch(new.name) or new.name in _RESERVED:
            raise Invalid("An account's name has small letters, digits and dashes; `local` and `offline` are taken.")
        config = _checked(new)
        if config.base_url is not None and not actor.may(Permission.INSTALLATION_MANAGE):
            raise OwnAddress
        if await self._find(session, new.name) is not None:
            raise ModelAccountExists
        row_id, now = self._ids.new(), self._clock.now()
        row = ModelAccount(
            workspace_id=session.workspace_id,
            id=row_id,
            name=new.name,
            kind=config.kind,
            base_url=config.base_url,
            options=dict(config.options),
            created_at=now,
            changed_at=now,
        )
        row.key = await self._sealed(session, row, config)
        session.add(row)
        await session.flush()
        self._tell(session, actor, "model.account_added", {"account": new.name, "kind": config.kind})
        return row

    async def set_key(self, session: WriteSession, actor: Actor, row: ModelAccount, key: str) -> ModelAccount:
        config = _checked(NewAccount(row.name, row.kind, row.base_url, key, dict(row.options)))
        row.key = await self._sealed(session, row, config)
        row.changed_at = self._clock.now()
        self._tell(session, actor, "model.key_changed", {"account": row.name})
        return row

    async def remove(self, session: WriteSession, actor: Actor, row: ModelAccount) -> None:
        await self._vault.shred(session, _subject(row))
        await session.delete(row)
        self._tell(session, actor, "model.account_removed", {"account": row.name})

    async def list(self, session: ReadSession) -> Sequence[ModelAccount]:
        query = select(ModelAccount).where(ModelAccount.workspace_id == session.workspace_id)
        return (await session.scalars(query.order_by(ModelAccount.name))).all()

    async def get(self, session: ReadSession, name: str) -> ModelAccount:
        account = await self._find(session, name)
        if account is None:
            raise NotFound(f"There is no model account {name[:60]!r} in this workspace. `gaby model list` shows them.")
        return account

    async def by_id(self, session: ReadSession, account_id: ModelAccountId) -> ModelAccount:
        account = await session.get(ModelAccount, (session.workspace_id, account_id))
        if account is None:
            raise NotFound
        return account

    async def config(self, session: ReadSession, row: ModelAccount) -> ProviderConfig:
        key = await self._vault.open(session, _subject(row), row.key, _PURPOSE) if row.key is not None else None
        return _checked(NewAccount(row.name, row.kind, row.base_url, key, dict(row.options)))

    async def route(self, session: WriteSession, actor: Actor, name: str, chain: Chain | None) -> None:
        """`None` takes the workspace's own route away, so that the installation's counts again."""
        if name == EMBEDDINGS and chain is not None and len(chain) != 1:
            raise Invalid("Embeddings come from one model: vectors of different models cannot be compared.")
        where = (ModelRoute.workspace_id == session.workspace_id, ModelRoute.name == name)
        await session.execute(delete(ModelRoute).where(*where))
        if chain is not None:
            refs = [str(ref) for ref in chain]
            now = self._clock.now()
            session.add(ModelRoute(workspace_id=session.workspace_id, name=name, chain=refs, changed_at=now))
        models = [str(ref) for ref in chain] if chain is not None else None
        self._tell(session, actor, "model.routed", {"route": name, "chain": models})

    async def routes(self, session: ReadSession) -> dict[str, Chain]:
        query = select(ModelRoute).where(ModelRoute.workspace_id == session.workspace_id)
        return {row.name: tuple(parse_ref(ref) for ref in row.chain) for row in await session.scalars(query)}

    async def agree_price(self, session: WriteSession, actor: Actor, ref: ModelRef, price: Price | None) -> None:
        where = (ModelPrice.workspace_id == session.workspace_id, ModelPrice.model == str(ref))
        await session.execute(delete(ModelPrice).where(*where))
        payload: dict[str, Any] = {"model": str(ref)}
        if price is not None:
            parts = {name: _micro(name, getattr(price, name)) for name in _PARTS}
            row = ModelPrice(workspace_id=session.workspace_id, model=str(ref), changed_at=self._clock.now(), **parts)
            session.add(row)
            payload["usd_per_million"] = {name: str(getattr(price, name)) for name in _PARTS}
        self._tell(session, actor, "model.price_agreed", payload)

    async def prices(self, session: ReadSession) -> dict[ModelRef, Price]:
        query = select(ModelPrice).where(ModelPrice.workspace_id == session.workspace_id)
        return {
            parse_ref(row.model): Price(_usd(row.input), _usd(row.output), _usd(row.cache_read), _usd(row.cache_write))
            for row in await session.scalars(query)
        }

    async def _find(self, session: ReadSession, name: str) -> ModelAccount | None:
        query = select(ModelAccount).where(ModelAccount.workspace_id == session.workspace_id, ModelAccount.name == name)
        return (await session.scalars(query)).one_or_none()

    async def _sealed(self, session: WriteSession, row: ModelAccount, config: ProviderConfig) -> str | None:
        secret = config.secret
        return None if secret is None else await self._vault.seal(session, _subject(row), secret, _PURPOSE)

    @staticmethod
    def _tell(session: WriteSession, actor: Actor, name: str, payload: dict[str, Any]) -> None:
        session.emit(Event(name, session.workspace_id, actor, payload))


_PARTS = ("input", "output", "cache_read", "cache_write")


def _subject(row: ModelAccount) -> str:
    return f"model-account:{row.id}"


def _checked(new: NewAccount) -> ProviderConfig:
    try:
        return ProviderConfig.model_validate(
            {"kind": new.kind, "base_url": new.base_url, "key": new.key, "options": new.options or {}}
        )
    except ValidationError as error:
        first = error.errors(include_input=False, include_url=False)[0]
        raise Invalid(f"This is no usable account: {first['msg']}.") from None


def _usd(micro: int) -> Decimal:
    return Decimal(micro) / _MICRO


def _micro(name: str, usd: Decimal) -> int:
    if not usd.is_finite() or not 0 <= usd <= _MOST_USD:
        raise Invalid(f"The price for {name} must be from 0 to {_MOST_USD} dollars for a million tokens.")
    return int((usd * _MICRO).to_integral_value())
