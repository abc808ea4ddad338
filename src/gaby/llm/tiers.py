"""How capable a model a task needs."""

from enum import StrEnum


class Tier(StrEnum):
    SMALL = "small"
    BIG = "big"
    DEEP = "deep"

    @property
    def rank(self) -> int:
        return _RANKS[self]

    def within(self, allowed: frozenset["Tier"]) -> "Tier":
        """This tier, or the best below it that is allowed. The small one always is."""
        if self in allowed:
            return self
        return max((tier for tier in allowed if tier.rank <= self.rank), key=lambda tier: tier.rank, default=Tier.SMALL)


_RANKS = {tier: rank for rank, tier in enumerate(Tier)}
