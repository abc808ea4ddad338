"""Claude through Anthropic's own package: at Anthropic, at Amazon Bedrock and at Google Vertex."""

import asyncio
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import aclosing
from importlib.util import find_spec
from typing import Any, cast

import anthropic
from anthropic.lib.bedrock import AsyncAnthropicBedrockMantle
from anthropic.lib.vertex import AsyncAnthropicVertex

from gaby.kernel.clock import Clock
from gaby.llm.errors import ProviderNotInstalled, RequestRefused
from gaby.llm.messages import EmbeddingResponse, ModelRequest, ModelResponse, TextDelta
from gaby.llm.provider import Capability
from gaby.llm.providers.anthropic_request import message_params
from gaby.llm.providers.anthropic_response import MessageStream, read_message
from gaby.llm.providers.config import ProviderConfig
from gaby.llm.providers.failures import ErrorTranslator
from gaby.llm.providers.names import our_names
from gaby.llm.providers.response_builder import ResponseBuilder
from gaby.llm.providers.streaming import follow
from gaby.llm.providers.transport import MOST_BYTES_OF_AN_ANSWER, http_client, whole

# What we send and read is written for this version, whichever one the package would name.
_VERSION = "2026-10-21"
_CAN: frozenset[Capability] = frozenset({"tools", "streaming", "cache", "json_schema"})

Client = anthropic.AsyncAnthropic | AsyncAnthropicBedrockMantle | AsyncAnthropicVertex


class AnthropicProvider:
    def __init__(self, config: ProviderConfig, clock: Clock) -> None:
        self._client = _client(config)
        # The package loads more of itself here, which must not happen while somebody waits for an answer.
        self._create: Any = self._client.messages.with_streaming_response.create
        self._thinking = config.option("thinking")
        self._effort = config.option("effort")
        self._failures = ErrorTranslator(
            status=anthropic.APIStatusError,
            timeout=anthropic.APITimeoutError,
            connection=anthropic.APIConnectionError,
            other=anthropic.AnthropicError,
            key=config.secret,
            clock=clock,
        )

    async def chat(self, request: ModelRequest) -> ModelResponse:
        gathering = ResponseBuilder(our_names(request), request.model)
        params = self._params(request)
        with self._failures.translate_errors(gathering):
            async with asyncio.timeout(request.timeout), self._opening(params, request.timeout) as opened:
                gathering.begun = True
                body = await whole(opened.http_response, MOST_BYTES_OF_AN_ANSWER)
        return read_message(body, gathering)

    async def stream(self, request: ModelRequest) -> AsyncGenerator[TextDelta | ModelResponse]:
        gathering = ResponseBuilder(our_names(request), request.model)
        params = {**self._params(request), "stream": True}
        with self._failures.translate_errors(gathering):
            opening = self._opening(params, request.timeout)
            async with aclosing(follow(opening, MessageStream(gathering), request.timeout)) as coming:
                async for each in coming:
                    yield each

    async def embed(self, texts: Sequence[str], *, model: str, timeout: float) -> EmbeddingResponse:  # noqa: ASYNC109
        raise RequestRefused("Anthropic has no models that make vectors. Choose another provider for them.")

    def supports(self, capability: Capability) -> bool:
        return capability in _CAN

    async def close(self) -> None:
        await self._client.close()

    def _opening(self, params: Mapping[str, Any], seconds: float) -> Any:
        """The response before its body is read. The package's types of this call know only whole answers."""
        return self._create(**params, timeout=seconds)

    def _params(self, request: ModelRequest) -> dict[str, Any]:
        params = message_params(request)
        if self._thinking:
            params["thinking"] = {"type": "disabled"}
        if self._effort:
            params["output_config"] = {**params.get("output_config", {}), "effort": cast("Any", self._effort)}
        return dict(params)


def _client(config: ProviderConfig) -> Client:
    key = config.secret
    fixed = {"Authorization": f"Bearer {key}", "anthropic-version": _VERSION} if key else None
    shared: dict[str, Any] = {
        "base_url": config.address,
        "max_retries": 0,
        "http_client": http_client(fixed),
        "default_headers": {"Accept-Encoding": "identity"},
        "open_telemetry": False,
    }
    if config.kind == "bedrock":
        _needs(key, "boto3", "Amazon's own credentials")
        return AsyncAnthropicBedrockMantle(api_key=key, aws_region=config.option("region"), **shared)
    if config.kind == "vertex":
        _needs(key, "google.auth", "Google's own credentials")
        return AsyncAnthropicVertex(
            region=config.option("region"), project_id=config.option("project"), access_token=key, **shared
        )
    return anthropic.AsyncAnthropic(api_key=key, **shared)


def _needs(key: str | None, package: str, what: str) -> None:
    if key is None and not _is_there(package):
        raise ProviderNotInstalled(f"Without a key, {what} are used, which need the package {package}. Install it.")


def _is_there(package: str) -> bool:
    try:
        return find_spec(package) is not None
    except ModuleNotFoundError:
        return False
