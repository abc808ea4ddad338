"""How near the terms of a question are to the words of pages: the same, alike in meaning, or not at all."""

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from gaby.llm.embeddings.embed import Embed
from gaby.mind.languages import fold
from gaby.mind.question_terms import called_terms, content_terms
from gaby.mind.words import stem, words

_ALIKE, _SAME = 0.42, 0.75
"""Cosines of two words: below the first they have nothing to do with each other, above the second they are the same."""
_MOST = 0.9
"""Another word never counts as much as the word itself."""


class TermSimilarity:
    def __init__(self, asked: str, text: str, embed: Embed) -> None:
        spoken, known = _spelled(asked), _spelled(text)
        # No other word stands for a name.
        for term in called_terms(asked):
            spoken.pop(term, None)
        self._places = {term: place for place, term in enumerate(known)}
        self._near: dict[str, NDArray[np.float64]] = {}
        if spoken and known:
            # Whole words: the embedding does not know stems.
            vectors = np.asarray(embed([*spoken.values(), *known.values()]), dtype=np.float64)
            table = vectors[: len(spoken)] @ vectors[len(spoken) :].T
            scaled = np.clip((table - _ALIKE) / (_SAME - _ALIKE), 0.0, _MOST)
            self._near = dict(zip(spoken, scaled, strict=True))

    def to(self, term: str, terms_of_text: Iterable[str]) -> float:
        if term in (among := frozenset(terms_of_text)):
            return 1.0
        row = self._near.get(term)
        places = [self._places[each] for each in among if each in self._places]
        return float(row[places].max()) if row is not None and places else 0.0

    def best(self, term: str) -> float:
        row = self._near.get(term)
        return 1.0 if term in self._places else float(row.max()) if row is not None and len(row) else 0.0


def _spelled(text: str) -> dict[str, str]:
    """Each term with a word that it is the stem of."""
    spelled = {stem(word): word for word in reversed(words(fold(text)))}
    return {term: spelled.get(term, term) for term in sorted(set(content_terms(text)))}
