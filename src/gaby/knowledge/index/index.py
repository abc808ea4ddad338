"""What the index of a workspace's passages can do, on either engine."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from gaby.kernel.database import ReadSession, WriteSession
from gaby.kernel.ids import WorkspaceId
from gaby.llm.embeddings.embedder import Matrix

Hits = Mapping[int, float]
"""Passages by id with their score, the best first."""

Span = tuple[int, int]
"""The first and the last id of a document's passages."""

Stored = Mapping[str, Sequence[bytes]]
"""Vectors by model, as they are kept: one for each passage, in order."""


@dataclass(frozen=True)
class IndexEntry:
    """A passage with what lexical search knows it by."""

    id: int
    terms: Sequence[str]
    columns: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """Of `knowledge_passages`, besides the workspace. The same for all that are inserted together."""


@dataclass(frozen=True)
class CorpusVersion:
    """Which vectors are meant: of this model, as of this version."""

    model: str
    version: int | None = None


class PassageIndex(Protocol):
    """Vectors live in `knowledge_vectors` on both engines."""

    async def insert(self, session: WriteSession, entries: Sequence[IndexEntry], vectors: Stored) -> None:
        """New passages, whose ids follow each other, with their vectors."""
        ...

    async def restore(self, session: WriteSession, entries: Sequence[IndexEntry]) -> None:
        """Make the words of passages that are there known again."""
        ...

    async def remove(self, session: WriteSession, spans: Sequence[Span]) -> None:
        """Out of lexical search, before the passages themselves are deleted."""
        ...

    async def lexical(
        self, session: ReadSession, queries: Sequence[Sequence[str]], counts: Mapping[str, int], limit: int
    ) -> list[Hits]:
        """BM25 of the workspace's own statistics for each query. `counts` are of `statistics.having`."""
        ...

    async def nearest(
        self, workspace_id: WorkspaceId, corpus: CorpusVersion, queries: Matrix, limit: int
    ) -> list[Hits]:
        """Cosine for each query."""
        ...

    async def vectors(
        self, workspace_id: WorkspaceId, corpus: CorpusVersion, ids: Sequence[int], dimensions: int
    ) -> Matrix:
        """One row for each, of zeros where the vector is missing."""
        ...

    async def lacking(self, session: ReadSession, model: str, limit: int) -> list[int]:
        """Passages whose vector is missing or broken, or that lexical search does not know."""
        ...

    async def tend(self, workspace_id: WorkspaceId) -> None:
        """After a sync: whatever makes searching fast."""
        ...
