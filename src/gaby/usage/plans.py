"""Plans: which tiers of models a workspace may use, and how many tasks a month."""

from dataclasses import dataclass
from enum import StrEnum

from gaby.llm.tiers import Tier


class PlanName(StrEnum):
    FREE = "free"
    STARTER = "starter"
    PRO = "pro"
    BUSINESS = "business"


@dataclass(frozen=True)
class Plan:
    name: PlanName
    tiers: frozenset[Tier]
    runs_per_month: int | None
    """Tasks that ask a model at least once: a ticket, a chat message, a command. None is without limit."""


PLANS = {
    plan.name: plan
    for plan in (
        Plan(PlanName.FREE, frozenset({Tier.SMALL}), 50),
        Plan(PlanName.STARTER, frozenset({Tier.SMALL, Tier.BIG}), 500),
        Plan(PlanName.PRO, frozenset(Tier), 5_000),
        Plan(PlanName.BUSINESS, frozenset(Tier), None),
    )
}
