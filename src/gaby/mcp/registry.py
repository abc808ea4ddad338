"""The servers behind a host. Only the host itself and `gaby.mcp.calls` have business here."""

from weakref import WeakKeyDictionary

from gaby.mcp.errors import ConnectorUnknown
from gaby.mcp.launch import ServerKey
from gaby.mcp.server import ServerSupervisor

Servers = dict[ServerKey, ServerSupervisor]

_servers: WeakKeyDictionary[object, Servers] = WeakKeyDictionary()


def servers_of(host: object) -> Servers:
    return _servers.setdefault(host, {})


def server_of(host: object, key: ServerKey) -> ServerSupervisor:
    server = servers_of(host).get(key)
    if server is None:
        raise ConnectorUnknown(f"There is no connector {key.connector} in this workspace.")
    return server
