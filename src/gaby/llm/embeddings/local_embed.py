"""The embedding that skills use: local models, with the latest vectors kept in memory."""

from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gaby.llm.embeddings.embedder import Matrix, Vector

_KEPT = 4096
"""Vectors of one to two kilobytes each."""


class LocalEmbed:
    """Models that are always there, whatever a workspace indexes its knowledge with. Safe for several threads. What
    they need is imported at the first use, since every command makes one of these and few use it."""

    def __init__(self, folder: Path | None = None, model: str | None = None) -> None:
        """`model` takes the place of the default one."""
        self._folder = folder
        self._model = model
        self._words: dict[str, Vector] = {}
        self._sentences: dict[str, Vector] = {}

    def __call__(self, texts: Sequence[str], /) -> "Matrix":
        from gaby.llm.embeddings.local import DEFAULT

        if len(self._words) > _KEPT:
            # Anew, and not changed: another thread may be reading the old ones.
            self._words = {}
        return self._vectors(texts, self._model or DEFAULT, self._words)

    def sentences(self, texts: Sequence[str], /) -> "Matrix":
        from gaby.llm.embeddings.minilm import MiniLM

        if len(self._sentences) > _KEPT:
            self._sentences = {}
        return self._vectors(texts, MiniLM.name, self._sentences)

    def _vectors(self, texts: Sequence[str], model: str, known: "dict[str, Vector]") -> "Matrix":
        """Sentences of the same pages are compared with one ticket after the other."""
        import numpy as np

        from gaby.llm.embeddings.local import find_embedder

        new = [text for text in dict.fromkeys(texts) if text not in known]
        vectors = find_embedder(model, self._folder).embed(new)
        new_vectors = dict(zip(new, vectors, strict=True))
        rows = [new_vectors[text] if text in new_vectors else known[text] for text in texts]
        known.update(new_vectors)
        return np.stack(rows) if rows else vectors


@cache
def local_embed(folder: Path | None) -> LocalEmbed:
    """The same one for everybody in the process, so that what the mind learns with it is learned once."""
    return LocalEmbed(folder)
