"""The life of a connector's server: its states, the moves between them, and the moves it made."""

from collections import deque
from collections.abc import Callable, Sequence
from datetime import datetime
from enum import StrEnum
from typing import NamedTuple

from gaby.kernel.clock import Clock
from gaby.mcp.errors import ImpossibleMove


class State(StrEnum):
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


S = State
MOVES: dict[State, frozenset[State]] = {
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


class Move(NamedTuple):
    at: datetime
    before: State
    after: State
    reason: str


class Lifecycle:
    """Where a server is, how it came there, and nothing that the table does not allow."""

    def __init__(self, clock: Clock, kept: int, told: Callable[[Move], None]) -> None:
        self.state = State.CONFIGURED
        self.since = clock.now()
        self._clock = clock
        self._told = told
        self._moves: deque[Move] = deque(maxlen=kept)

    @property
    def history(self) -> Sequence[Move]:
        return tuple(self._moves)

    def move(self, after: State, reason: str = "") -> None:
        before = self.state
        if after not in MOVES[before]:
            raise ImpossibleMove(f"A connector cannot go from {before} to {after}.")
        self.state, self.since = after, self._clock.now()
        self._keep(Move(self.since, before, after, reason))

    def _keep(self, move: Move) -> None:
        # Only the last of many turns between ready and busy is kept, or calls would push out what matters.
        if move.after is State.BUSY and len(self._moves) > 1 and self._moves[-1].before is State.BUSY:
            self._moves.pop()
            self._moves.pop()
        self._moves.append(move)
        self._told(move)
