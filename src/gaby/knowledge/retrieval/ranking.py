"""From a pool of passages to the few that answer, each with the reasons of its score."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from gaby.knowledge.retrieval import context, fusion
from gaby.knowledge.retrieval.confidence import confidences
from gaby.knowledge.retrieval.diversity import DiversityChoice, choose
from gaby.knowledge.retrieval.pool import CandidatePool, Column, PooledPassage
from gaby.knowledge.retrieval.query_expansion import SearchQuery
from gaby.knowledge.retrieval.rerank import Reranker, TermReranker
from gaby.knowledge.retrieval.weights import DEFAULT, RankingWeights


@dataclass(frozen=True)
class ScoreComponent:
    """One reason of a score."""

    name: str
    value: float
    contribution: float


@dataclass(frozen=True)
class RankedPassage:
    passage: PooledPassage
    place: int
    """In the pool."""
    score: float
    """The sum of the contributions of its parts."""
    confidence: float
    """From 0 to 1: how likely it is that it helps to answer."""
    parts: tuple[ScoreComponent, ...]


@dataclass(frozen=True)
class _Signal:
    name: str
    weight: float
    values: Column


def rank(
    queries: Sequence[SearchQuery],
    pool: CandidatePool,
    *,
    limit: int = 6,
    reranker: Reranker | None = None,
    weights: RankingWeights = DEFAULT,
) -> list[RankedPassage]:
    """The best first. Empty when nothing in the pool answers: when the best is not as certain as it must be."""
    if not queries or not pool.candidates or limit < 1:
        return []
    signs = _signs(queries, pool, weights)
    signs.append(_read(queries, pool, _total(signs), reranker or TermReranker(weights), weights))
    signs.append(_Signal("neighbour", weights.neighbour, context.neighbour(pool, _total(signs))))
    chosen = choose(pool, _total(signs), limit, weights)
    certain = confidences(queries, pool, [each.place for each in chosen], weights.certainty)
    if not chosen or max(certain) < weights.threshold:
        return []
    return [_ranked(each, pool, signs, confidence, weights) for each, confidence in zip(chosen, certain, strict=True)]


def _signs(queries: Sequence[SearchQuery], pool: CandidatePool, weights: RankingWeights) -> list[_Signal]:
    return [
        _Signal("words", weights.words, fusion.words(pool)),
        _Signal("meaning", weights.meaning, fusion.meaning(pool, queries)),
        _Signal("part", weights.part, fusion.best_part(pool)),
        _Signal("document", weights.document, context.document(pool, queries)),
    ]


def _read(
    queries: Sequence[SearchQuery], pool: CandidatePool, scores: Column, reranker: Reranker, weights: RankingWeights
) -> _Signal:
    ids = np.array([each.id for each in pool.candidates])
    # In the order of the corpus, so that what a reranker says cannot depend on how the pool was filled.
    best = np.lexsort((ids, -scores))[: weights.shortlist]
    places = best[np.argsort(ids[best], kind="stable")].tolist()
    values = np.zeros(len(pool.candidates))
    values[places] = fusion.finite(reranker.rerank(queries, pool, places))
    return _Signal("reading", weights.reading, values)


def _total(signs: Sequence[_Signal]) -> Column:
    return np.sum([sign.weight * sign.values for sign in signs], axis=0)


def _ranked(
    chosen: DiversityChoice, pool: CandidatePool, signs: Sequence[_Signal], confidence: float, weights: RankingWeights
) -> RankedPassage:
    parts = [_part(sign.name, float(sign.values[chosen.place]), sign.weight) for sign in signs]
    parts.append(_part("same document", chosen.same_document, -weights.same_document))
    parts.append(_part("twin", chosen.twin, -weights.twin))
    score = sum(part.contribution for part in parts)
    return RankedPassage(pool.candidates[chosen.place], chosen.place, score, confidence, tuple(parts))


def _part(name: str, value: float, weight: float) -> ScoreComponent:
    return ScoreComponent(name, value, weight * value)
