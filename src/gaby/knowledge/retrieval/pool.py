"""What the searches brought for a question: the material of ranking."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gaby.llm.embeddings.embedder import Matrix

Scores = NDArray[np.float32]
"""One row for each query of the question, one column for each passage."""

Column = NDArray[np.float64]
"""One number for each passage."""


@dataclass(frozen=True)
class PooledPassage:
    """A passage that at least one search brought, or that stands beside one."""

    id: int
    """Passages of one document have ids in their order."""
    document: int
    """Equal for passages of one document."""
    ordinal: int
    """Its place in the document. Neighbours are one apart."""
    title: str
    headings: tuple[str, ...]
    text: str


@dataclass(frozen=True)
class CandidatePool:
    candidates: Sequence[PooledPassage]
    lexical: Scores
    """BM25 in this workspace; 0 where no word is shared or others were far better."""
    cosine: Scores
    vectors: Matrix
    """One row for each passage, by the model of the index; rows of zeros where a vector is missing."""
    queries: Matrix
    """One row for each query."""
    rarity: Mapping[str, float]
    """How much each term of the question tells in this workspace (its idf), by the term as `terms.py` spells it."""
    passages: int
    """How many the workspace has in all."""
