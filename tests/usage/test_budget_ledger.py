"""The budget ledger: what fits is held at once, what was spent is recorded once, and nothing is lost."""

import asyncio
from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest

from gaby.kernel.actors import system_actor
from gaby.kernel.clock import ManualClock
from gaby.kernel.database import Database
from gaby.kernel.ids import RunId
from gaby.llm.budget_ledger import (
    BudgetHold,
    BudgetSpent,
    DayBudgetSpent,
    MonthBudgetSpent,
    PlanUsedUp,
    RunBudgetSpent,
    Settlement,
)
from gaby.llm.messages import TokenUsage
from gaby.llm.tiers import Tier
from gaby.usage.budget_ledger import LOST_AFTER, BooksUnavailable
from gaby.usage.budgets import Budgets, LimitChange
from gaby.usage.limits import BudgetLimits, SpendCap
from gaby.usage.plans import PLANS, PlanName
from tests.usage.scenes import breaking, opened

pytestmark = pytest.mark.promise("G6")

OPEN = BudgetLimits(run=SpendCap(), day=SpendCap(), month=SpendCap())
DONE = Settlement("done", TokenUsage(input=30, output=10, cache_read=5), nano_usd=400, answered_by="small-1-2030")


async def test_the_last_unit_is_taken_by_one_of_many(db: Database, clock: ManualClock) -> None:
    async with opened(db, clock, BudgetLimits(run=SpendCap(tokens=1000))) as desk:
        asked = [ledger.hold(desk.wanted(100)) for _ in range(20) for ledger in (desk.budget_ledger, desk.others)]
        held = await asyncio.gather(*asked, return_exceptions=True)
        assert sum(isinstance(each, BudgetHold) for each in held) == 10
        assert sum(isinstance(each, RunBudgetSpent) for each in held) == 30
        assert (await desk.counts())["run"].held_tokens == 1000


async def test_what_was_held_and_not_spent_comes_back(db: Database, clock: ManualClock) -> None:
    async with opened(db, clock, BudgetLimits(run=SpendCap(tokens=100, nano_usd=1000))) as desk:
        first = await desk.budget_ledger.hold(desk.wanted(100))
        with pytest.raises(RunBudgetSpent):
            await desk.others.hold(desk.wanted(50, 500))
        await desk.budget_ledger.settle(first, DONE)
        await desk.others.hold(desk.wanted(50, 500))
        run = (await desk.counts())["run"]
        assert (run.used_tokens, run.held_tokens, run.used_nano_usd, run.held_nano_usd) == (41, 50, 400, 500)


async def test_nothing_is_paid_twice(db: Database, clock: ManualClock) -> None:
    async with opened(db, clock, OPEN) as desk:
        hold = await desk.budget_ledger.hold(desk.wanted())
        await asyncio.gather(
            *(ledger.settle(hold, DONE) for ledger in (desk.budget_ledger, desk.others, desk.budget_ledger))
        )
        for count in (await desk.counts()).values():
            assert (count.used_tokens, count.held_tokens, count.used_nano_usd) == (41, 0, 400)
        [call] = await desk.calls()
        assert (call.state, call.cost_nano_usd, call.answered_by) == ("done", 400, "small-1-2030")
        labels = {"workspace": str(desk.workspace_id), "model": "small-1"}
        assert desk.metrics.registry.get_sample_value("gaby_llm_cost_usd_total", labels) == 400 / 1e9


@pytest.mark.promise("G7")
async def test_a_model_of_unknown_price_counts_tokens_and_costs_nobody_knows_what(
    db: Database, clock: ManualClock
) -> None:
    async with opened(db, clock, BudgetLimits(run=SpendCap(tokens=150, nano_usd=0))) as desk:
        hold = await desk.budget_ledger.hold(desk.wanted(100, None))
        await desk.budget_ledger.settle(hold, Settlement("done", TokenUsage(input=60, output=40), nano_usd=None))
        [call] = await desk.calls()
        assert (call.cost_nano_usd, call.input_tokens, call.output_tokens) == (None, 60, 40)
        with pytest.raises(RunBudgetSpent):
            await desk.budget_ledger.hold(desk.wanted(51, None))
        await desk.budget_ledger.hold(desk.wanted(50, None))


async def test_an_answer_that_never_came_counts_as_all_that_was_held(db: Database, clock: ManualClock) -> None:
    async with opened(db, clock, OPEN) as desk:
        hold = await desk.budget_ledger.hold(desk.wanted(100, 1000))
        await desk.budget_ledger.settle(hold, Settlement("unknown", nano_usd=None, error="model_timed_out"))
        [call] = await desk.calls()
        assert (call.state, call.input_tokens, call.cost_nano_usd) == ("unknown", 0, None)
        assert (call.counted_tokens, call.counted_nano_usd) == (100, 1000)
        assert (await desk.counts())["day"].used_tokens == 100


async def test_a_call_that_costs_more_than_was_held_is_recorded_in_full(db: Database, clock: ManualClock) -> None:
    async with opened(db, clock, BudgetLimits(run=SpendCap(tokens=200))) as desk:
        hold = await desk.budget_ledger.hold(desk.wanted(100))
        await desk.budget_ledger.settle(hold, Settlement("done", TokenUsage(input=5000), nano_usd=9))
        assert (await desk.counts())["run"].used_tokens == 5000
        with pytest.raises(RunBudgetSpent):
            await desk.budget_ledger.hold(desk.wanted(1))


async def test_each_limit_says_which_it_is_and_what_to_do(db: Database, clock: ManualClock) -> None:
    for limits, kind in (
        (BudgetLimits(run=SpendCap(tokens=99)), RunBudgetSpent),
        (BudgetLimits(run=SpendCap(), day=SpendCap(nano_usd=999)), DayBudgetSpent),
        (BudgetLimits(run=SpendCap(), month=SpendCap(tokens=0)), MonthBudgetSpent),
    ):
        async with opened(db, clock, limits) as desk:
            with pytest.raises(kind) as refused:
                await desk.budget_ledger.hold(desk.wanted(100, 1000))
            assert "gaby usage limit" in refused.value.message
            assert await desk.calls() == []


@pytest.mark.promise("B8")
async def test_a_plan_counts_tasks_and_not_calls(db: Database, clock: ManualClock) -> None:
    async with opened(db, clock, BudgetLimits(plan=PLANS[PlanName.FREE], run=SpendCap())) as desk:
        for number in range(50):
            for _ in range(2):
                hold = await desk.budget_ledger.hold(desk.wanted(run=RunId(UUID(int=number + 1))))
                await desk.budget_ledger.settle(hold, DONE)
        with pytest.raises(PlanUsedUp) as refused:
            await desk.others.hold(desk.wanted(run=RunId(UUID(int=99))))
        assert "gaby usage plan" in refused.value.message
        await desk.budget_ledger.hold(desk.wanted(run=RunId(UUID(int=50))))
        clock.advance(timedelta(days=31))
        await desk.budget_ledger.hold(desk.wanted(run=RunId(UUID(int=99))))


@pytest.mark.promise("B8")
async def test_the_last_task_of_a_plan_is_begun_once(db: Database, clock: ManualClock) -> None:
    async with opened(db, clock, BudgetLimits(plan=PLANS[PlanName.FREE], run=SpendCap())) as desk:
        asked = [
            ledger.hold(desk.wanted(run=RunId(UUID(int=100 * number + place))))
            for number in range(1, 36)
            for place, ledger in enumerate((desk.budget_ledger, desk.others))
        ]
        held = await asyncio.gather(*asked, return_exceptions=True)
        assert sum(isinstance(each, BudgetHold) for each in held) == 50
        assert sum(isinstance(each, PlanUsedUp) for each in held) == 20


@pytest.mark.promise("B8", "G3")
async def test_the_plan_says_which_tiers_there_are(db: Database, clock: ManualClock) -> None:
    async with opened(db, clock, OPEN) as desk:
        assert await desk.budget_ledger.tiers(desk.workspace_id) == frozenset(Tier)
        async with db.write(desk.workspace_id) as session:
            await Budgets().set_plan(session, system_actor("test"), PlanName.STARTER)
        assert await desk.others.tiers(desk.workspace_id) == {Tier.SMALL, Tier.BIG}


async def test_a_new_limit_counts_from_the_next_call_on_every_machine(db: Database, clock: ManualClock) -> None:
    async with opened(db, clock, OPEN) as desk:
        await desk.others.hold(desk.wanted(100))
        async with db.write(desk.workspace_id) as session:
            await Budgets().change(session, system_actor("test"), LimitChange(day_tokens=150))
        with pytest.raises(DayBudgetSpent):
            await desk.others.hold(desk.wanted(100))
        async with db.write(desk.workspace_id) as session:
            change = LimitChange(usual=frozenset({"day_tokens"}))
            await Budgets().change(session, system_actor("test"), change)
        await desk.others.hold(desk.wanted(100))


async def test_a_call_over_midnight_is_settled_where_it_was_held(db: Database, clock: ManualClock) -> None:
    clock.advance(datetime(2030, 1, 31, 23, 59, 59, tzinfo=UTC) - clock.now())
    async with opened(db, clock, OPEN) as desk:
        hold = await desk.budget_ledger.hold(desk.wanted())
        clock.advance(timedelta(seconds=2))
        await desk.budget_ledger.settle(hold, DONE)
        counts = await desk.counts()
        assert (counts["day"].key, counts["day"].held_tokens, counts["day"].used_tokens) == ("2030-01-31", 0, 41)
        assert (counts["month"].key, counts["month"].used_tokens) == ("2030-01", 41)


async def test_a_clock_that_goes_back_loses_nothing(db: Database, clock: ManualClock) -> None:
    async with opened(db, clock, OPEN) as desk:
        hold = await desk.budget_ledger.hold(desk.wanted())
        clock.advance(timedelta(days=-2))
        await desk.budget_ledger.settle(hold, DONE)
        assert (await desk.counts())["day"].used_tokens == 41
        assert await desk.budget_ledger.sweep() == 0


@pytest.mark.promise("G7")
async def test_a_call_whose_process_died_is_found_and_counted(db: Database, clock: ManualClock) -> None:
    async with opened(db, clock, OPEN) as desk:
        await desk.budget_ledger.hold(desk.wanted(100))
        assert await desk.others.sweep() == 0
        clock.advance(LOST_AFTER + timedelta(seconds=1))
        assert await desk.others.sweep() == 1
        [call] = await desk.calls()
        assert (call.state, call.counted_tokens, call.cost_nano_usd) == ("lost", 100, None)
        assert (await desk.counts())["run"].held_tokens == 0
        assert await desk.budget_ledger.sweep() == 0


async def test_when_the_ledger_cannot_be_written_nothing_is_asked(db: Database, clock: ManualClock) -> None:
    async with opened(db, clock, OPEN) as desk:
        with breaking("books.before_commit=error"), pytest.raises(BooksUnavailable):
            await desk.budget_ledger.hold(desk.wanted())
        assert desk.budget_ledger.what_is_wrong() is not None
        assert await desk.calls() == []


async def test_what_could_not_be_settled_is_settled_later(db: Database, clock: ManualClock) -> None:
    async with opened(db, clock, OPEN) as desk:
        hold = await desk.budget_ledger.hold(desk.wanted())
        with breaking("books.before_commit=error"):
            await desk.budget_ledger.settle(hold, DONE)
        assert [call.state for call in await desk.calls()] == ["held"]
        await desk.budget_ledger.sweep()
        [call] = await desk.calls()
        assert (call.state, call.cost_nano_usd) == ("done", 400)


async def test_an_answer_without_a_model_is_in_the_ledger_too(db: Database, clock: ManualClock) -> None:
    async with opened(db, clock, BudgetLimits(run=SpendCap(tokens=0, nano_usd=0))) as desk:
        await desk.budget_ledger.note(desk.wanted(0, 0), Settlement("done", answered_by="offline"))
        [call] = await desk.calls()
        assert (call.state, call.cost_nano_usd, call.counted_tokens) == ("done", 0, 0)
        assert await desk.counts() == {}


async def test_counts_of_old_runs_are_forgotten_and_the_calls_are_not(db: Database, clock: ManualClock) -> None:
    async with opened(db, clock, OPEN) as desk:
        await desk.budget_ledger.settle(await desk.budget_ledger.hold(desk.wanted()), DONE)
        clock.advance(timedelta(days=91))
        await desk.budget_ledger.sweep()
        assert set(await desk.counts()) == {"day", "month"}
        assert len(await desk.calls()) == 1


async def test_another_workspace_has_a_ledger_of_its_own(db: Database, clock: ManualClock) -> None:
    async with opened(db, clock, BudgetLimits(run=SpendCap(), day=SpendCap(tokens=100))) as desk:
        await desk.budget_ledger.hold(desk.wanted(100))
        async with opened(db, clock, BudgetLimits(run=SpendCap(), day=SpendCap(tokens=100))) as other:
            await other.budget_ledger.hold(other.wanted(100))
        with pytest.raises(BudgetSpent):
            await desk.budget_ledger.hold(desk.wanted(1))
