"""Calls one server and no other: its address is looked up, judged, and then used as it is."""

import asyncio
import socket
from collections.abc import Sequence
from ipaddress import ip_address, ip_network

from gaby_connectors.sdk.address_guard import Address, is_public, log_refused
from gaby_connectors.sdk.errors import denied, transient


class SingleServerGuard:
    """Judges addresses for a transport: only the configured host and port, and only addresses that are allowed."""

    everything = True
    """Whoever configured the server chose its port as well."""

    def __init__(self, host: str, port: int, allowed: Sequence[str]) -> None:
        self._host = host.lower()
        self._port = port
        self._allowed = [ip_network(network) for network in allowed]

    async def resolve_async(self, host: str, port: int) -> Sequence[Address]:
        if host.lower() != self._host or port != self._port:
            raise denied("Only the configured server may be called.")
        try:
            infos = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
        except OSError:
            infos = []
        return self.check_addresses(list(dict.fromkeys(ip_address(str(where[4][0]).split("%")[0]) for where in infos)))

    def check_addresses(self, addresses: Sequence[Address]) -> Sequence[Address]:
        """All of them, if all are allowed: one bad answer among good ones is a sign of an attack."""
        if not addresses:
            raise transient("The server's name is not known.")
        for address in addresses:
            if not (is_public(address) or any(address in network for network in self._allowed)):
                log_refused(self._host, address)
                raise denied(
                    f"{self._host} has a private or special address. "
                    "If that is meant, name its network in HTTP_OPENAPI_ALLOW_NETWORKS."
                )
        return addresses
