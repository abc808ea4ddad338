"""The words of a question against the words of a few passages, each passage by itself."""

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from gaby.knowledge.retrieval.pool import Column

_SATURATION = 1.2
_LENGTH_SHARE = 0.75
_TYPICAL = 120
"""Terms of a passage. A fixed number, so that no passage is judged by the length of the others."""


def term_scores(asked: Mapping[str, int], read: Sequence[Sequence[str]]) -> NDArray[np.float64]:
    """One row for each passage, one column for each term: nothing where it is not, and little more for often than for
    once, as in BM25."""
    places = {term: place for place, term in enumerate(asked)}
    counts = np.zeros((len(read), len(asked)))
    for row, passage in zip(counts, read, strict=True):
        for term, count in Counter(filter(places.__contains__, passage)).items():
            row[places[term]] = count
    return counts * (_SATURATION + 1) / (counts + np.array([[_length_norm(passage)] for passage in read]))


def side_by_side(asked: Sequence[str], read: Sequence[Sequence[str]], rarity: Mapping[str, float]) -> Column:
    """The pairs of terms that each passage shares with the question. A pair is as rare as its terms together."""
    wanted = Counter(pairwise(asked))
    scores = np.zeros(len(read))
    for place, passage in enumerate(read):
        length_norm = _length_norm(passage)
        for pair, count in Counter(filter(wanted.__contains__, pairwise(passage))).items():
            rare = rarity.get(pair[0], 0.0) + rarity.get(pair[1], 0.0)
            scores[place] += wanted[pair] * rare * count * (_SATURATION + 1) / (count + length_norm)
    return scores


def _length_norm(passage: Sequence[str]) -> float:
    return _SATURATION * (1 - _LENGTH_SHARE + _LENGTH_SHARE * len(passage) / _TYPICAL)
