"""Passages that say what was said already, and too many of one document, are held back."""

from dataclasses import dataclass

import numpy as np

from gaby.knowledge.retrieval.fusion import finite
from gaby.knowledge.retrieval.pool import CandidatePool, Column
from gaby.knowledge.retrieval.weights import RankingWeights

_AMONG = 4
"""Of the best this many times as many as are wanted are looked at, and never fewer than the next number."""
_AT_LEAST = 40


@dataclass(frozen=True)
class DiversityChoice:
    place: int
    """In the pool."""
    same_document: float
    """How many of its document were chosen before."""
    twin: float
    """1 when one that says the same was chosen before."""


def choose(pool: CandidatePool, scores: Column, limit: int, weights: RankingWeights) -> list[DiversityChoice]:
    """The best first. Of equal ones the one that comes first in the corpus."""
    ids = np.array([each.id for each in pool.candidates])
    among: list[int] = np.lexsort((ids, -scores))[: max(_AMONG * limit, _AT_LEAST)].tolist()
    looked_at = [pool.candidates[place] for place in among]
    document = np.array([each.document for each in looked_at])
    texts = np.array([hash(each.text) for each in looked_at])
    vectors = finite(pool.vectors[among])
    left = scores[among].astype(np.float64)
    same, twin = np.zeros(len(among)), np.zeros(len(among))
    chosen: list[DiversityChoice] = []
    for _ in range(min(limit, len(among))):
        best = int(np.argmax(left - weights.same_document * same - weights.twin * twin))
        chosen.append(DiversityChoice(among[best], float(same[best]), float(twin[best])))
        left[best] = -np.inf
        same += document == document[best]
        twin = np.maximum(twin, (vectors @ vectors[best] >= weights.twins) | (texts == texts[best]))
    return chosen
