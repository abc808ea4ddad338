"""Whether a call still fits. Pure: counts and limits in, a refusal or nothing out."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from gaby.llm.budget_ledger import BudgetSpent, DayBudgetSpent, MonthBudgetSpent, PlanUsedUp, RunBudgetSpent
from gaby.usage.plans import PLANS, Plan, PlanName

Span = Literal["run", "day", "month"]
SPANS: tuple[Span, ...] = ("run", "day", "month")

MOST_TOKENS = 10**12
MOST_NANO_USD = 10**15
"""A million dollars. Whoever writes more than that has written a zero too many."""

_SPENT: dict[Span, type[BudgetSpent]] = {"run": RunBudgetSpent, "day": DayBudgetSpent, "month": MonthBudgetSpent}


@dataclass(frozen=True)
class SpendCap:
    """None is without limit."""

    tokens: int | None = None
    nano_usd: int | None = None


@dataclass(frozen=True)
class BudgetLimits:
    plan: Plan = PLANS[PlanName.BUSINESS]
    run: SpendCap = SpendCap(200_000, 500_000_000)
    day: SpendCap = SpendCap()
    month: SpendCap = SpendCap()

    def cap(self, span: Span) -> SpendCap:
        return {"run": self.run, "day": self.day, "month": self.month}[span]


@dataclass(frozen=True)
class UsageCount:
    """What one run, day or month stands at."""

    used_tokens: int = 0
    held_tokens: int = 0
    used_nano_usd: int = 0
    held_nano_usd: int = 0
    runs: int = 0

    def begin(self) -> "UsageCount":
        return UsageCount(self.used_tokens, self.held_tokens, self.used_nano_usd, self.held_nano_usd, self.runs + 1)

    def hold(self, tokens: int, nano_usd: int) -> "UsageCount":
        held = self.held_nano_usd + nano_usd
        return UsageCount(self.used_tokens, self.held_tokens + tokens, self.used_nano_usd, held, self.runs)

    def settle(self, held: tuple[int, int], spent: tuple[int, int]) -> "UsageCount":
        return UsageCount(
            self.used_tokens + spent[0],
            self.held_tokens - held[0],
            self.used_nano_usd + spent[1],
            self.held_nano_usd - held[1],
            self.runs,
        )


def refusal(
    counts: Mapping[Span, UsageCount], limits: BudgetLimits, tokens: int, nano_usd: int | None
) -> BudgetSpent | None:
    """Why the call must not be made, or None. A call of unknown price counts its tokens only."""
    most = limits.plan.runs_per_month
    if begins_task(counts) and most is not None and counts["month"].runs >= most:
        return PlanUsedUp()
    for span in counts:
        if not _fits(counts[span], limits.cap(span), tokens, nano_usd):
            return _SPENT[span]()
    return None


def begins_task(counts: Mapping[Span, UsageCount]) -> bool:
    return "run" in counts and counts["run"].runs == 0


def _fits(count: UsageCount, cap: SpendCap, tokens: int, nano_usd: int | None) -> bool:
    if cap.tokens is not None and count.used_tokens + count.held_tokens + tokens > cap.tokens:
        return False
    if cap.nano_usd is None or nano_usd is None:
        return True
    return count.used_nano_usd + count.held_nano_usd + nano_usd <= cap.nano_usd
