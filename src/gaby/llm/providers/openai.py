"""OpenAI through its own package: at OpenAI, at Azure, and any server that speaks like it."""

import asyncio
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import aclosing
from typing import Any

import openai

from gaby.kernel.clock import Clock
from gaby.llm.messages import EmbeddingResponse, ModelRequest, ModelResponse, TextDelta
from gaby.llm.provider import Capability
from gaby.llm.providers.config import ProviderConfig
from gaby.llm.providers.failures import ErrorTranslator, NoProgress
from gaby.llm.providers.names import our_names
from gaby.llm.providers.openai_request import OpenAIDialect, completion_params
from gaby.llm.providers.openai_response import CompletionStream, read_completion
from gaby.llm.providers.response_builder import ResponseBuilder
from gaby.llm.providers.streaming import follow
from gaby.llm.providers.transport import MOST_BYTES, MOST_BYTES_OF_AN_ANSWER, http_client, whole
from gaby.llm.providers.vectors import read_vectors

# The package demands a key, and a server without one gets none: the wire sends only what is configured.
_NO_KEY = "none"


class OpenAIProvider:
    def __init__(self, config: ProviderConfig, clock: Clock) -> None:
        self._client = _client(config)
        # The package loads more of itself here, which must not happen while somebody waits for an answer.
        self._create: Any = self._client.chat.completions.with_streaming_response.create
        self._embed: Any = self._client.embeddings.with_streaming_response.create
        self._dialect = _dialect(config)
        self._failures = ErrorTranslator(
            status=openai.APIStatusError,
            timeout=openai.APITimeoutError,
            connection=openai.APIConnectionError,
            other=openai.OpenAIError,
            key=config.secret,
            clock=clock,
        )

    async def chat(self, request: ModelRequest) -> ModelResponse:
        gathering = ResponseBuilder(our_names(request), request.model)
        params = dict(completion_params(request, self._dialect))
        with self._failures.translate_errors(gathering):
            async with asyncio.timeout(request.timeout), self._opening(params, request.timeout) as opened:
                gathering.begun = True
                body = await whole(opened.http_response, MOST_BYTES_OF_AN_ANSWER)
            return read_completion(body, gathering)

    async def stream(self, request: ModelRequest) -> AsyncGenerator[TextDelta | ModelResponse]:
        gathering = ResponseBuilder(our_names(request), request.model)
        params = {
            **completion_params(request, self._dialect),
            "stream": True,
            "stream_options": {"include_usage": True},
        }
        with self._failures.translate_errors(gathering):
            opening = self._opening(params, request.timeout)
            async with aclosing(follow(opening, CompletionStream(gathering), request.timeout)) as coming:
                async for each in coming:
                    yield each

    async def embed(self, texts: Sequence[str], *, model: str, timeout: float) -> EmbeddingResponse:  # noqa: ASYNC109
        if not texts:
            return EmbeddingResponse(())
        seen = NoProgress()
        with self._failures.translate_errors(seen):
            asking = {"input": list(texts), "model": model, "encoding_format": "float"}
            async with asyncio.timeout(timeout), self._embed(**asking, timeout=timeout) as opened:
                seen.begun = True
                body = await whole(opened.http_response, MOST_BYTES)
        return read_vectors(body, len(texts))

    def supports(self, capability: Capability) -> bool:
        match capability:
            case "tools":
                return self._dialect.tools
            case "json_schema":
                return self._dialect.structured == "json_schema"
            case "cache":
                # OpenAI recognises prefixes by itself. What another server does is not known.
                return self._dialect.own
            case _:
                return True

    async def close(self) -> None:
        await self._client.close()

    def _opening(self, params: Mapping[str, Any], seconds: float) -> Any:
        """The response before its body is read. The package's types of this call know only whole answers."""
        return self._create(**params, timeout=seconds)


def _dialect(config: ProviderConfig) -> OpenAIDialect:
    if config.kind == "compatible":
        return OpenAIDialect(own=False, structured=config.option("structured"), tools=config.option("tools") == "yes")
    # What is asked at OpenAI is not to be kept there. Azure keeps nothing, and older versions do not know the word.
    return OpenAIDialect(own=True, keeps=False if config.kind == "openai" else None)


def _client(config: ProviderConfig) -> openai.AsyncOpenAI:
    # llama.cpp and others promise to keep a connection open, close it after a stream, and the next question is lost.
    keeps = config.kind != "compatible" or config.address.startswith("https://")
    shared: dict[str, Any] = {
        "api_key": config.secret or _NO_KEY,
        "max_retries": 0,
        "http_client": http_client(_headers(config), keeps=keeps),
        "default_headers": {"Accept-Encoding": "identity"},
    }
    if config.kind == "azure":
        return openai.AsyncAzureOpenAI(
            azure_endpoint=config.address,
            azure_deployment=config.option("deployment") or None,
            api_version=config.option("api_version"),
            **shared,
        )
    return openai.AsyncOpenAI(base_url=config.address, **shared)


def _headers(config: ProviderConfig) -> dict[str, str]:
    key = config.secret
    if key is None:
        return {}
    if config.kind == "azure":
        return {"api-key": key}
    payers = {"organization": "OpenAI-Organization", "project": "OpenAI-Project"} if config.kind == "openai" else {}
    chosen = {header: config.option(name) for name, header in payers.items() if config.option(name)}
    return {"Authorization": f"Bearer {key}", **chosen}
