"""Streamable HTTP with the eyes open: what became of each request, and no answer larger than allowed.

The SDK ends a whole session when one connection fails, and reads bodies without a bound. So failures are turned into
answers here, and noted where the caller finds them. This module loads the HTTP client.
"""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from contextvars import ContextVar
from dataclasses import dataclass

import httpx2

from gaby.mcp.launch import HttpLaunch
from gaby.mcp.limits import HostLimits

_GOODBYE = 2.0


@dataclass
class RequestTrace:
    """What became of the requests made on behalf of one caller."""

    status: int | None = None
    retry_after: str | None = None
    not_sent: bool = False
    lost: str | None = None
    """How the connection failed, if it did."""
    too_large: bool = False


TRACE: ContextVar[RequestTrace | None] = ContextVar("gaby_mcp_http_trace", default=None)
"""The SDK runs each request in the context of who made it, which is how a request finds its caller's trace."""


@asynccontextmanager
async def http_client(launch: HttpLaunch, limits: HostLimits) -> AsyncGenerator[httpx2.AsyncClient]:
    # The caller's deadline bounds the reading; an event stream may be silent for hours.
    timeout = httpx2.Timeout(limits.start_timeout, read=None)
    watched = _TracedTransport(httpx2.AsyncHTTPTransport(), limits.biggest_message)
    # Without the environment, which could send requests, and the secrets in them, by another way.
    async with httpx2.AsyncClient(
        transport=watched, headers=dict(launch.headers), timeout=timeout, trust_env=False
    ) as client:
        yield client


class _TracedTransport(httpx2.AsyncBaseTransport):
    def __init__(self, inner: httpx2.AsyncBaseTransport, biggest: int) -> None:
        self._inner = inner
        self._biggest = biggest

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        trace = TRACE.get() or RequestTrace()
        try:
            # Nobody waits for the end of a session that is being left.
            async with asyncio.timeout(_GOODBYE if request.method == "DELETE" else None):
                response = await self._inner.handle_async_request(request)
        except (httpx2.TransportError, TimeoutError) as error:
            trace.not_sent = isinstance(error, httpx2.ConnectError | httpx2.ConnectTimeout | httpx2.PoolTimeout)
            trace.lost = type(error).__name__
            return httpx2.Response(503, request=request)
        trace.status = response.status_code
        trace.retry_after = response.headers.get("retry-after")
        # An event stream lives long and has a bound of its own for each event.
        is_stream = response.headers.get("content-type", "").lower().startswith("text/event-stream")
        inner = response.stream
        if isinstance(inner, httpx2.AsyncByteStream):
            response.stream = _BoundedStream(inner, None if is_stream else self._biggest, trace)
        return response

    async def aclose(self) -> None:
        await self._inner.aclose()


class _BoundedStream(httpx2.AsyncByteStream):
    def __init__(self, inner: httpx2.AsyncByteStream, biggest: int | None, trace: RequestTrace) -> None:
        self._inner = inner
        self._biggest = biggest
        self._trace = trace

    async def __aiter__(self) -> AsyncIterator[bytes]:
        left = self._biggest
        try:
            async for chunk in self._inner:
                if left is not None:
                    left -= len(chunk)
                    if left < 0:
                        self._trace.too_large = True
                        raise httpx2.StreamError("the answer is too large")
                yield chunk
        except httpx2.TransportError as error:
            self._trace.lost = type(error).__name__
            # This one the SDK takes as the failure of one request; the other would end the session.
            raise httpx2.StreamError("the connection was lost") from error

    async def aclose(self) -> None:
        await self._inner.aclose()
