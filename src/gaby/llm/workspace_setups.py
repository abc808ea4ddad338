"""What is set up for a workspace: its own accounts and routes over those of the installation, read when they change."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field

from gaby.kernel.clock import Clock
from gaby.kernel.database import Database
from gaby.kernel.events import Event
from gaby.kernel.ids import SYSTEM, WorkspaceId
from gaby.kernel.log import get_log
from gaby.llm.accounts import EMBEDDINGS, ModelAccounts
from gaby.llm.budget_ledger import BudgetLedger
from gaby.llm.errors import ModelError
from gaby.llm.prices import Price, listed_price
from gaby.llm.provider import Provider
from gaby.llm.providers.config import ProviderConfig
from gaby.llm.providers.factory import make_provider
from gaby.llm.setups import Chain, ModelRef, ModelSetup, RoutedModel

log = get_log(__name__)

FRESH = 5.0
"""Seconds that a change on another machine may take to be noticed here."""


@dataclass(frozen=True)
class InstalledModels:
    """What the settings give to every workspace."""

    accounts: Mapping[str, ProviderConfig] = field(default_factory=dict[str, ProviderConfig])
    chains: Mapping[str, Chain] = field(default_factory=dict[str, Chain])


@dataclass(frozen=True)
class _Account:
    owner: WorkspaceId
    config: ProviderConfig


class WorkspaceSetups:
    def __init__(
        self,
        database: Database,
        clock: Clock,
        accounts: ModelAccounts,
        budget_ledger: BudgetLedger,
        installed: InstalledModels,
    ) -> None:
        self._database = database
        self._clock = clock
        self._accounts = accounts
        self._budget_ledger = budget_ledger
        self.installed = installed
        self._known: dict[WorkspaceId, tuple[float, ModelSetup]] = {}
        self._providers: dict[tuple[WorkspaceId, str], tuple[ProviderConfig, Provider]] = {}
        self._retired: list[Provider] = []
        self._reading = asyncio.Lock()
        self._changes = 0

    async def for_workspace(self, workspace_id: WorkspaceId) -> ModelSetup:
        async with self._reading:
            known = self._known.get(workspace_id)
            now, changes = self._clock.monotonic(), self._changes
            if known is not None and now - known[0] < FRESH:
                return known[1]
            setup = await self._read(workspace_id)
            if changes == self._changes:  # Else it may be from before the change.
                self._known[workspace_id] = (now, setup)
            return setup

    async def model_of(self, workspace_id: WorkspaceId) -> str:
        """What turns the workspace's texts into vectors."""
        [ref] = (await self.for_workspace(workspace_id)).chains[EMBEDDINGS]
        return str(ref)

    async def heard(self, event: Event) -> None:
        """What changes here is known here at once."""
        if event.name.startswith(("model.", "usage.")):
            self._changes += 1
            self._known.pop(event.workspace_id, None)

    async def close(self) -> None:
        for provider in [*self._retired, *(provider for _, provider in self._providers.values())]:
            await provider.close()
        self._providers.clear()
        self._retired.clear()

    async def _read(self, workspace_id: WorkspaceId) -> ModelSetup:
        accounts = {name: _Account(SYSTEM, config) for name, config in self.installed.accounts.items()}
        async with self._database.read(workspace_id) as session:
            for row in await self._accounts.list(session):
                config = await self._accounts.config(session, row)
                accounts[row.name] = _Account(workspace_id, config)
            chains = {**self.installed.chains, **await self._accounts.routes(session)}
            prices = await self._accounts.prices(session)
        refs = {ref for chain in chains.values() for ref in chain}
        named = accounts.keys() & {ref.provider for ref in refs}
        providers = await self._usable({name: accounts[name] for name in named})
        links = {
            ref: _link(ref, accounts[ref.provider], providers[ref.provider], prices.get(ref))
            for ref in refs
            if ref.provider in providers
        }
        return ModelSetup(await self._budget_ledger.tiers(workspace_id), chains, links)

    async def _usable(self, accounts: Mapping[str, _Account]) -> dict[str, Provider]:
        """One account that lacks its package must not take the others down with it."""
        providers: dict[str, Provider] = {}
        for name, account in accounts.items():
            try:
                providers[name] = await self._provider(name, account)
            except ModelError as error:
                log.warning("llm.account_unusable", account=name, error=error.message)
        return providers

    async def _provider(self, name: str, account: _Account) -> Provider:
        key = (account.owner, name)
        config, provider = self._providers.get(key, (None, None))
        if provider is None or config != account.config:
            if provider is not None:
                # Somebody may be in the middle of a call with it; it is closed at the end.
                self._retired.append(provider)
            # The first of its kind loads the vendor's package, which takes a second.
            provider = await asyncio.to_thread(make_provider, account.config)
            self._providers[key] = (account.config, provider)
        return provider


def _link(ref: ModelRef, account: _Account, provider: Provider, agreed: Price | None) -> RoutedModel:
    kind = account.config.kind
    return RoutedModel(ref, (account.owner, ref.provider), provider, agreed or listed_price(kind, ref.model), kind)
