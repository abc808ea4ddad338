"""What was spent, by day, model, skill and tier, the same on both engines."""

from dataclasses import replace
from datetime import date, timedelta

import pytest

from gaby.kernel.clock import ManualClock
from gaby.kernel.database import Database
from gaby.kernel.errors import Invalid
from gaby.llm.budget_ledger import Settlement
from gaby.llm.messages import TokenUsage
from gaby.llm.tiers import Tier
from gaby.usage.limits import BudgetLimits, SpendCap
from gaby.usage.reports import ReportGrouping, UsageLine, calls, report, total
from tests.usage.scenes import Desk, opened

pytestmark = pytest.mark.promise("B9")

OPEN = BudgetLimits(run=SpendCap())
TODAY = date(2030, 1, 2)


async def spend(desk: Desk) -> None:
    """A priced call today, an unpriced one yesterday, a failed one, and an answer without a model."""
    wanted = desk.wanted()
    done = Settlement("done", TokenUsage(10, 5, 3, 2), nano_usd=700)
    await desk.budget_ledger.settle(await desk.budget_ledger.hold(wanted), done)
    await desk.budget_ledger.settle(
        await desk.budget_ledger.hold(replace(wanted, skill="judge")), Settlement("failed", error="model_down")
    )
    await desk.budget_ledger.note(replace(wanted, provider="offline", model="offline"), Settlement("done"))
    desk.clock.advance(timedelta(days=-1))
    local = replace(wanted, provider="local", model="llama", tier=Tier.BIG, nano_usd=None)
    await desk.budget_ledger.settle(
        await desk.budget_ledger.hold(local), Settlement("done", TokenUsage(100, 50), nano_usd=None)
    )


async def lines(desk: Desk, by: ReportGrouping) -> dict[str, UsageLine]:
    async with desk.database.read(desk.workspace_id) as session:
        return {line.name: line for line in await report(session, TODAY - timedelta(days=5), TODAY, by)}


async def test_every_way_to_add_up_gives_the_same_sum(db: Database, clock: ManualClock) -> None:
    async with opened(db, clock, OPEN) as desk:
        await spend(desk)
        for by in ReportGrouping:
            found = (await lines(desk, by)).values()
            assert sum(line.tokens for line in found) == 170
            assert sum(line.nano_usd for line in found) == 700
            assert (sum(line.calls for line in found), sum(line.offline for line in found)) == (3, 1)
            assert (sum(line.failed for line in found), sum(line.unpriced for line in found)) == (1, 1)
        async with db.read(desk.workspace_id) as session:
            sums = await total(session, TODAY - timedelta(days=5), TODAY)
        assert (sums.tokens, sums.cache_read_tokens, sums.nano_usd) == (170, 3, 700)


async def test_lines_are_named_by_what_they_add_up(db: Database, clock: ManualClock) -> None:
    async with opened(db, clock, OPEN) as desk:
        await spend(desk)
        assert list(await lines(desk, ReportGrouping.DAY)) == ["2030-01-01", "2030-01-02"]
        assert set(await lines(desk, ReportGrouping.MODEL)) == {"acme/small-1", "local/llama", "offline"}
        assert set(await lines(desk, ReportGrouping.SKILL)) == {"triage", "judge"}
        assert set(await lines(desk, ReportGrouping.TIER)) == {"small", "big"}


async def test_days_outside_are_left_out_and_a_span_too_long_is_refused(db: Database, clock: ManualClock) -> None:
    async with opened(db, clock, OPEN) as desk:
        await spend(desk)
        async with db.read(desk.workspace_id) as session:
            [line] = await report(session, TODAY, TODAY, ReportGrouping.DAY)
            assert line.tokens == 20
            for since, until in ((TODAY, TODAY - timedelta(days=1)), (date(2000, 1, 1), TODAY)):
                with pytest.raises(Invalid):
                    await report(session, since, until, ReportGrouping.DAY)


async def test_single_calls_come_newest_first(db: Database, clock: ManualClock) -> None:
    async with opened(db, clock, OPEN) as desk:
        await spend(desk)
        async with db.read(desk.workspace_id) as session:
            found = await calls(session, limit=3)
            assert [call.skill for call in found] == ["triage", "judge", "triage"]
            assert found[0].created_at >= found[-1].created_at


async def test_another_workspace_sees_nothing_of_it(db: Database, clock: ManualClock) -> None:
    async with opened(db, clock, OPEN) as desk, opened(db, clock, OPEN) as other:
        await spend(desk)
        assert await lines(other, ReportGrouping.MODEL) == {}
