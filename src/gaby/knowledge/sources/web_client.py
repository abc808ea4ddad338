"""Fetches from the web: guarded at every hop, in bounded time, no more than a document may have."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from email.utils import parsedate_to_datetime
from http.cookiejar import CookieJar, DefaultCookiePolicy

import httpx2

from gaby import __version__
from gaby.knowledge.documents import Unreadable
from gaby.knowledge.sources.guard import AddressGuard, AddressRefused
from gaby.knowledge.sources.limits import SourceLimits, as_size
from gaby.knowledge.sources.source import BadSource, SourceUnavailable
from gaby.knowledge.sources.urls import canonical
from gaby_connectors.sdk.guarded_http import GuardedTransport, PortRefused

USER_AGENT = f"Gaby/{__version__} (knowledge)"
_MOST_HOPS = 5
_MOST_TRIES = 4
_LONGEST_WAIT = 60.0
_USUAL_WAIT = 10.0
REDIRECTS = frozenset({301, 302, 303, 307, 308})
_BUSY = frozenset({429, 503})
_NO_HEADERS: Mapping[str, str] = {}
_DECODED = frozenset({"", "identity", "gzip", "x-gzip", "deflate"})


class RedirectRefused(BadSource):
    """It leads somewhere that is not followed."""


@dataclass(frozen=True)
class WebResponse:
    url: str
    """Where it was in the end."""
    status: int
    headers: Mapping[str, str]
    body: bytes | None
    """None when nobody asked for it: another status than 200, or a kind that is not read."""

    @property
    def media_type(self) -> str | None:
        return self.headers.get("content-type", "").partition(";")[0].strip().lower() or None

    @property
    def charset(self) -> str | None:
        _, separator, rest = self.headers.get("content-type", "").lower().partition("charset=")
        name = rest.partition(";")[0].strip(" \"'")
        if not separator or not name or not name.isascii():
            return None
        try:
            b"x".decode(name, "replace")
        except (LookupError, ValueError):
            return None
        return name


def _anything(_: WebResponse) -> bool:
    return True


@dataclass(frozen=True)
class WebRequest:
    url: str
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    method: str = "GET"
    content: bytes | None = None
    wanted: Callable[[WebResponse], bool] = _anything
    """Whether the body is read, judged by what comes before it."""
    follows: Callable[[str], bool] | None = None
    """Which redirects are followed. The reply is the redirect itself when one is not."""


class WebClient:
    def __init__(
        self,
        guard: AddressGuard,
        limits: SourceLimits,
        *,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._limits = limits
        self._sleep = sleep
        nothing_kept = CookieJar(DefaultCookiePolicy(allowed_domains=[]))
        self._client = httpx2.AsyncClient(
            transport=GuardedTransport(guard),
            timeout=limits.request_seconds,
            follow_redirects=False,
            trust_env=False,
            cookies=nothing_kept,
            headers={"User-Agent": USER_AGENT, "Accept-Encoding": "gzip, deflate"},
        )

    async def close(self) -> None:
        await self._client.aclose()

    async def get(self, asked: WebRequest) -> WebResponse:
        """Raises `SourceUnavailable`, `Unreadable`, or `BadSource` for where it must not go."""
        for _ in range(_MOST_TRIES - 1):
            reply = await self._followed(asked)
            wait = _wait(reply)
            if wait is None or wait > _LONGEST_WAIT:
                return reply
            await self._sleep(wait)
        return await self._followed(asked)

    async def _followed(self, asked: WebRequest) -> WebResponse:
        url, headers = asked.url, asked.headers
        for _ in range(_MOST_HOPS + 1):
            reply = await self._once(asked, url, headers)
            if reply.status not in REDIRECTS or "location" not in reply.headers:
                return reply
            target = redirect_target(reply)
            if asked.follows is not None and not asked.follows(target):
                return reply
            # What was meant for one server, such as a token, is not told to another.
            url, headers = target, _NO_HEADERS
        raise RedirectRefused(f"It is redirected more than {_MOST_HOPS} times.")

    async def _once(self, asked: WebRequest, url: str, headers: Mapping[str, str]) -> WebResponse:
        host = httpx2.URL(url).host
        try:
            async with (
                asyncio.timeout(self._limits.document_seconds),
                self._client.stream(asked.method, url, headers=headers, content=asked.content) as response,
            ):
                return await self._read(asked, url, response)
        except (TimeoutError, httpx2.TimeoutException):
            raise SourceUnavailable(f"{host} did not answer in time.") from None
        except httpx2.DecodingError:
            raise Unreadable("It is not compressed in the way its server says.") from None
        except PortRefused as error:
            raise AddressRefused(str(error)) from None
        except httpx2.HTTPError as error:
            raise SourceUnavailable(_what_failed(host, error)) from None

    async def _read(self, asked: WebRequest, url: str, response: httpx2.Response) -> WebResponse:
        headers = {name.lower(): value for name, value in response.headers.items()}
        bare = WebResponse(url, response.status_code, headers, None)
        if response.status_code != 200 or not asked.wanted(bare):
            return bare
        if not _DECODED.issuperset(part.strip().lower() for part in headers.get("content-encoding", "").split(",")):
            raise Unreadable("It is compressed in a way that Gaby does not know.")
        return WebResponse(url, 200, headers, await self._body(response))

    async def _body(self, response: httpx2.Response) -> bytes:
        most = self._limits.document_bytes
        body = bytearray()
        async for part in response.aiter_bytes():
            body += part
            if len(body) > most or response.num_bytes_downloaded > most:
                raise Unreadable(f"It has more than {as_size(most)}, and such documents are not read.")
        return bytes(body)


def _wait(reply: WebResponse) -> float | None:
    """In seconds. A date means a server's own clock, which may be wrong, so it is taken for a short wait."""
    if reply.status not in _BUSY:
        return None
    text = reply.headers.get("retry-after", "").strip()
    if not text:
        return _USUAL_WAIT if reply.status == 429 else None
    if text.isascii() and text.isdigit():
        return float(text[:9])
    try:
        parsedate_to_datetime(text)
    except ValueError:
        return None
    return _USUAL_WAIT


def redirect_target(reply: WebResponse) -> str:
    """Where it leads, if that may be followed."""
    target = canonical(reply.headers["location"], reply.url)
    if target is None:
        raise RedirectRefused("It is redirected to something that is no page.")
    if reply.url.startswith("https:") and not target.startswith("https:"):
        raise RedirectRefused("It is redirected from https to http, which is not followed.")
    return target


def _what_failed(host: str, error: httpx2.HTTPError) -> str:
    if "CERTIFICATE_VERIFY_FAILED" in str(error):
        return f"The certificate of {host} is not valid. SSL_CERT_FILE can name the authority of your own network."
    if isinstance(error, httpx2.ConnectError):
        return f"{host} cannot be reached."
    return f"{host} broke off, or does not answer as a web server does."
