"""A breaker for each account: who failed too often is left alone for a while."""

from collections import deque
from collections.abc import Hashable

from gaby.kernel.clock import Clock

FAILURES = 3
WITHIN = 5 * 60.0
REST = 10 * 60.0


class Breakers:
    """More than three failures in five minutes open it for ten. Then one call may try; its success closes it."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._failures: dict[Hashable, deque[float]] = {}
        self._open_until: dict[Hashable, float] = {}

    def is_open(self, account: Hashable) -> bool:
        until = self._open_until.get(account)
        return until is not None and self._clock.monotonic() < until

    def rests_for(self, account: Hashable) -> float:
        """Seconds until it may be asked again."""
        return max(0.0, self._open_until.get(account, 0.0) - self._clock.monotonic())

    def succeeded(self, account: Hashable) -> None:
        self._failures.pop(account, None)
        self._open_until.pop(account, None)

    def failed(self, account: Hashable) -> bool:
        """Whether this failure opened it."""
        now = self._clock.monotonic()
        failures = self._failures.setdefault(account, deque(maxlen=FAILURES + 1))
        failures.append(now)
        recent = sum(now - moment <= WITHIN for moment in failures)
        # After its rest it is on trial: one more failure, and it rests again.
        on_trial = account in self._open_until and not self.is_open(account)
        if recent <= FAILURES and not on_trial:
            return False
        self._open_until[account] = now + REST
        return True
