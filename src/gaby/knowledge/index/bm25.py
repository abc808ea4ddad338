"""BM25 of a few passages whose counts are known, with the same numbers that SQLite uses."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from gaby.knowledge.index.index import Hits
from gaby.mind.bm25 import term_weight


@dataclass(frozen=True)
class Bm25Document:
    id: int
    terms: int
    """How many it has in all."""
    counts: Mapping[str, int]


def scores(
    query: Sequence[str], documents: Sequence[Bm25Document], rarities: Mapping[str, float], average: float, limit: int
) -> Hits:
    score_of: dict[int, float] = {}
    for document in documents:
        score = sum(
            rarities[term] * term_weight(count, document.terms, average or 1)
            for term in query
            if (count := document.counts.get(term, 0))
        )
        if score > 0:
            score_of[document.id] = score
    best = sorted(score_of.items(), key=lambda each: (-each[1], each[0]))[:limit]
    return dict(best)
