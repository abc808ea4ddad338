"""Where libpq connects to. It is a library in C that looks names up by itself, so it is given addresses instead."""

from psycopg.conninfo import conninfo_to_dict, make_conninfo

from gaby_connectors.sdk.address_guard import AddressNotAllowed, AddressPolicy

_PORT = "5432"
# Settings that name files of this machine, or another place to look settings up in.
_LOCAL = (
    "service",
    "servicefile",
    "passfile",
    "sslcert",
    "sslkey",
    "sslrootcert",
    "sslcrl",
    "sslcrldir",
    "sslkeylogfile",
)


async def pinned_conninfo(url: str, outside: AddressPolicy | None) -> str:
    """With an address that was judged for each host. TLS still checks the name."""
    if outside is None or outside.everything:
        return url
    given = conninfo_to_dict(url)
    if named := [name for name in _LOCAL if given.get(name) not in (None, "", "system")]:
        raise AddressNotAllowed(f"{named[0]} names a place on this machine, which workspaces may not.")
    hosts = str(given.get("host") or "").split(",")
    ports = str(given.get("port") or _PORT).split(",")
    if given.get("hostaddr") or not all(hosts) or any(host.startswith(("/", "@")) for host in hosts):
        raise AddressNotAllowed("The host of the database must be a name or an address, not a socket of this machine.")
    ports = [port or _PORT for port in (ports * len(hosts) if len(ports) == 1 else ports)]
    pinned = [(host, port, await _address(outside, host, port)) for host, port in zip(hosts, ports, strict=True)]
    columns = [",".join(column) for column in zip(*pinned, strict=True)]
    return make_conninfo(url, host=columns[0], port=columns[1], hostaddr=columns[2])


async def _address(outside: AddressPolicy, host: str, port: str) -> str:
    addresses = await outside.resolve_async(host.strip("[]"), int(port))
    if not addresses:
        raise AddressNotAllowed(f"The name {host[:200]} is not known.")
    return str(addresses[0])
