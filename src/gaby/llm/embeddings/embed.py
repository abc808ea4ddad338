"""Texts to vectors as a plain function. This file is light, since every skill is written in terms of it."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gaby.llm.embeddings.embedder import Matrix

Embed = Callable[[Sequence[str]], "Matrix"]
