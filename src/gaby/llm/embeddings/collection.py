"""What a package offers so that its texts can be reindexed: the knowledge base, the memory, the catalogue of tools."""

from collections.abc import Sequence
from typing import Protocol

from gaby.kernel.database import ReadSession, WriteSession
from gaby.llm.embeddings.embedder import Vector


class EmbeddingCollection(Protocol):
    """All texts of one package in the session's workspace. Keys are texts that sort in the order of the batches.

    While the vectors of another model are made, those of the old one stay and are searched. A text that comes or
    changes in the meantime needs both, so whoever stores it asks `Reindexer.target_model` which the other is.
    """

    @property
    def name(self) -> str: ...

    async def count(self, session: ReadSession) -> int: ...

    async def batch(self, session: ReadSession, after: str | None, size: int) -> Sequence[tuple[str, str]]:
        """Keys and texts behind that key, in the order of keys; from the beginning without one."""
        ...

    def spoken(self, model: str, text: str) -> str:
        """The text as this model is to be given it; the same for most."""
        ...

    async def store(self, session: WriteSession, model: str, vectors: Sequence[tuple[str, Vector]]) -> None:
        """Beside the model that is in use. The same key may come twice; the later vector counts."""
        ...

    async def swap(self, session: WriteSession, model: str) -> None:
        """From now on this model's vectors are searched, and no others are needed."""
        ...
