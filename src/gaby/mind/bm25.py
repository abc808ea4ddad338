"""BM25: how well each of a few texts answers to the words of a question. Small and without memory."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

_SATURATION = 1.2
_LENGTH_SHARE = 0.75


def term_weight(count: int, length: int, average: float) -> float:
    """Of a term that stands so often in a text, by the text's length and the usual one."""
    normalised_length = _SATURATION * (1 - _LENGTH_SHARE + _LENGTH_SHARE * length / average)
    return count * (_SATURATION + 1) / (count + normalised_length)


class Bm25Ranker:
    def __init__(self, texts: Sequence[Sequence[str]]) -> None:
        self._size = len(texts)
        average = sum(map(len, texts)) / max(1, len(texts)) or 1.0
        self._postings: dict[str, list[tuple[int, float]]] = {}
        for place, text in enumerate(texts):
            for term, count in Counter(text).items():
                self._postings.setdefault(term, []).append((place, term_weight(count, len(text), average)))

    def rarity(self, term: str) -> float:
        """How much a term tells: most when few of the texts have it."""
        having = len(self._postings.get(term, ()))
        return math.log(1 + (self._size - having + 0.5) / (having + 0.5))

    def knows(self, term: str) -> bool:
        return term in self._postings

    def scores(self, terms: Mapping[str, float]) -> NDArray[np.float64]:
        """One number for each text, for terms that count more or less."""
        scores = np.zeros(self._size)
        for term, weight in terms.items():
            for place, part in self._postings.get(term, ()):
                scores[place] += weight * self.rarity(term) * part
        return scores
