"""How good a ranking is, by what is known to be relevant."""

import math
from collections.abc import Collection, Hashable, Sequence


def recall(ranking: Sequence[Hashable], relevant: Collection[Hashable], depth: int) -> float:
    """The share of what is relevant that stands among the first."""
    return len(set(ranking[:depth]) & set(relevant)) / len(relevant)


def ndcg(ranking: Sequence[Hashable], relevant: Collection[Hashable], depth: int) -> float:
    """As recall, but the earlier the better."""
    gained = sum(1 / math.log2(place + 2) for place, each in enumerate(ranking[:depth]) if each in relevant)
    best = sum(1 / math.log2(place + 2) for place in range(min(depth, len(relevant))))
    return gained / best
