"""Vectors from Voyage, over its HTTP interface."""

import asyncio
from collections.abc import AsyncGenerator, Sequence

import httpx2

from gaby.kernel.clock import Clock
from gaby.llm.errors import RequestRefused
from gaby.llm.messages import EmbeddingResponse, ModelRequest, ModelResponse, TextDelta
from gaby.llm.provider import Capability
from gaby.llm.providers.config import ProviderConfig
from gaby.llm.providers.failures import ErrorTranslator, NoProgress
from gaby.llm.providers.transport import MOST_BYTES, http_client, whole
from gaby.llm.providers.vectors import read_vectors

_ONLY_VECTORS = "Voyage has only models that make vectors. Choose another provider for answers."


class VoyageProvider:
    def __init__(self, config: ProviderConfig, clock: Clock) -> None:
        self._address = f"{config.address}/embeddings"
        headers = {"Authorization": f"Bearer {config.secret}", "Accept-Encoding": "identity"}
        self._client = http_client(headers)
        self._failures = ErrorTranslator(
            status=httpx2.HTTPStatusError,
            timeout=httpx2.TimeoutException,
            connection=httpx2.TransportError,
            other=httpx2.HTTPError,
            key=config.secret,
            clock=clock,
        )

    async def chat(self, request: ModelRequest) -> ModelResponse:
        raise RequestRefused(_ONLY_VECTORS)

    async def stream(self, request: ModelRequest) -> AsyncGenerator[TextDelta | ModelResponse]:
        raise RequestRefused(_ONLY_VECTORS)
        yield

    async def embed(self, texts: Sequence[str], *, model: str, timeout: float) -> EmbeddingResponse:  # noqa: ASYNC109
        if not texts:
            return EmbeddingResponse(())
        seen = NoProgress()
        asking = {"input": list(texts), "model": model}
        with self._failures.translate_errors(seen):
            async with (
                asyncio.timeout(timeout),
                self._client.stream("POST", self._address, json=asking, timeout=timeout) as response,
            ):
                if not response.is_success:
                    await response.aread()
                    response.raise_for_status()
                seen.begun = True
                body = await whole(response, MOST_BYTES)
        return read_vectors(body, len(texts))

    def supports(self, capability: Capability) -> bool:
        return capability == "embeddings"

    async def close(self) -> None:
        await self._client.aclose()
