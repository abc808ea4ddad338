"""Only addresses of the public internet are called, and those that the installation names: looked up, judged, used."""

import asyncio
import socket
import ssl
from collections.abc import Awaitable, Callable, Sequence
from ipaddress import ip_address, ip_network

import httpx2

from gaby.knowledge.sources.source import BadSource, SourceUnavailable
from gaby_connectors.sdk.outside_addresses import Address, is_public

Resolve = Callable[[str, int], Awaitable[Sequence[Address]]]

_MOST_TRIED = 3
_MOST_ORIGINS = 8


class AddressRefused(BadSource):
    """This address is private or special."""


async def system_resolve(host: str, port: int) -> Sequence[Address]:
    try:
        found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        return []
    return list(dict.fromkeys(ip_address(str(where[4][0]).split("%")[0]) for where in found))


class Guard:
    def __init__(self, allowed: Sequence[str] = (), resolve: Resolve = system_resolve) -> None:
        self._allowed = [ip_network(network) for network in allowed]
        self._resolve = resolve

    async def addresses(self, host: str, port: int) -> Sequence[Address]:
        """All there are, if all are allowed: one bad answer among good ones is a sign of an attack."""
        found = await self._resolve(host, port)
        if not found:
            raise SourceUnavailable(f"The name {host} is not known. Check its spelling, and the network's DNS.")
        for address in found:
            if not self._is_allowed(address):
                raise AddressRefused(
                    f"{host} is at {address}, a private or special address. "
                    "If that is meant, name its network in GABY_KNOWLEDGE_NETWORKS."
                )
        return found

    def _is_allowed(self, address: Address) -> bool:
        return any(address in network for network in self._allowed) or is_public(address)


class Guarded(httpx2.AsyncBaseTransport):
    """Every request goes to an address that was judged for it, whatever DNS says a moment later."""

    def __init__(self, guard: Guard) -> None:
        self._guard = guard
        self._tls: ssl.SSLContext | None = None
        # One for each server: a connection that was opened for one name must not be used for another.
        self._origins: dict[tuple[str, str, int], httpx2.AsyncHTTPTransport] = {}

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        scheme, host = request.url.scheme, request.url.raw_host.decode("ascii").lower()
        port = request.url.port or (443 if scheme == "https" else 80)
        addresses = (await self._guard.addresses(host, port))[:_MOST_TRIED]
        inner = await self._transport((scheme, host, port))
        request.extensions = {**request.extensions, "sni_hostname": host}
        meant = request.url
        for address in addresses:
            request.url = meant.copy_with(host=str(address))
            try:
                return await inner.handle_async_request(request)
            except (httpx2.ConnectError, httpx2.ConnectTimeout):
                if address == addresses[-1]:
                    raise
        raise AssertionError

    async def aclose(self) -> None:
        for inner in self._origins.values():
            await inner.aclose()
        self._origins.clear()

    async def _transport(self, origin: tuple[str, str, int]) -> httpx2.AsyncHTTPTransport:
        if origin not in self._origins:
            if len(self._origins) >= _MOST_ORIGINS:
                await self._origins.pop(next(iter(self._origins))).aclose()
            self._origins[origin] = httpx2.AsyncHTTPTransport(verify=await self._context(origin[0]), retries=0)
        return self._origins[origin]

    async def _context(self, scheme: str) -> ssl.SSLContext:
        if scheme != "https":
            return ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        if self._tls is None:
            self._tls = await asyncio.to_thread(httpx2.create_ssl_context)
        return self._tls
