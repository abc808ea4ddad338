"""Metered calls: budget held before, settled after, whatever happens in between."""

import asyncio
import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress

from gaby.kernel.errors import Unavailable
from gaby.llm.budget_ledger import BudgetHold, BudgetLedger, BudgetSpent, PlannedSpend, Settlement
from gaby.llm.errors import ModelError
from gaby.llm.messages import TokenUsage
from gaby.llm.prices import Price


class MeteredCall:
    """A call that may be made now. Say what it cost; saying nothing means that nobody knows."""

    def __init__(self, hold: BudgetHold, price: Price | None) -> None:
        self.hold = hold
        self._price = price
        self._begin = time.perf_counter()
        # Until we know better: if this task is cancelled or dies, nobody can say what the vendor charged.
        self.settled = Settlement("unknown", nano_usd=None, error="cancelled")

    def done(self, usage: TokenUsage, answered_by: str) -> None:
        self.settled = Settlement("done", usage, self._cost(usage), answered_by, None, self._milliseconds())

    def failed(self, error: ModelError) -> None:
        if error.usage is None and error.may_be_billed:
            self.settled = Settlement("unknown", nano_usd=None, error=error.code, milliseconds=self._milliseconds())
            return
        usage = error.usage or TokenUsage()
        cost = 0 if error.usage is None else self._cost(usage)
        self.settled = Settlement("failed", usage, cost, None, error.code, self._milliseconds())

    def _cost(self, usage: TokenUsage) -> int | None:
        return None if self._price is None else self._price.nano_usd(usage)

    def _milliseconds(self) -> int:
        return round((time.perf_counter() - self._begin) * 1000)


@asynccontextmanager
async def metered(
    budget_ledger: BudgetLedger, wanted: PlannedSpend, price: Price | None
) -> AsyncGenerator[MeteredCall]:
    """`BudgetSpent` when the call may not be made. A `ModelError` is recorded before it is raised again."""
    metered_call = MeteredCall(await _hold(budget_ledger, wanted), price)
    try:
        yield metered_call
    except ModelError as error:
        metered_call.failed(error)
        raise
    finally:
        await _settle(budget_ledger, metered_call)


async def _hold(budget_ledger: BudgetLedger, wanted: PlannedSpend) -> BudgetHold:
    """Cancelled in the middle of it, the hold may stand already; then it is given back, since nothing was sent."""
    holding = asyncio.ensure_future(budget_ledger.hold(wanted))
    try:
        return await asyncio.shield(holding)
    except asyncio.CancelledError:
        with suppress(BudgetSpent, Unavailable):
            await budget_ledger.settle(await holding, Settlement("failed", error="cancelled"))
        raise


async def _settle(budget_ledger: BudgetLedger, metered_call: MeteredCall) -> None:
    """Also when cancelled meanwhile: what was spent must not be forgotten."""
    writing = asyncio.ensure_future(budget_ledger.settle(metered_call.hold, metered_call.settled))
    try:
        await asyncio.shield(writing)
    except asyncio.CancelledError:
        await writing
        raise
