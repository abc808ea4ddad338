"""How likely it is that a passage helps to answer, whatever else was found: what decides that nothing is returned."""

from collections.abc import Container, Sequence
from math import log

import numpy as np
from numpy.typing import NDArray

from gaby.knowledge.retrieval.fusion import finite, wholes
from gaby.knowledge.retrieval.pool import CandidatePool, PooledPassage
from gaby.knowledge.retrieval.query_expansion import SearchQuery
from gaby.knowledge.retrieval.weights import ConfidenceWeights
from gaby.knowledge.terms import terms

_READ = 20_000
_ENOUGH = 3.0
"""Rare words that a part of a question must have before finding all of them says something."""
_FARTHEST = 30.0


def confidences(
    queries: Sequence[SearchQuery], pool: CandidatePool, places: Sequence[int], of: ConfidenceWeights
) -> list[float]:
    """From 0 to 1 for each place in the pool. None of it depends on the other passages."""
    factors = np.array([of.always, of.meaning, of.part, of.covered, of.known, of.size])
    sums = np.clip(signs_of(queries, pool, places, of) @ factors, -_FARTHEST, _FARTHEST)
    return (1 / (1 + np.exp(-sums))).tolist()


def signs_of(
    queries: Sequence[SearchQuery], pool: CandidatePool, places: Sequence[int], of: ConfidenceWeights
) -> NDArray[np.float64]:
    """One row for each place: what the factors of `ConfidenceWeights` are for, in their order."""
    cosine = finite(pool.cosine)
    first = wholes(queries)
    known, _ = _share(queries[first[0]], pool, pool.rarity)
    size = log(min(max(1, pool.passages), of.largest))
    rows = [
        (
            1.0,
            cosine[first, place].max(),
            cosine[:, place].max(),
            _covered(queries, pool, pool.candidates[place]),
            known,
            size,
        )
        for place in places
    ]
    return np.array(rows, np.float64).reshape(len(places), 6)


def _covered(queries: Sequence[SearchQuery], pool: CandidatePool, passage: PooledPassage) -> float:
    """How much the passage has of the part of the question that it covers best."""
    has = frozenset(terms("\n".join([passage.title, *passage.headings, passage.text[:_READ]])))
    enough = _ENOUGH * _unknown(pool)
    shares = [_share(query, pool, has) for query in queries]
    return max(share * min(1.0, all_of_it / enough) for share, all_of_it in shares)


def _share(query: SearchQuery, pool: CandidatePool, has: Container[str]) -> tuple[float, float]:
    """Of the rarity of its terms, and that rarity. A term that the corpus does not have is the rarest."""
    unknown = _unknown(pool)
    all_of_it = sum(pool.rarity.get(term, unknown) for term in query.counts)
    there = sum(pool.rarity.get(term, 0.0) for term in query.counts if term in has)
    return (there / all_of_it if all_of_it > 0 else 0.0), all_of_it


def _unknown(pool: CandidatePool) -> float:
    return log(1 + (max(1, pool.passages) + 0.5) / 0.5)
