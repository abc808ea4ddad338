"""Following an answer as it comes: each piece in time, the end demanded, and nothing left open."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import AbstractAsyncContextManager, AsyncExitStack, aclosing, suppress
from typing import Protocol

import httpx2

from gaby.llm.errors import AnswerCutOff, AnswerUnreadable, ModelError
from gaby.llm.messages import ModelResponse, TextDelta
from gaby.llm.providers.response_builder import ResponseBuilder
from gaby.llm.providers.sse import ServerSentEvent, events
from gaby.llm.providers.transport import ResponseTooLarge

PATIENCE = 10
"""A whole stream may take this many times as long as one piece of it."""
_GOODBYE = 0.1


class VendorResponse(Protocol):
    """A response as both vendors' packages hand it over."""

    http_response: httpx2.Response


class ResponseReader(Protocol):
    gathering: ResponseBuilder
    finished: bool

    def feed(self, event: ServerSentEvent) -> str:
        """The text that this event brings, if any."""
        ...

    def answer(self) -> ModelResponse: ...


async def follow(
    opening: AbstractAsyncContextManager[VendorResponse], reader: ResponseReader, seconds: float
) -> AsyncGenerator[TextDelta | ModelResponse]:
    """The clock runs only while the provider is waited for, never while somebody uses a piece."""
    time = asyncio.get_running_loop().time
    last = time() + seconds * PATIENCE
    async with AsyncExitStack() as stack:
        async with asyncio.timeout(seconds):
            opened = await stack.enter_async_context(opening)
        reader.gathering.begun = True
        if not opened.http_response.headers.get("content-type", "").startswith("text/event-stream"):
            raise AnswerUnreadable
        coming = await stack.enter_async_context(aclosing(events(opened.http_response)))
        while not reader.finished:
            async with asyncio.timeout_at(min(time() + seconds, last)):
                event = await anext(coming, None)
            if event is None:
                raise AnswerCutOff(usage=reader.gathering.billed)
            if text := reader.feed(event):
                yield TextDelta(text)
        yield reader.answer()
        # Read to its end, the connection can be used again.
        with suppress(TimeoutError, httpx2.HTTPError, ModelError, ResponseTooLarge):
            async with asyncio.timeout(_GOODBYE):
                await anext(coming, None)
