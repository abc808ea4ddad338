"""The budget ledger: what may be spent is held before a call and settled after it. `gaby.usage` implements it."""

from dataclasses import dataclass, field
from typing import Literal, Protocol
from uuid import UUID

from gaby.kernel.errors import GabyError
from gaby.kernel.ids import ModelCallId, RunId, WorkspaceId
from gaby.llm.messages import TokenUsage
from gaby.llm.tiers import Tier

OFFLINE = "offline"
"""The provider of an answer that no model gave."""

NO_TASK = RunId(UUID(int=0))
"""Of calls that belong to no task, such as indexing: the day and the month bound them, and no plan counts them."""

CallState = Literal["held", "done", "failed", "unknown", "lost"]


class BudgetSpent(GabyError):
    """The budget for models is used up, so none was asked and nothing was spent."""

    status = 429
    exit_code = 6


class RunBudgetSpent(BudgetSpent):
    """This task has used up what one task may cost, so it stops here and goes to a person. Nothing more was spent.
    An admin can raise the limit with `gaby usage limit --run-usd` or `--run-tokens`."""


class DayBudgetSpent(BudgetSpent):
    """Today's budget for models is used up. Gaby goes on at midnight UTC; nothing more is spent until then.
    An admin can raise it with `gaby usage limit --day-usd` or `--day-tokens`."""


class MonthBudgetSpent(BudgetSpent):
    """This month's budget for models is used up. Nothing more is spent until the next begins.
    An admin can raise it with `gaby usage limit --month-usd` or `--month-tokens`."""


class PlanUsedUp(BudgetSpent):
    """All tasks of this month's plan are used. New ones with a model begin next month, or with a larger plan.
    Whoever manages the installation can change it with `gaby usage plan`."""


@dataclass(frozen=True)
class PlannedSpend:
    """One call that is about to be made, and the most that it can cost."""

    workspace_id: WorkspaceId
    run_id: RunId
    skill: str
    tier: Tier
    provider: str
    model: str
    input_tokens: int
    output_tokens: int
    nano_usd: int | None
    """The most it can cost, in billionths of a dollar; None when nobody knows the model's price."""
    prompt_hash: str | None = None
    hop: int = 0

    @property
    def tokens(self) -> int:
        return self.input_tokens + self.output_tokens


@dataclass(frozen=True)
class Settlement:
    """How a call ended and what it is known to have cost."""

    state: Literal["done", "failed", "unknown"]
    """`unknown`: no answer, but the vendor may have charged. Then the limits count all that was held, to be safe."""
    usage: TokenUsage = field(default_factory=TokenUsage)
    nano_usd: int | None = 0
    answered_by: str | None = None
    error: str | None = None
    milliseconds: int = 0


@dataclass(frozen=True)
class BudgetHold:
    """What was taken out of the limits for a call that may now be made."""

    id: ModelCallId
    wanted: PlannedSpend


class BudgetLedger(Protocol):
    async def hold(self, wanted: PlannedSpend) -> BudgetHold:
        """Checks every limit and takes what is wanted out of it, in one step. `BudgetSpent` when it does not fit."""
        ...

    async def settle(self, hold: BudgetHold, settled: Settlement) -> None:
        """Gives back what was held and records what was spent. A second time it does nothing."""
        ...

    async def note(self, wanted: PlannedSpend, settled: Settlement) -> None:
        """Records an answer that cost nothing, so that the ledger is complete."""
        ...

    async def tiers(self, workspace_id: WorkspaceId) -> frozenset[Tier]:
        """Which tiers the workspace's plan includes."""
        ...
