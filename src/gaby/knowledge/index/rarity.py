"""How much a term tells: the statistics of one workspace, from which no other can be guessed."""

import math
from collections.abc import Mapping


def rarity(passages: int, having: int) -> float:
    """Most when few of the passages have the term."""
    return math.log(1 + (max(passages, having) - having + 0.5) / (having + 0.5))


def rarities(passages: int, counts: Mapping[str, int]) -> dict[str, float]:
    return {term: rarity(passages, having) for term, having in counts.items()}
