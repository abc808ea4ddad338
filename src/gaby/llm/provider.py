"""What Gaby asks of whoever serves models."""

from collections.abc import AsyncGenerator, Sequence
from typing import Literal, Protocol

from gaby.llm.messages import Answer, Piece, Request, Vectors

Capability = Literal["tools", "streaming", "cache", "json_schema", "embeddings"]


class Provider(Protocol):
    """One account at one vendor, or one server. Every failure is a `ModelError`; nothing is retried in here,
    because each try belongs in the books."""

    async def chat(self, request: Request) -> Answer: ...

    def stream(self, request: Request) -> AsyncGenerator[Piece | Answer]:
        """Pieces of text, then the whole answer, once, as the last. A stream that ends without it was cut off
        and raises."""
        ...

    async def embed(self, texts: Sequence[str], *, model: str, timeout: float) -> Vectors: ...  # noqa: ASYNC109

    def supports(self, capability: Capability) -> bool: ...

    async def close(self) -> None: ...
