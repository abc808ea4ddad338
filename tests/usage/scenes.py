"""A workspace, its budget ledger, and calls to enter in it."""

from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from uuid import UUID

from sqlalchemy import select

from gaby.identity.workspaces import Workspaces
from gaby.kernel import failpoints
from gaby.kernel.actors import system_actor
from gaby.kernel.clock import ManualClock
from gaby.kernel.database import Database
from gaby.kernel.ids import SYSTEM, IdFactory, RunId, WorkspaceId
from gaby.kernel.metrics import Metrics
from gaby.llm.budget_ledger import PlannedSpend
from gaby.llm.tiers import Tier
from gaby.usage.budget_ledger import StoredBudgetLedger
from gaby.usage.limits import BudgetLimits
from gaby.usage.models import LlmCall, UsageCounter

RUN = RunId(UUID(int=7))


@dataclass
class Desk:
    """Two ledgers on one database stand for two processes."""

    database: Database
    clock: ManualClock
    workspace_id: WorkspaceId
    budget_ledger: StoredBudgetLedger
    others: StoredBudgetLedger
    metrics: Metrics

    def wanted(self, tokens: int = 100, nano_usd: int | None = 1000, run: RunId = RUN) -> PlannedSpend:
        return PlannedSpend(
            workspace_id=self.workspace_id,
            run_id=run,
            skill="triage",
            tier=Tier.SMALL,
            provider="acme",
            model="small-1",
            input_tokens=tokens // 2,
            output_tokens=tokens - tokens // 2,
            nano_usd=nano_usd,
        )

    async def counts(self) -> dict[str, UsageCounter]:
        async with self.database.read(self.workspace_id) as session:
            found = await session.scalars(select(UsageCounter).where(UsageCounter.workspace_id == self.workspace_id))
            return {row.span: row for row in found}

    async def calls(self) -> list[LlmCall]:
        async with self.database.read(self.workspace_id) as session:
            llm_calls = await session.scalars(
                select(LlmCall).where(LlmCall.workspace_id == self.workspace_id).order_by(LlmCall.id)
            )
            return list(llm_calls)


@asynccontextmanager
async def opened(database: Database, clock: ManualClock, limits: BudgetLimits) -> AsyncGenerator[Desk]:
    ids, metrics = IdFactory(clock), Metrics()
    async with database.write(SYSTEM) as session:
        made = await Workspaces(clock, ids).create(
            session, system_actor("test"), slug=f"acme-{ids.new().hex[-8:]}", name="Acme"
        )
    workspace_id = WorkspaceId(made.id)
    ledgers = [StoredBudgetLedger(database, clock, IdFactory(clock), metrics, limits) for _ in range(2)]
    try:
        yield Desk(database, clock, workspace_id, ledgers[0], ledgers[1], metrics)
    finally:
        for each in ledgers:
            await each.stop()


@contextmanager
def breaking(spec: str) -> Generator[None]:
    failpoints.configure(spec)
    try:
        yield
    finally:
        failpoints.configure(None)
