"""Vectors of texts that come again, such as the descriptions of tools, kept so that each is made once."""

from collections import OrderedDict
from collections.abc import Sequence
from threading import Lock

import numpy as np

from gaby.llm.embeddings.embed import EmbedTexts
from gaby.llm.embeddings.embedder import Matrix

_KEPT = 8192


class VectorCache:
    """The newest vectors by who made them and of what text. Safe for several threads."""

    def __init__(self, kept: int = _KEPT) -> None:
        self._kept = kept
        self._lock = Lock()
        self._known: OrderedDict[tuple[EmbedTexts, str], Matrix] = OrderedDict()

    def vectors_for(self, embed: EmbedTexts, texts: Sequence[str]) -> Matrix:
        """One row for each text. Only those that are not known yet are embedded, all at once."""
        vectors = {text: vector for text in texts if (vector := self._look_up(embed, text)) is not None}
        unknown = list(dict.fromkeys(text for text in texts if text not in vectors))
        if unknown:
            vectors |= dict(zip(unknown, embed(unknown), strict=True))
            self._store(embed, unknown, vectors)
        return np.stack([vectors[text] for text in texts]) if texts else np.zeros((0, 0), np.float32)

    def _look_up(self, embed: EmbedTexts, text: str) -> Matrix | None:
        with self._lock:
            vector = self._known.get((embed, text))
            if vector is not None:
                self._known.move_to_end((embed, text))
            return vector

    def _store(self, embed: EmbedTexts, texts: Sequence[str], vectors: dict[str, Matrix]) -> None:
        with self._lock:
            for text in texts:
                self._known[embed, text] = vectors[text]
            while len(self._known) > self._kept:
                self._known.popitem(last=False)


known = VectorCache()
"""Shared by all who ask, since tools are the same for every ticket."""
