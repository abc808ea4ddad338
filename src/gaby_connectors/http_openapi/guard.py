"""Calls one server and no other: its address is looked up, judged, and then used as it is."""

import asyncio
import socket
from collections.abc import Sequence
from ipaddress import ip_address, ip_network

import httpx2

from gaby_connectors.sdk.errors import denied, transient
from gaby_connectors.sdk.outside_addresses import Address, is_public


class Guarded(httpx2.AsyncBaseTransport):
    """Every request goes to the configured host, at an address that was judged, whatever DNS says a moment later."""

    def __init__(self, host: str, port: int, allowed: Sequence[str]) -> None:
        self._host = host.lower()
        self._port = port
        self._allowed = [ip_network(network) for network in allowed]
        self._inner = httpx2.AsyncHTTPTransport(trust_env=False, retries=0)

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        if request.url.host.lower() != self._host or (request.url.port or _usual(request.url)) != self._port:
            raise denied("Only the configured server may be called.")
        address = self.judged(await self._addresses())
        request.extensions = {**request.extensions, "sni_hostname": self._host}
        request.url = request.url.copy_with(host=str(address))
        return await self._inner.handle_async_request(request)

    def judged(self, addresses: Sequence[Address]) -> Address:
        """The first address, if all of them are allowed: one bad answer among good ones is a sign of an attack."""
        if not addresses:
            raise transient("The server's name is not known.")
        for address in addresses:
            if not self._is_allowed(address):
                raise denied(
                    f"{self._host} is at {address}, a private or special address. "
                    "If that is meant, name its network in HTTP_OPENAPI_ALLOW_NETWORKS."
                )
        return addresses[0]

    async def aclose(self) -> None:
        await self._inner.aclose()

    def _is_allowed(self, address: Address) -> bool:
        return is_public(address) or any(address in network for network in self._allowed)

    async def _addresses(self) -> list[Address]:
        try:
            found = await asyncio.get_running_loop().getaddrinfo(self._host, self._port, type=socket.SOCK_STREAM)
        except OSError:
            return []
        return list(dict.fromkeys(ip_address(str(where[4][0]).split("%")[0]) for where in found))


def _usual(url: httpx2.URL) -> int:
    return 443 if url.scheme == "https" else 80
