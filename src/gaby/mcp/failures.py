"""How often a server failed lately, how long to wait before it is started again, and when that is no use."""

from collections import deque

from gaby.kernel.clock import Clock
from gaby.kernel.ids import Random
from gaby.mcp.errors import ConnectorAuthExpired, ConnectorDegraded, ConnectorError
from gaby.mcp.limits import HostLimits


class RestartBackoff:
    def __init__(self, connector: str, clock: Clock, random: Random, limits: HostLimits) -> None:
        self._connector = connector
        self._clock = clock
        self._random = random
        self._limits = limits
        self._moments: deque[float] = deque(maxlen=limits.max_failures)
        self._last: ConnectorError | None = None
        self._given_up_at = 0.0

    def note(self, failure: ConnectorError) -> None:
        self._last = failure
        self._moments.append(self._clock.monotonic())

    @property
    def recent(self) -> int:
        oldest = self._clock.monotonic() - self._limits.failure_window
        return sum(moment > oldest for moment in self._moments)

    def hopeless(self, failure: ConnectorError) -> bool:
        return failure.hopeless or self.recent >= self._limits.max_failures

    def pause(self) -> float:
        """Longer each time, and never quite the same, so that many servers do not start at one moment."""
        longest = min(self._limits.backoff_base * 2.0 ** max(self.recent - 1, 0), self._limits.backoff_cap)
        return longest * (0.5 + int.from_bytes(self._random(2), "big") / 0x1FFFE)

    def give_up(self) -> None:
        self._given_up_at = self._clock.monotonic()

    def another_try(self) -> None:
        """Raises why not, until it was left alone for long enough. Then one more failure leads straight back."""
        now = self._clock.monotonic()
        if now - self._given_up_at < self._limits.cool_down:
            raise self.why()
        self._moments.clear()
        self._moments.extend([now] * (self._limits.max_failures - 1))

    def why(self) -> ConnectorError:
        """What those are told who want to use a server that was given up."""
        name, last = self._connector, self._last
        if isinstance(last, ConnectorAuthExpired):
            return ConnectorAuthExpired(last.message, connector=name)
        left = max(0, self._limits.cool_down - (self._clock.monotonic() - self._given_up_at))
        message = f"{name} is not used for another {left:.0f} seconds, since it failed: {last.message if last else ''}"
        hopeless = last is not None and last.hopeless
        return ConnectorDegraded(message, connector=name, retry_after=None if hopeless else left)
