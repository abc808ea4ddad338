"""What Gaby asks of whoever serves models."""

from collections.abc import AsyncGenerator, Sequence
from typing import Literal, Protocol

from gaby.llm.messages import EmbeddingResponse, ModelRequest, ModelResponse, TextDelta

Capability = Literal["tools", "streaming", "cache", "json_schema", "embeddings"]


class Provider(Protocol):
    """One account at one vendor, or one server. Every failure is a `ModelError`; nothing is retried in here,
    because each attempt belongs in the budget ledger."""

    async def chat(self, request: ModelRequest) -> ModelResponse: ...

    def stream(self, request: ModelRequest) -> AsyncGenerator[TextDelta | ModelResponse]:
        """Pieces of text, then the whole answer, once, as the last. A stream that ends without it was cut off
        and raises."""
        ...

    async def embed(self, texts: Sequence[str], *, model: str, timeout: float) -> EmbeddingResponse: ...  # noqa: ASYNC109

    def supports(self, capability: Capability) -> bool: ...

    async def close(self) -> None: ...
