"""Whether search says nothing when there is nothing: each corpus is asked its own questions and those of others."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from benchmarks.retrieval_data import Task
from benchmarks.retrieval_index import Corpus
from gaby.knowledge.retrieval.confidence import signs_of
from gaby.knowledge.retrieval.query_expansion import questions
from gaby.knowledge.retrieval.ranking import rank
from gaby.knowledge.retrieval.weights import DEFAULT, ConfidenceWeights

ASKED = 100
"""Questions of each set, at most."""
_ALIKE = {"livemcp", "ultratool"}
"""Two sets of tools for everything: what one asks for the other may well have."""
_STEPS = 50

Read = Sequence[tuple[Task, Corpus]]
Rows = NDArray[np.float64]


@dataclass(frozen=True)
class Example:
    corpus: str
    asked_by: str
    signs: NDArray[np.float64]
    """One row for each passage that was ranked."""
    right: list[bool]

    def best(self, certainty: ConfidenceWeights) -> float:
        return max(1 / (1 + math.exp(-float(np.clip(each, -30, 30)))) for each in self.signs @ factors(certainty))


def factors(certainty: ConfidenceWeights) -> NDArray[np.float64]:
    of = certainty
    return np.array([of.always, of.meaning, of.part, of.covered, of.known, of.size])


def examples(read: Read) -> list[Example]:
    return [
        _example(own, corpus, other, number)
        for own, corpus in read
        for other, _ in read
        if other.name == own.name or {own.name, other.name} != _ALIKE
        for number in _spread(len(other.questions))
    ]


def _spread(count: int) -> range:
    return range(0, count, max(1, count // ASKED))


def _example(own: Task, corpus: Corpus, other: Task, number: int) -> Example:
    queries = questions(other.questions[number])
    pool = corpus.pool(queries)
    ranked = rank(queries, pool, weights=replace(DEFAULT, threshold=0.0))
    signs = signs_of(queries, pool, [each.place for each in ranked], DEFAULT.certainty)
    wanted = other.wanted[number] if other.name == own.name else set[int]()
    return Example(own.name, other.name, signs, [each.passage.document in wanted for each in ranked])


def fitted(all_of_them: Sequence[Example]) -> Rows:
    """Logistic regression, with as much weight on those that answer as on the others. Passages that do not answer a
    question of their own corpus are left out: they may help all the same."""
    rows = [
        (signs, right)
        for each in all_of_them
        for signs, right in zip(each.signs, each.right, strict=True)
        if right or each.corpus != each.asked_by
    ]
    signs: Rows = np.array([row for row, _ in rows])
    right: Rows = np.array([answer for _, answer in rows], np.float64)
    weight = right * (0.5 / right.mean()) + (1 - right) * (0.5 / (1 - right.mean()))
    found = np.zeros(signs.shape[1])
    for _ in range(_STEPS):
        found = _step(signs, right, weight, found)
    return found


def _step(signs: Rows, right: Rows, weight: Rows, found: Rows) -> Rows:
    likely: Rows = 1 / (1 + np.exp(-(signs @ found)))
    slope: Rows = signs.T @ (weight * (likely - right)) + 0.01 * found
    bend: Rows = (signs * (weight * likely * (1 - likely))[:, np.newaxis]).T @ signs + 0.01 * np.eye(len(found))
    return found - np.linalg.solve(bend, slope)


def decisions(read: Read) -> dict[str, object]:
    """By the default weights: what share of questions gets an answer, by who asks whom."""
    found = examples(read)
    answered = [(each, each.best(DEFAULT.certainty) >= DEFAULT.threshold) for each in found if len(each.signs)]
    support = [pair for pair in answered if {pair[0].corpus, pair[0].asked_by} <= {"banking_kb", "runbooks"}]
    told = [_precision("all", answered), _precision("banking_kb and runbooks", support)]
    pairs = dict.fromkeys((each.corpus, each.asked_by) for each in found)
    shares = {
        pair: np.mean([yes for each, yes in answered if (each.corpus, each.asked_by) == pair]).item() for pair in pairs
    }
    told += [f"{corpus} asked by {asked_by}: {share:.0%} answered" for (corpus, asked_by), share in shares.items()]
    return {"told": told, "answered": {f"{corpus}/{asked_by}": share for (corpus, asked_by), share in shares.items()}}


def _precision(name: str, answered: Sequence[tuple[Example, bool]]) -> str:
    own = [yes for each, yes in answered if each.corpus == each.asked_by]
    foreign = [yes for each, yes in answered if each.corpus != each.asked_by]
    recall = sum(own) / len(own)
    # As if half of all questions had an answer, since the sets differ in size.
    precision = recall / max(recall + sum(foreign) / len(foreign), 1e-9)
    return (
        f"{name}: precision {precision:.2f}, recall {recall:.2f}, others refused {1 - sum(foreign) / len(foreign):.2f}"
    )
