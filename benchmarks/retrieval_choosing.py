"""The choice of weights: for each set on the other three, so that no set is judged by weights that knew it."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields, replace

import numpy as np

from benchmarks.retrieval_data import Task
from benchmarks.retrieval_honesty import examples, factors, fitted
from benchmarks.retrieval_index import Corpus
from gaby.knowledge.retrieval.pool import CandidatePool
from gaby.knowledge.retrieval.query_expansion import SearchQuery, questions
from gaby.knowledge.retrieval.ranking import rank
from gaby.knowledge.retrieval.weights import DEFAULT, RankingWeights

CHOSEN = ("words", "meaning", "part", "document", "reading", "exact", "pairs", "title", "neighbour")
STEP = 0.1
EQUAL = 0.3
"""Where every weight starts, since the default has seen all sets."""
ASKED = 40
"""Questions of each set, so that a choice takes minutes."""
WORTH = 0.002
"""A gain below this is chance, and the weight stays where it is."""


@dataclass(frozen=True)
class Prepared:
    name: str
    asked: list[tuple[list[SearchQuery], CandidatePool, set[int]]]

    def score(self, weights: RankingWeights) -> float:
        """The mean of recall@5 and recall@10."""
        found = [_recalls(queries, pool, wanted, weights) for queries, pool, wanted in self.asked if wanted]
        return sum(found) / len(found)


def choose(read: Sequence[tuple[Task, Corpus]]) -> Iterator[str]:
    """Line by line, since each takes minutes."""
    sets = [_prepared(task, corpus) for task, corpus in read]
    default = replace(DEFAULT, threshold=0.0)
    start = replace(default, **dict.fromkeys(CHOSEN, EQUAL))
    for left_out in sets:
        chosen = _climbed(start, [each for each in sets if each is not left_out])
        by_default, by_equal, by_others = (left_out.score(weights) for weights in (default, start, chosen))
        yield f"{left_out.name}: by the default {by_default:.3f}, by equal weights {by_equal:.3f}, "
        yield f"    by weights chosen on the others {by_others:.3f} ({_named(chosen)})"
    yield f"chosen on all: {_named(_climbed(start, sets))}; the default is {_named(default)}"
    given = ", ".join(f"{value:.1f}" for value in fitted(examples(read)))
    kept = ", ".join(f"{value:.1f}" for value in factors(DEFAULT.certainty))
    yield f"certainty (always, meaning, part, covered, known, size): {given}; the default is {kept}"


def _climbed(start: RankingWeights, sets: Sequence[Prepared]) -> RankingWeights:
    """One weight after the other, one step up or down, as long as all sets together gain."""
    weights, best = start, _mean(start, sets)
    while True:
        tried = [(_mean(each, sets), each) for each in _around(weights)]
        score, better = max(tried, key=lambda pair: pair[0])
        if score <= best + WORTH:
            return weights
        weights, best = better, score


def _around(weights: RankingWeights) -> Iterator[RankingWeights]:
    for name in CHOSEN:
        for step in (-STEP, STEP):
            value = float(getattr(weights, name)) + step
            if value >= 0:
                yield replace(weights, **{name: round(value, 2)})


def _mean(weights: RankingWeights, sets: Sequence[Prepared]) -> float:
    return float(np.mean([each.score(weights) for each in sets]))


def _prepared(task: Task, corpus: Corpus) -> Prepared:
    asked: list[tuple[list[SearchQuery], CandidatePool, set[int]]] = []
    for number in range(0, len(task.questions), max(1, len(task.questions) // ASKED)):
        queries = questions(task.questions[number])
        asked.append((queries, corpus.pool(queries), task.wanted[number]))
    return Prepared(task.name, asked)


def _recalls(queries: Sequence[SearchQuery], pool: CandidatePool, wanted: set[int], weights: RankingWeights) -> float:
    ranked = rank(queries, pool, limit=20, weights=weights)
    found = list(dict.fromkeys(each.passage.document for each in ranked))
    return (len(set(found[:5]) & wanted) + len(set(found[:10]) & wanted)) / (2 * len(wanted))


def _named(weights: RankingWeights) -> str:
    return ", ".join(f"{each.name} {getattr(weights, each.name)}" for each in fields(weights) if each.name in CHOSEN)
