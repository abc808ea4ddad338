"""The wire to providers: it sends what was configured, whatever the environment says, and reads within bounds."""

import ssl
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import aclosing
from functools import cache

import httpx2

MOST_BYTES = 64_000_000
"""Of a whole stream, or of a batch of vectors. Nothing that long is kept."""
MOST_BYTES_OF_AN_ANSWER = 8_000_000
_MOST_BYTES_OF_AN_ERROR = 65_536

# Everything else that the vendors' packages put into headers tells about this machine, or comes from variables of its
# environment. Gaby means neither when it asks.
_TECHNICAL = frozenset(
    {"host", "accept", "accept-encoding", "connection", "content-length", "content-type", "user-agent"}
)


class ResponseTooLarge(Exception):
    """More bytes than any answer has."""


class CompressedResponse(Exception):
    """A compressed body, which nobody asked for and which may unfold to any size."""


class _CountedStream(httpx2.AsyncByteStream):
    def __init__(self, inner: httpx2.AsyncByteStream, most: int, *, may_be_cut: bool) -> None:
        self._inner = inner
        self._left = most
        self._may_be_cut = may_be_cut

    async def __aiter__(self) -> AsyncIterator[bytes]:
        inner = aiter(self._inner)
        try:
            async for chunk in inner:
                if len(chunk) > self._left:
                    if not self._may_be_cut:
                        raise ResponseTooLarge
                    yield chunk[: self._left]
                    return
                self._left -= len(chunk)
                yield chunk
        finally:
            if isinstance(inner, AsyncGenerator):
                await inner.aclose()

    async def aclose(self) -> None:
        await self._inner.aclose()


class ProviderTransport(httpx2.AsyncBaseTransport):
    def __init__(self, fixed: Mapping[str, str] | None, *, keeps: bool) -> None:
        self._fixed = fixed
        limits = httpx2.Limits(max_connections=200, max_keepalive_connections=20 if keeps else 0)
        self._inner = httpx2.AsyncHTTPTransport(verify=_certificates(), trust_env=False, limits=limits)

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        response = await self._inner.handle_async_request(self._meant(request))
        if response.headers.get("content-encoding", "identity").strip().lower() not in ("", "identity"):
            await response.aclose()
            raise CompressedResponse
        if not isinstance(response.stream, httpx2.AsyncByteStream):
            raise TypeError("An asynchronous transport answers with an asynchronous stream.")
        failed = response.status_code >= 300
        most = _MOST_BYTES_OF_AN_ERROR if failed else MOST_BYTES
        response.stream = _CountedStream(response.stream, most, may_be_cut=failed)
        return response

    async def aclose(self) -> None:
        await self._inner.aclose()

    def _meant(self, request: httpx2.Request) -> httpx2.Request:
        """A copy, since the vendors' packages look at their own headers again when the response is there."""
        if self._fixed is None:
            return request
        kept = [(name, value) for name, value in request.headers.items() if name in _TECHNICAL]
        headers = [*kept, *self._fixed.items()]
        return httpx2.Request(
            request.method, request.url, headers=headers, stream=request.stream, extensions=request.extensions
        )


def http_client(fixed: Mapping[str, str] | None, *, keeps: bool = True) -> httpx2.AsyncClient:
    """`fixed` are all headers that carry meaning; None lets the vendor's package sign requests by itself. `keeps` says
    whether connections are used again. No redirects are followed: the key is for the address that was configured."""
    return httpx2.AsyncClient(transport=ProviderTransport(fixed, keeps=keeps), trust_env=False, follow_redirects=False)


@cache
def _certificates() -> ssl.SSLContext:
    """Read once for all accounts, since that takes a while."""
    return httpx2.create_ssl_context(trust_env=False)


async def whole(response: httpx2.Response, most: int) -> bytes:
    body = bytearray()
    async with aclosing(response.aiter_bytes()) as chunks:
        async for chunk in chunks:
            body += chunk
            if len(body) > most:
                raise ResponseTooLarge
    return bytes(body)
