"""Signs of several kinds made comparable, so that they can be added."""

from collections.abc import Sequence

import numpy as np

from gaby.knowledge.retrieval.pool import CandidatePool, Column, Scores
from gaby.knowledge.retrieval.query_expansion import SearchQuery


def scaled(values: Column) -> Column:
    """From 0 to 1, where 1 is the best there is. What is not above 0 says nothing, and neither does what is no number:
    so one more passage that does not fit changes nothing for the others."""
    positive = np.maximum(finite(values), 0.0)
    best = positive.max(initial=0.0)
    return positive / best if best > 0 else positive


def finite(values: Column | Scores) -> Column:
    return np.nan_to_num(values.astype(np.float64), nan=0.0, posinf=0.0, neginf=0.0)


def wholes(queries: Sequence[SearchQuery]) -> list[int]:
    """The places of those that ask for all of it."""
    return [place for place, query in enumerate(queries) if query.kind in {"whole", "rewrite"}] or [0]


def words(pool: CandidatePool) -> Column:
    """All queries together: what is asked for in every sentence counts in every sentence."""
    return scaled(finite(pool.lexical).sum(axis=0))


def meaning(pool: CandidatePool, queries: Sequence[SearchQuery]) -> Column:
    return scaled(finite(pool.cosine)[wholes(queries)].max(axis=0))


def best_part(pool: CandidatePool) -> Column:
    """A passage that answers one sentence of a long question answers."""
    return scaled(finite(pool.cosine).max(axis=0))
