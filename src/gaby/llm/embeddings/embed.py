"""Texts to vectors, as every skill is written in terms of it. This file is light, since every skill imports it."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from gaby.llm.embeddings.embedder import Matrix


EmbedTexts = Callable[[Sequence[str]], "Matrix"]
"""By whichever model."""


class Embed(Protocol):
    def __call__(self, texts: Sequence[str], /) -> "Matrix":
        """By the default model, which is fast and adds up words."""
        ...

    def sentences(self, texts: Sequence[str], /) -> "Matrix":
        """By a model that reads words in their order: better for whole questions and answers, and much slower."""
        ...
