"""Which addresses somebody may make this machine connect to, who may not manage the machine itself.

Whoever runs a workspace names servers: mail servers, help desks, webhooks, databases. Without a limit that would open
the inside of the network that Gaby stands in: loopback, private networks, the metadata of clouds. So only public
addresses are connected to, and those inside that the installation names. What counts is the address that a connection
really goes to, after every name was looked up and every redirect followed; a name is looked up once, and the address
that was judged is the one that is used, whatever DNS says a moment later.
"""

import asyncio
import logging
import os
import socket
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address, ip_network
from typing import Any, cast

Address = IPv4Address | IPv6Address
INSIDE_VARIABLE = "GABY_CONNECTOR_INSIDE"
"""Set by Gaby for the connectors that it starts: what is allowed inside. `*` is everything; not set, nothing is judged,
since then whoever started the program is on this machine already."""
EVERYTHING = "*"
_UNICAST = IPv6Network("2000::/3")
_NAT64 = IPv6Network("64:ff9b::/96")
# Addresses that count as global and are not: of clouds' own services, of anycast relays, and of networks that carry
# another address in theirs, which somebody on the way decides about.
_SPECIAL = tuple(map(ip_network, ("168.63.129.16", "192.0.0.0/24", "192.88.99.0/24", "2002::/16", "2001::/32")))
_log = logging.getLogger(__name__)
_INSIDE_NAMES = ("localhost", ".localhost", ".local", ".internal", ".home.arpa")


class AddressNotAllowed(PermissionError):
    """This address is inside, and not one of those that the installation allows. As an `OSError`, every library that
    connects passes it on."""


@dataclass(frozen=True)
class AddressPolicy:
    """The public internet, and what is allowed inside: networks, and names that are trusted wherever they lead."""

    networks: tuple[Any, ...] = ()
    names: frozenset[str] = frozenset()
    everything: bool = False

    @classmethod
    def allowing(cls, inside: str | None) -> "AddressPolicy":
        """From a setting: networks and names with commas between them. `ValueError` when a part is neither."""
        parts = [part.strip().lower().rstrip(".") for part in (inside or "").split(",") if part.strip()]
        networks = [network for part in parts if (network := _network(part)) is not None]
        names = [part for part in parts if _network(part) is None and part != EVERYTHING]
        for name in names:
            if not all(label and len(label) < 64 and label.replace("-", "a").isalnum() for label in name.split(".")):
                raise ValueError(f"{name[:60]!r} is neither a network such as 10.2.0.0/16 nor the name of a host")
        return cls(tuple(networks), frozenset(names), EVERYTHING in parts)

    @classmethod
    def anywhere(cls) -> "AddressPolicy":
        """For what was set by somebody who manages the installation, and could look at the machine anyway."""
        return cls(everything=True)

    def allows(self, address: Address) -> bool:
        if self.everything or any(address in network for network in self.networks):
            return True
        return is_public(address)

    def check_name(self, host: str) -> None:
        """What can be told without looking it up, for when a setting is made: `AddressNotAllowed`."""
        name = host.strip().strip("[]").lower().rstrip(".")
        if self.everything or name in self.names:
            return
        address = _literal(name)
        inside = name.endswith(_INSIDE_NAMES) if address is None else not self.allows(address)
        if inside or not name:
            raise _refusal(host)

    def check_addresses(self, host: str, addresses: Sequence[Address]) -> Sequence[Address]:
        """All of them, if all are allowed: one bad answer among good ones is a sign of an attack."""
        if host.lower().rstrip(".") not in self.names:
            for address in addresses:
                if not self.allows(address):
                    log_refused(host, address)
                    raise _refusal(host)
        return addresses

    def resolve(self, host: str, port: int) -> Sequence[Address]:
        """Looked up and judged. Empty when nobody knows the name."""
        try:
            infos = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        except (OSError, UnicodeError):
            return []
        return self.check_addresses(
            host, list(dict.fromkeys(ip_address(str(each[4][0]).split("%")[0]) for each in infos))
        )

    async def resolve_async(self, host: str, port: int) -> Sequence[Address]:
        return await asyncio.to_thread(self.resolve, host, port)

    def connect(self, host: str, port: int, timeout: float | None) -> socket.socket:
        """A connection to an address that was judged, for libraries that wait."""
        addresses = self.resolve(host, port)
        if not addresses:
            raise socket.gaierror(socket.EAI_NONAME, "the name is not known")
        for address in addresses[:-1]:
            try:
                return socket.create_connection((str(address), port), timeout)
            except OSError:
                continue
        return socket.create_connection((str(addresses[-1]), port), timeout)


def is_public(address: Address) -> bool:
    """Whether it is of the public internet. Addresses that wrap another in a way that no server needs are not."""
    if isinstance(address, IPv6Address):
        # Networks without IPv4 of their own give such addresses to every public server.
        if address in _NAT64:
            return is_public(IPv4Address(int(address) & 0xFFFFFFFF))
        if address not in _UNICAST:
            return False
    special = address.is_multicast or address.is_reserved or any(address in network for network in _SPECIAL)
    return address.is_global and not special


def from_environment(environment: Mapping[str, str] = os.environ) -> AddressPolicy | None:
    """What Gaby allows a connector that it started; None for one that somebody else did."""
    inside = environment.get(INSIDE_VARIABLE)
    return AddressPolicy.allowing(inside) if inside is not None else None


def enforce(outside: AddressPolicy) -> None:
    """From now on and until it ends, no socket of this process connects to anything else, whichever library opens it.

    For a connector, which is a process of its own. Libraries in C, such as libpq, are not seen: they are given an
    address that was judged.
    """
    if outside.everything:
        return
    trusted: set[Address] = set()

    def watch(event: str, arguments: tuple[Any, ...]) -> None:
        if event == "socket.connect":
            _check_connection(outside, trusted, arguments[1])

    sys.addaudithook(watch)


def _check_connection(outside: AddressPolicy, trusted: set[Address], target: object) -> None:
    if not isinstance(target, tuple):
        raise AddressNotAllowed("Sockets of this machine are not connected to by workspaces.")
    host = str(cast("tuple[object, ...]", target)[0]).split("%")[0]
    address = ip_address(host)
    if outside.allows(address) or address in trusted:
        return
    # Here a name is known no longer, so it is asked where those that are trusted lead.
    for name in outside.names:
        trusted.update(outside.resolve(name, 0))
    if address not in trusted:
        # It may be what a name led to.
        log_refused("the server", address)
        raise _refusal("The server")


def log_refused(host: str, address: Address) -> None:
    """Only here: whoever is told where names lead can draw a map of the network that Gaby stands in."""
    _log.info("address refused: %s is at %s", host[:200], address)


def _refusal(host: str) -> AddressNotAllowed:
    return AddressNotAllowed(
        f"{host[:200]} is inside this network, and workspaces may only use public addresses. If it is meant, whoever "
        "manages the installation names it in GABY_SAFETY_INSIDE, or sets it up."
    )


def refusal_in(error: BaseException | None) -> AddressNotAllowed | None:
    """The refusal that a library has wrapped into an error of its own."""
    for _ in range(10):
        if error is None or isinstance(error, AddressNotAllowed):
            return error
        error = error.__cause__ or error.__context__
    return None


def _network(text: str) -> Any:
    try:
        return ip_network(text, strict=False)
    except ValueError:
        return None


def _literal(name: str) -> Address | None:
    """An address in any spelling that a resolver takes for one: 127.1, 0x7f000001, 0177.0.0.1, 2130706433."""
    try:
        return ip_address(name.split("%", maxsplit=1)[0])
    except ValueError:
        pass
    try:
        return IPv4Address(socket.inet_aton(name))
    except (OSError, ValueError, UnicodeError):
        return None
