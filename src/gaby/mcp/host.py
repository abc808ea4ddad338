"""The MCP host: every connector's server, one per connector and workspace, started by use and watched over.

It has no way to call a tool. That is `gaby.mcp.calls`, which only the one path to tools may use.
"""

import asyncio
from collections.abc import Sequence

from gaby.kernel.clock import Clock
from gaby.kernel.ids import Random
from gaby.kernel.metrics import Metrics
from gaby.mcp.definitions import ServerDefinitions
from gaby.mcp.errors import ConnectorShutDown
from gaby.mcp.launch import Launch, ServerKey
from gaby.mcp.limits import HostLimits
from gaby.mcp.listeners import Listeners, OnDefinitions, OnTransition
from gaby.mcp.registry import server_of, servers_of
from gaby.mcp.server import ServerStatus, ServerSupervisor
from gaby.mcp.spill import SpillFolder
from gaby.mcp.states import ServerState


class McpHost:
    def __init__(
        self,
        clock: Clock,
        random: Random,
        metrics: Metrics,
        limits: HostLimits | None = None,
        spill: SpillFolder | None = None,
    ) -> None:
        self.limits = limits or HostLimits()
        self.metrics = metrics
        self.spill = spill
        self._clock = clock
        self._random = random
        self._listeners = Listeners(metrics)
        self._servers = servers_of(self)
        self._closed = False

    async def configure(self, key: ServerKey, launch: Launch) -> None:
        """Make a connector known. It starts when it is used. One that runs in another way is stopped first."""
        if self._closed:
            raise ConnectorShutDown(connector=key.connector)
        old = self._servers.get(key)
        if old is not None and old.launch == launch:
            return
        self._servers[key] = ServerSupervisor(key, launch, self._clock, self._random, self.limits, self._listeners)
        if old is not None:
            await old.stop("its settings were changed")

    async def remove(self, key: ServerKey) -> None:
        server = self._servers.pop(key, None)
        if server is not None:
            await server.stop("it was removed")

    async def definitions(self, key: ServerKey) -> ServerDefinitions:
        """Its tools as they are now. Starts the server if need be."""
        server = server_of(self, key)
        link = await server.link()
        if link.definitions is None:
            raise ConnectorShutDown(connector=key.connector)
        return link.definitions

    def status(self, key: ServerKey) -> ServerStatus:
        return server_of(self, key).status()

    def statuses(self) -> Sequence[ServerStatus]:
        return [server.status() for server in self._servers.values()]

    def logs(self, key: ServerKey) -> str:
        """The end of what it wrote to stderr, safe to print."""
        return server_of(self, key).logs()

    def on_definitions(self, listener: OnDefinitions) -> None:
        """Told after every handshake and every change that a server tells of, before the tools may be used."""
        self._listeners.on_definitions.append(listener)

    def on_transition(self, listener: OnTransition) -> None:
        self._listeners.on_transition.append(listener)

    async def health_check(self) -> Sequence[ServerStatus]:
        """One round: servers over HTTP are pinged, and those that nobody uses are stopped."""
        await asyncio.gather(*(server.check() for server in list(self._servers.values())))
        return self.statuses()

    async def aclose(self) -> None:
        """Let calls under way finish for a while, then stop every server."""
        self._closed = True
        running = [server for server in self._servers.values() if server.state is not ServerState.SHUTDOWN]
        for server in running:
            server.refuse()
        await asyncio.gather(*(server.stop("Gaby stops") for server in running))
