"""A runtime with real providers, a real budget ledger, and vendors that say what the test tells them."""

from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID

import numpy as np

from gaby.kernel.clock import ManualClock
from gaby.kernel.database import Database
from gaby.kernel.ids import RunId, WorkspaceId
from gaby.llm.breaker import Breakers
from gaby.llm.embeddings.embedder import Matrix
from gaby.llm.fallback import FallbackDependencies
from gaby.llm.prices import Price
from gaby.llm.provider import Provider
from gaby.llm.providers.config import Kind
from gaby.llm.providers.factory import make_provider
from gaby.llm.results import SkillContext, SkillResult, StreamToken
from gaby.llm.runtime import SkillRunner
from gaby.llm.setups import Chain, ModelRef, ModelSetup, RoutedModel
from gaby.llm.skill import Skill
from gaby.llm.tiers import Tier
from gaby.usage.limits import BudgetLimits, SpendCap
from gaby.usage.models import LlmCall
from tests.support.models.scripted_vendors import ScriptedModels
from tests.usage import scenes as usage_scenes

PRICE = Price(Decimal(3), Decimal(15), Decimal("0.3"), Decimal("3.75"))
CLAUDE = ModelRef("anthropic", "claude-test")
GPT = ModelRef("openai", "gpt-test")
OPEN = BudgetLimits(run=SpendCap(), day=SpendCap(), month=SpendCap())


@dataclass
class FixedSetups:
    setup: ModelSetup

    async def for_workspace(self, workspace_id: WorkspaceId) -> ModelSetup:
        return self.setup


@dataclass
class Bench:
    """`pauses` holds how long the runtime would have waited; it never really does."""

    server: ScriptedModels
    desk: usage_scenes.Desk
    clock: ManualClock
    runner: SkillRunner
    setups: FixedSetups
    links: dict[ModelRef, RoutedModel]
    pauses: list[float] = field(default_factory=list[float])

    @property
    def occasion(self) -> SkillContext:
        return SkillContext(self.desk.workspace_id, usage_scenes.RUN)

    def another(self, number: int) -> SkillContext:
        return SkillContext(self.desk.workspace_id, RunId(UUID(int=number + 1)))

    def route(self, *chain: ModelRef, tiers: frozenset[Tier] = frozenset(Tier), **by_name: Chain) -> None:
        chains = {tier.value: tuple(chain) for tier in Tier} | by_name
        self.setups.setup = ModelSetup(tiers, chains, self.links)

    async def run(self, skill: Skill[Any, Any], given: Any) -> SkillResult[Any]:
        return await self.runner.run(skill, given, self.occasion)

    async def stream(self, skill: Skill[Any, Any], given: Any) -> tuple[list[object], SkillResult[Any]]:
        steps = [step async for step in self.runner.stream(skill, given, self.occasion)]
        result = steps.pop()
        assert isinstance(result, SkillResult)
        return list(steps), result

    async def calls(self) -> list[LlmCall]:
        return await self.desk.calls()


def said(steps: Sequence[object]) -> str:
    return "".join(step.text for step in steps if isinstance(step, StreamToken))


class NoMeaning:
    """Vectors that mean nothing; the skills here look at none."""

    def __call__(self, texts: Sequence[str], /) -> Matrix:
        return np.ones((len(texts), 1), np.float32)

    sentences = __call__


@asynccontextmanager
async def bench(
    server: ScriptedModels,
    database: Database,
    clock: ManualClock,
    *,
    limits: BudgetLimits = OPEN,
    kinds: Mapping[ModelRef, Kind] | None = None,
    patience: timedelta = timedelta(seconds=20),
    waits: timedelta = timedelta(seconds=20),
) -> AsyncGenerator[Bench]:
    kinds = kinds or {CLAUDE: "anthropic", GPT: "openai"}
    providers: dict[ModelRef, Provider] = {ref: make_provider(server.config(kind)) for ref, kind in kinds.items()}
    links = {ref: RoutedModel(ref, ref.provider, provider, PRICE) for ref, provider in providers.items()}
    pauses: list[float] = []

    async def pause(seconds: float) -> None:
        pauses.append(seconds)
        clock.advance(timedelta(seconds=seconds))

    async with usage_scenes.opened(database, clock, limits) as desk:
        dependencies = FallbackDependencies(desk.budget_ledger, Breakers(clock), patience, bytes, pause)
        setups = FixedSetups(ModelSetup())
        runner = SkillRunner(setups, dependencies, NoMeaning(), waits)
        made = Bench(server, desk, clock, runner, setups, links, pauses)
        made.route(CLAUDE)
        try:
            yield made
        finally:
            for provider in providers.values():
                await provider.close()
