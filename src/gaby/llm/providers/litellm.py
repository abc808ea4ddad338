"""A hundred other vendors through LiteLLM, for those who install it. Its package is not part of Gaby."""

import asyncio
from collections.abc import AsyncGenerator, Generator, Sequence
from contextlib import aclosing, contextmanager
from importlib import import_module
from typing import Any

import openai
import orjson

from gaby.kernel.clock import Clock
from gaby.llm.errors import AnswerCutOff, ProviderNotInstalled
from gaby.llm.messages import EmbeddingResponse, ModelRequest, ModelResponse, TextDelta
from gaby.llm.provider import Capability
from gaby.llm.providers.config import ProviderConfig
from gaby.llm.providers.failures import ErrorTranslator, NoProgress, ResponseProgress, VendorStreamError
from gaby.llm.providers.names import our_names
from gaby.llm.providers.openai_request import OpenAIDialect, completion_params
from gaby.llm.providers.openai_response import CompletionStream, completion
from gaby.llm.providers.response_builder import ResponseBuilder, mapping
from gaby.llm.providers.vectors import vectors


class LiteLLMProvider:
    """It takes questions and gives answers in OpenAI's words, and its errors are children of OpenAI's."""

    def __init__(self, config: ProviderConfig, clock: Clock) -> None:
        try:
            self._litellm: Any = import_module("litellm")
        except ModuleNotFoundError:
            raise ProviderNotInstalled(
                "LiteLLM is not installed. Run `pip install litellm` where Gaby is installed, and pin its version."
            ) from None
        self._dialect = OpenAIDialect(
            own=False, structured=config.option("structured"), tools=config.option("tools") == "yes"
        )
        self._account = {"api_key": config.secret, "api_base": config.base_url, "num_retries": 0, "max_retries": 0}
        self._failures = ErrorTranslator(
            status=VendorStreamError,
            timeout=openai.APITimeoutError,
            connection=openai.APIConnectionError,
            other=openai.OpenAIError,
            key=config.secret,
            clock=clock,
        )

    async def chat(self, request: ModelRequest) -> ModelResponse:
        gathering = ResponseBuilder(our_names(request), request.model)
        params = completion_params(request, self._dialect)
        with self._translate_errors(gathering):
            async with asyncio.timeout(request.timeout):
                response = await self._litellm.acompletion(**params, **self._account, timeout=request.timeout)
            return completion(mapping(response.model_dump()), gathering)

    async def stream(self, request: ModelRequest) -> AsyncGenerator[TextDelta | ModelResponse]:
        reader = CompletionStream(ResponseBuilder(our_names(request), request.model))
        params = {
            **completion_params(request, self._dialect),
            "stream": True,
            "stream_options": {"include_usage": True},
        }
        with self._translate_errors(reader.gathering):
            async with asyncio.timeout(request.timeout):
                coming = await self._litellm.acompletion(**params, **self._account, timeout=request.timeout)
            reader.gathering.begun = True
            async with aclosing(coming):
                while True:
                    async with asyncio.timeout(request.timeout):
                        chunk = await anext(coming, None)
                    if chunk is None:
                        break
                    if text := reader.take(mapping(chunk.model_dump())):
                        yield TextDelta(text)
        if not reader.has_ended:
            raise AnswerCutOff(usage=reader.gathering.billed)
        yield reader.answer()

    async def embed(self, texts: Sequence[str], *, model: str, timeout: float) -> EmbeddingResponse:  # noqa: ASYNC109
        if not texts:
            return EmbeddingResponse(())
        with self._translate_errors(NoProgress()):
            async with asyncio.timeout(timeout):
                response = await self._litellm.aembedding(
                    model=model, input=list(texts), **self._account, timeout=timeout, encoding_format="float"
                )
        return vectors(response.model_dump(), len(texts))

    def supports(self, capability: Capability) -> bool:
        match capability:
            case "tools":
                return self._dialect.tools
            case "json_schema":
                return self._dialect.structured == "json_schema"
            case "cache":
                return False
            case _:
                return True

    async def close(self) -> None:
        """The package keeps its connections for itself."""

    @contextmanager
    def _translate_errors(self, seen: ResponseProgress) -> Generator[None]:
        """Responses of this package are of any library, so only the status and the words are taken from its errors."""
        with self._failures.translate_errors(seen):
            try:
                yield
            except openai.APIStatusError as error:
                raise VendorStreamError(error.status_code, orjson.dumps({"message": error.message})) from None
