"""Everything about what models cost."""

from dataclasses import dataclass
from datetime import date

from gaby.kernel.clock import Clock
from gaby.usage.budget_ledger import StoredBudgetLedger
from gaby.usage.budgets import Budgets
from gaby.usage.call_traces import CallTraces


@dataclass(frozen=True)
class UsageService:
    budget_ledger: StoredBudgetLedger
    budgets: Budgets
    traces: CallTraces
    clock: Clock

    def today(self) -> date:
        return self.clock.now().date()
