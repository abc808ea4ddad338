"""Everything about models, built from what is below: accounts, routes, skills, embeddings."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from sqlalchemy import select

from gaby.kernel.actors import Actor
from gaby.kernel.database import AllWorkspaces, Database, WriteSession
from gaby.kernel.errors import Invalid, NotFound
from gaby.kernel.ids import IdFactory, RunId, WorkspaceId
from gaby.llm.accounts import EMBEDDINGS, ModelAccounts
from gaby.llm.breaker import Breakers
from gaby.llm.budget_ledger import BudgetLedger
from gaby.llm.embeddings.models import ReindexState
from gaby.llm.probe import ProbeResult, probe
from gaby.llm.results import SkillContext
from gaby.llm.runtime import SkillRunner
from gaby.llm.setups import Chain, ModelRef, RoutedModel
from gaby.llm.skill import Skills
from gaby.llm.tiers import Tier
from gaby.llm.workspace_setups import WorkspaceSetups

if TYPE_CHECKING:
    from gaby.llm.embeddings.reindex import Reindexer
    from gaby.llm.embeddings.service import Embeddings

LOCAL = "local"
"""Of embedding models that run on this machine and need no account."""

MakeVectors = Callable[[], "tuple[Embeddings, Reindexer]"]


@dataclass(frozen=True)
class ModelState:
    """A model that some route names, and how it is."""

    ref: ModelRef
    usable: bool
    """Whether there is an account for it."""
    rests_for: float
    usd_per_million: tuple[str, str] | None
    """In and out; None when nobody knows the price."""
    used_for: tuple[str, ...]


@dataclass(frozen=True)
class Models:
    database: Database
    accounts: ModelAccounts
    setups: WorkspaceSetups
    breakers: Breakers
    budget_ledger: BudgetLedger
    runner: SkillRunner
    skills: Skills
    vectors: "MakeVectors"
    ids: IdFactory

    @cached_property
    def embeddings(self) -> "Embeddings":
        return self._vectors[0]

    @cached_property
    def reindexer(self) -> "Reindexer":
        return self._vectors[1]

    @cached_property
    def _vectors(self) -> "tuple[Embeddings, Reindexer]":
        """Made when first needed: what calculates with vectors is heavy, and many never do."""
        return self.vectors()

    async def reindex(self) -> None:
        """Go on with whatever is being indexed anew."""
        async with self.database.read(AllWorkspaces("re-indexing serves every workspace")) as session:
            running = (
                await session.scalars(select(ReindexState.id).where(ReindexState.state == "running").limit(1))
            ).first()
        if running is not None:
            await self.reindexer.run()

    async def close(self) -> None:
        if "_vectors" in vars(self):
            await self.embeddings.close()
        await self.setups.close()

    def occasion(self, workspace_id: WorkspaceId, run_id: RunId | None = None) -> SkillContext:
        return SkillContext(workspace_id, run_id or RunId(self.ids.new()))

    async def route(self, session: WriteSession, actor: Actor, name: str, chain: Chain | None) -> None:
        """`None` goes back to the installation's. Another model for embeddings means new vectors for every text."""
        if name not in {EMBEDDINGS, *Tier} and name not in self.skills:
            raise NotFound("There is no such tier or skill. Tiers are small, big and deep; see `gaby skill list`.")
        known = {row.name for row in await self.accounts.list(session)} | self.setups.installed.accounts.keys()
        for ref in chain or ():
            if ref.provider not in (known | {LOCAL} if name == EMBEDDINGS else known):
                raise Invalid("There is no account for one of these models. Add it first: `gaby model add`.")
        await self.accounts.route(session, actor, name, chain)
        if name == EMBEDDINGS:
            [ref] = chain if chain is not None else self.setups.installed.chains[EMBEDDINGS]
            await self.reindexer.start(session, actor, session.workspace_id, str(ref))

    async def states(self, workspace_id: WorkspaceId) -> list[ModelState]:
        setup = await self.setups.for_workspace(workspace_id)
        refs = dict.fromkeys(ref for chain in setup.chains.values() for ref in chain)
        return [
            ModelState(
                ref,
                ref in setup.links or ref.provider == LOCAL,
                self._rest(setup.links.get(ref)),
                _prices(setup.links.get(ref)),
                tuple(sorted(name for name, chain in setup.chains.items() if ref in chain)),
            )
            for ref in refs
        ]

    async def probe(self, actor: Actor, refs: Iterable[ModelRef] = ()) -> list[ProbeResult]:
        """Ask each a word; without any, all that can be asked."""
        setup = await self.setups.for_workspace(actor.workspace_id)
        wanted = list(refs)
        links = [setup.links[ref] for ref in wanted if ref in setup.links] if wanted else list(setup.links.values())
        missing = [
            ProbeResult(str(ref), "No route names it, or it has no account. See `gaby model list`.", answers=False)
            for ref in wanted
            if ref not in setup.links
        ]
        patience = self.runner.timeout.total_seconds()
        occasion = self.occasion(actor.workspace_id)
        return missing + [await probe(self.budget_ledger, link, occasion, patience=patience) for link in links]

    def _rest(self, link: RoutedModel | None) -> float:
        return 0.0 if link is None else self.breakers.rests_for(link.account)


def _prices(link: RoutedModel | None) -> tuple[str, str] | None:
    if link is None or link.price is None:
        return None
    return str(link.price.input), str(link.price.output)
