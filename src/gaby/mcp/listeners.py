"""Who is told when a server changes its state or shows its tools."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeAlias

from gaby.kernel.log import get_log
from gaby.kernel.metrics import Metrics
from gaby.mcp.definitions import ServerDefinitions
from gaby.mcp.launch import ServerKey
from gaby.mcp.states import ServerState, StateChange

_log = get_log(__name__)

OnDefinitions: TypeAlias = Callable[[ServerKey, ServerDefinitions], Awaitable[None]]
"""Awaited before anybody may use the tools; if it raises a `GabyError`, nobody may. It must not ask the host itself."""
OnTransition: TypeAlias = Callable[[ServerKey, StateChange], None]

_ALIVE = {ServerState.READY: 1, ServerState.TIMEOUT: 0, ServerState.CRASHED: 0, ServerState.DEGRADED: 0}
_EVERYDAY = frozenset({ServerState.READY, ServerState.BUSY})


class Listeners:
    def __init__(self, metrics: Metrics) -> None:
        self.on_definitions: list[OnDefinitions] = []
        self.on_transition: list[OnTransition] = []
        self._health = metrics.connector_health

    async def learned(self, key: ServerKey, definitions: ServerDefinitions) -> None:
        for listener in self.on_definitions:
            await listener(key, definitions)

    def moved(self, key: ServerKey, move: StateChange) -> None:
        if not {move.before, move.after} <= _EVERYDAY:
            self._show(key, move)
        for listener in self.on_transition:
            # In the loop's next turn: what somebody does with the news must not get in the way of what happens.
            asyncio.get_running_loop().call_soon(listener, key, move)

    def _show(self, key: ServerKey, move: StateChange) -> None:
        alive = _ALIVE.get(move.after)
        labels = (str(key.workspace_id), key.connector)
        if alive is not None:
            self._health.labels(*labels).set(alive)
        elif move.after is ServerState.SHUTDOWN:
            # It may never have been shown.
            self._health.labels(*labels)
            self._health.remove(*labels)
        _log.info(
            "connector.moved",
            workspace=str(key.workspace_id),
            connector=key.connector,
            before=move.before,
            after=move.after,
            reason=move.reason,
        )
