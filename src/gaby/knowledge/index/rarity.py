"""How much a term tells: the statistics of one workspace, from which no other can be guessed."""

import math
from collections.abc import Iterable, Mapping, Sequence


def rarity(passages: int, having: int) -> float:
    """Most when few of the passages have the term."""
    return math.log(1 + (max(passages, having) - having + 0.5) / (having + 0.5))


def rarest(terms: Iterable[str], rarities: Mapping[str, float], limit: int) -> Sequence[str]:
    """Those that tell most. A long text has hundreds, and the common ones cost most and find least."""
    known = [term for term in dict.fromkeys(terms) if term in rarities]
    return sorted(known, key=lambda term: (-rarities[term], term))[:limit]
