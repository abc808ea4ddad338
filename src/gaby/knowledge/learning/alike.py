"""Whether two texts say nearly the same: by their terms, rare ones counting as much as common ones."""

import math
from collections import Counter

from gaby.knowledge.terms import terms

_READ = 20_000


def likeness(first: str, second: str) -> float:
    """From 0 to 1: the cosine of how often each term occurs."""
    one, other = Counter(terms(first[:_READ])), Counter(terms(second[:_READ]))
    shared = sum(count * other[term] for term, count in one.items())
    lengths = math.sqrt(sum(count * count for count in one.values()) * sum(count * count for count in other.values()))
    return shared / lengths if lengths else 0.0
