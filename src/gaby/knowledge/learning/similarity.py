"""Whether two texts say nearly the same: by their terms, rare ones counting as much as common ones."""

import math
from collections import Counter
from functools import lru_cache

from gaby.knowledge.terms import terms

_READ = 20_000


def likeness(first: str, second: str) -> float:
    """From 0 to 1: the cosine of how often each term occurs."""
    one, length = _profile(first[:_READ])
    other, width = _profile(second[:_READ])
    if len(other) < len(one):
        one, other = other, one
    shared = sum(count * other[term] for term, count in one.items() if term in other)
    return shared / (length * width) if length and width else 0.0


@lru_cache(maxsize=512)
def _profile(text: str) -> tuple[Counter[str], float]:
    """A text is compared with many, one after the other."""
    counts = Counter(terms(text))
    return counts, math.sqrt(sum(count * count for count in counts.values()))
