"""HTTP to outside addresses only: each request goes to an address that was judged for it."""

import asyncio
import ssl
from collections.abc import Sequence
from typing import Protocol

import httpx2

from gaby_connectors.sdk.address_guard import Address, AddressNotAllowed

_MOST_TRIED = 3
_MOST_ORIGINS = 16
# Ports that something else than HTTP listens on, which a request could be taken for a command of.
_OTHER_PORTS = frozenset(
    (*range(80), *(110, 111, 119, 135, 139, 143, 161, 389, 445, 465, 514, 587, 636, 873, 993, 995, 1433, 1521, 2049))
) | {2375, 3306, 3389, 5432, 5672, 5900, 6379, 6667, 9042, 11211, 27017}


class PortRefused(AddressNotAllowed):
    """Something else than a web server is expected at this port."""


class AddressJudge(Protocol):
    @property
    def everything(self) -> bool:
        """Whether any port may be asked as well."""
        ...

    async def resolve_async(self, host: str, port: int) -> Sequence[Address]:
        """Looked up and judged: all are allowed, or it raises. Empty when nobody knows the name."""
        ...


class GuardedTransport(httpx2.AsyncBaseTransport):
    """A redirect is a request of its own, and so is judged like the first."""

    def __init__(self, judge: AddressJudge, verify: ssl.SSLContext | None = None) -> None:
        self._judge = judge
        self._verify = verify
        # One for each server: a connection that was opened for one name must not be used for another.
        self._origins: dict[tuple[str, str, int], httpx2.AsyncHTTPTransport] = {}

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        scheme, host = request.url.scheme, request.url.raw_host.decode("ascii").lower()
        port = request.url.port or (443 if scheme == "https" else 80)
        if scheme not in ("http", "https") or (port in _OTHER_PORTS and not self._judge.everything):
            raise PortRefused(f"No web server is asked at {scheme}://{host[:200]}:{port}.")
        addresses = (await self._judge.resolve_async(host, port))[:_MOST_TRIED]
        if not addresses:
            raise httpx2.ConnectError(f"The name {host[:200]} is not known.")
        inner = await self._transport((scheme, host, port))
        meant = request.url
        request.extensions = {**request.extensions, "sni_hostname": host}
        for address in addresses[:-1]:
            request.url = meant.copy_with(host=str(address))
            try:
                return await inner.handle_async_request(request)
            except (httpx2.ConnectError, httpx2.ConnectTimeout):
                continue
        request.url = meant.copy_with(host=str(addresses[-1]))
        return await inner.handle_async_request(request)

    async def aclose(self) -> None:
        for inner in self._origins.values():
            await inner.aclose()
        self._origins.clear()

    async def _transport(self, origin: tuple[str, str, int]) -> httpx2.AsyncHTTPTransport:
        if origin not in self._origins:
            if len(self._origins) >= _MOST_ORIGINS:
                await self._origins.pop(next(iter(self._origins))).aclose()
            verify = await self._context(origin[0])
            self._origins[origin] = httpx2.AsyncHTTPTransport(verify=verify, trust_env=False, retries=0)
        return self._origins[origin]

    async def _context(self, scheme: str) -> ssl.SSLContext:
        """Reading the authorities takes a while, so it is done once, beside the loop, and not for plain HTTP."""
        if scheme != "https":
            return ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        if self._verify is None:
            self._verify = await asyncio.to_thread(httpx2.create_ssl_context)
        return self._verify
