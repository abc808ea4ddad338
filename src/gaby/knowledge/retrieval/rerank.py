"""A second look at the best passages, word by word."""

from collections import Counter
from collections.abc import Sequence
from itertools import chain
from typing import Protocol

import numpy as np

from gaby.knowledge.retrieval.fusion import scaled, wholes
from gaby.knowledge.retrieval.interaction import side_by_side, term_scores
from gaby.knowledge.retrieval.pool import CandidatePool, Column, PooledPassage
from gaby.knowledge.retrieval.query_expansion import SearchQuery
from gaby.knowledge.retrieval.weights import DEFAULT, RankingWeights
from gaby.knowledge.terms import terms

_READ = 20_000
"""Of a passage. Most are far shorter."""


class Reranker(Protocol):
    """Reads the question and a few passages together. Pure work of the processor; it may block."""

    def rerank(self, queries: Sequence[SearchQuery], pool: CandidatePool, places: Sequence[int]) -> Column:
        """From 0 to 1 for each place in the pool that it is asked about."""
        ...


class TermReranker:
    """Which words of the question a passage has, how rare they are, whether they stand together, and whether its title
    has them. That words of the same meaning are found is left to the vectors: looking for the nearest word of each word
    was tried, took three times as long and found no more."""

    def __init__(self, weights: RankingWeights = DEFAULT) -> None:
        self._weights = weights

    def rerank(self, queries: Sequence[SearchQuery], pool: CandidatePool, places: Sequence[int]) -> Column:
        weights = self._weights
        passages = [pool.candidates[place] for place in places]
        read = [terms(_rerank_text(each)) for each in passages]
        titles = [terms(" ".join([each.title, *each.headings])) for each in passages]
        asked = list(chain.from_iterable(terms(queries[place].text) for place in wholes(queries)))
        counts = Counter(asked)
        rarity = np.array([pool.rarity.get(term, 0.0) * count for term, count in counts.items()])
        return (
            weights.exact * scaled(term_scores(counts, read) @ rarity)
            + weights.pairs * scaled(side_by_side(asked, read, pool.rarity))
            + weights.title * scaled(term_scores(counts, titles) @ rarity)
        )


def _rerank_text(passage: PooledPassage) -> str:
    return "\n".join([passage.title, passage.title, *passage.headings, passage.text[:_READ]])
