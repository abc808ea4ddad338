"""Limits, budgets and plans: what fits, and what nobody can have meant."""

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gaby.kernel.actors import system_actor
from gaby.kernel.clock import ManualClock
from gaby.kernel.database import Database
from gaby.kernel.errors import Invalid
from gaby.llm.budget_ledger import PlanUsedUp
from gaby.llm.tiers import Tier
from gaby.usage.budgets import NAMES, Budgets, LimitChange
from gaby.usage.limits import SPANS, BudgetLimits, Span, SpendCap, UsageCount, refusal
from gaby.usage.plans import PLANS, Plan, PlanName
from tests.usage.scenes import opened

pytestmark = pytest.mark.promise("G6")

amounts = st.integers(0, 1000)
caps = st.builds(SpendCap, st.none() | amounts, st.none() | amounts)


@given(
    limits=st.builds(BudgetLimits, plan=st.sampled_from(list(PLANS.values())), run=caps, day=caps, month=caps),
    calls=st.lists(st.tuples(amounts, st.none() | amounts, st.booleans(), st.floats(0, 1)), max_size=30),
)
def test_no_order_of_calls_passes_a_limit(
    limits: BudgetLimits, calls: list[tuple[int, int | None, bool, float]]
) -> None:
    counts: dict[Span, UsageCount] = {span: UsageCount() for span in SPANS}
    for tokens, nano_usd, settles, share in calls:
        if refusal(counts, limits, tokens, nano_usd) is not None:
            continue
        held = (tokens, nano_usd or 0)
        spent = (math.floor(tokens * share), math.floor((nano_usd or 0) * share))
        for span in SPANS:
            counts[span] = counts[span].hold(*held)
            if settles:
                counts[span] = counts[span].settle(held, spent)
        for span in SPANS:
            cap, count = limits.cap(span), counts[span]
            assert cap.tokens is None or count.used_tokens + count.held_tokens <= cap.tokens
            assert cap.nano_usd is None or count.used_nano_usd + count.held_nano_usd <= cap.nano_usd


@pytest.mark.promise("B8")
def test_only_a_new_task_needs_a_place_in_the_plan() -> None:
    limits = BudgetLimits(plan=Plan(PlanName.FREE, frozenset({Tier.SMALL}), 2), run=SpendCap())
    full = UsageCount(runs=2)
    assert isinstance(refusal({"run": UsageCount(), "day": full, "month": full}, limits, 1, 0), PlanUsedUp)
    assert refusal({"run": UsageCount(runs=1), "day": full, "month": full}, limits, 1, 0) is None
    assert refusal({"run": UsageCount(), "day": full, "month": UsageCount(runs=1)}, limits, 1, 0) is None


@pytest.mark.promise("B8")
def test_the_plans_are_those_of_the_price_list() -> None:
    assert {plan.name.value: plan.runs_per_month for plan in PLANS.values()} == {
        "free": 50,
        "starter": 500,
        "pro": 5000,
        "business": None,
    }
    assert [len(plan.tiers) for plan in PLANS.values()] == [1, 2, 3, 3]


@pytest.mark.parametrize(
    ("tier", "allowed", "best"),
    [
        (Tier.DEEP, {Tier.SMALL, Tier.BIG}, Tier.BIG),
        (Tier.BIG, {Tier.SMALL}, Tier.SMALL),
        (Tier.SMALL, {Tier.SMALL, Tier.DEEP}, Tier.SMALL),
        (Tier.BIG, set[Tier](), Tier.SMALL),
    ],
)
def test_a_tier_gives_way_to_the_next_that_is_allowed(tier: Tier, allowed: set[Tier], best: Tier) -> None:
    assert tier.within(frozenset(allowed)) is best


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("value", [-1, -0.01, 10**13, math.inf, math.nan])
async def test_a_budget_that_nobody_can_mean_is_refused(
    db: Database, clock: ManualClock, name: str, value: float
) -> None:
    async with opened(db, clock, BudgetLimits()) as desk, db.write(desk.workspace_id) as session:
        absurd: dict[str, Any] = {name: value}
        with pytest.raises(Invalid, match=name):
            await Budgets().change(session, system_actor("test"), LimitChange(**absurd))


async def test_only_limits_that_exist_go_back_to_usual(db: Database, clock: ManualClock) -> None:
    async with opened(db, clock, BudgetLimits()) as desk, db.write(desk.workspace_id) as session:
        with pytest.raises(Invalid, match="run_tokens"):
            await Budgets().change(session, system_actor("test"), LimitChange(usual=frozenset({"all"})))


async def test_a_budget_of_nothing_is_a_budget(db: Database, clock: ManualClock) -> None:
    async with opened(db, clock, BudgetLimits()) as desk:
        async with db.write(desk.workspace_id) as session:
            await Budgets().change(session, system_actor("test"), LimitChange(run_usd=0, day_usd=0.000000001))
        limits = await desk.budget_ledger.limits(desk.workspace_id)
        assert (limits.run, limits.day.nano_usd) == (SpendCap(200_000, 0), 1)
