"""Two local models as one: the cosine of their joint vectors is the mix of their cosines."""

from collections.abc import Sequence

import numpy as np

from gaby.llm.embeddings.embedder import Embedder, Matrix

WEIGHT = 0.5
"""Of the first; see docs/decisions/0013-local-embeddings.md."""


class CombinedEmbedder:
    worth_caching = True

    def __init__(self, first: Embedder, second: Embedder, *, weight: float = WEIGHT, name: str = "local/both") -> None:
        self.name = name
        self._first = first
        self._second = second
        self._shares = np.sqrt(weight), np.sqrt(1 - weight)

    @property
    def dimensions(self) -> int:
        return self._first.dimensions + self._second.dimensions

    @property
    def batch_characters(self) -> int:
        return min(self._first.batch_characters, self._second.batch_characters)

    def embed(self, texts: Sequence[str]) -> Matrix:
        first, second = self._shares
        return np.hstack([self._first.embed(texts) * first, self._second.embed(texts) * second]).astype(np.float32)
