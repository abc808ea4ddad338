"""The life of a connector's server: its states, the moves between them, and the moves it made."""

from collections import deque
from collections.abc import Callable, Sequence
from datetime import datetime
from enum import StrEnum
from typing import NamedTuple

from gaby.kernel.clock import Clock
from gaby.mcp.errors import ImpossibleMove


class ServerState(StrEnum):
    CONFIGURED = "configured"
    """Known, but not running: never used yet, or stopped since nobody used it."""
    LAUNCHING = "launching"
    READY = "ready"
    BUSY = "busy"
    """At least one call is under way; more may join."""
    TIMEOUT = "timeout"
    CRASHED = "crashed"
    RESTARTING = "restarting"
    DEGRADED = "degraded"
    """Failed too often: left alone until a use after a while wakes it."""
    SHUTDOWN = "shutdown"


S = ServerState
MOVES: dict[ServerState, frozenset[ServerState]] = {
    S.CONFIGURED: frozenset({S.LAUNCHING, S.SHUTDOWN}),
    S.LAUNCHING: frozenset({S.READY, S.CRASHED, S.TIMEOUT, S.SHUTDOWN}),
    S.READY: frozenset({S.BUSY, S.CRASHED, S.TIMEOUT, S.CONFIGURED, S.SHUTDOWN}),
    S.BUSY: frozenset({S.READY, S.CRASHED, S.TIMEOUT, S.SHUTDOWN}),
    S.TIMEOUT: frozenset({S.RESTARTING, S.DEGRADED, S.SHUTDOWN}),
    S.CRASHED: frozenset({S.RESTARTING, S.DEGRADED, S.SHUTDOWN}),
    S.RESTARTING: frozenset({S.READY, S.CRASHED, S.TIMEOUT, S.SHUTDOWN}),
    S.DEGRADED: frozenset({S.RESTARTING, S.SHUTDOWN}),
    S.SHUTDOWN: frozenset(),
}


class StateChange(NamedTuple):
    at: datetime
    before: ServerState
    after: ServerState
    reason: str


class ServerLifecycle:
    """Where a server is, how it came there, and nothing that the table does not allow."""

    def __init__(self, clock: Clock, kept: int, on_change: Callable[[StateChange], None]) -> None:
        self.state = ServerState.CONFIGURED
        self.since = clock.now()
        self._clock = clock
        self._on_change = on_change
        self._moves: deque[StateChange] = deque(maxlen=kept)

    @property
    def history(self) -> Sequence[StateChange]:
        return tuple(self._moves)

    def move(self, after: ServerState, reason: str = "") -> None:
        before = self.state
        if after not in MOVES[before]:
            raise ImpossibleMove(f"A connector cannot go from {before} to {after}.")
        self.state, self.since = after, self._clock.now()
        self._record(StateChange(self.since, before, after, reason))

    def _record(self, move: StateChange) -> None:
        # Only the last of many turns between ready and busy is kept, or calls would push out what matters.
        if move.after is ServerState.BUSY and len(self._moves) > 1 and self._moves[-1].before is ServerState.BUSY:
            self._moves.pop()
            self._moves.pop()
        self._moves.append(move)
        self._on_change(move)
