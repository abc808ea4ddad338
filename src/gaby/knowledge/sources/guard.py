"""Only addresses of the public internet are called, and those that the installation names: looked up, judged, used."""

import asyncio
import socket
from collections.abc import Awaitable, Callable, Sequence
from ipaddress import ip_address, ip_network

from gaby.knowledge.sources.source import BadSource, SourceUnavailable
from gaby_connectors.sdk.address_guard import Address, is_public, log_refused

Resolve = Callable[[str, int], Awaitable[Sequence[Address]]]


class AddressRefused(BadSource):
    """This address is private or special."""


async def system_resolve(host: str, port: int) -> Sequence[Address]:
    try:
        infos = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        return []
    return list(dict.fromkeys(ip_address(str(where[4][0]).split("%")[0]) for where in infos))


class AddressGuard:
    everything = False

    def __init__(self, allowed: Sequence[str] = (), resolve: Resolve = system_resolve) -> None:
        self._allowed = [ip_network(network) for network in allowed]
        self._resolve = resolve

    async def resolve_async(self, host: str, port: int) -> Sequence[Address]:
        """All there are, if all are allowed: one bad answer among good ones is a sign of an attack."""
        addresses = await self._resolve(host, port)
        if not addresses:
            raise SourceUnavailable(f"The name {host} is not known. Check its spelling, and the network's DNS.")
        for address in addresses:
            if not self._is_allowed(address):
                log_refused(host, address)
                raise AddressRefused(
                    f"{host} has a private or special address. "
                    "If that is meant, name its network in GABY_KNOWLEDGE_NETWORKS."
                )
        return addresses

    def _is_allowed(self, address: Address) -> bool:
        return any(address in network for network in self._allowed) or is_public(address)
