"""Slows down guessing: after too many failures for one address or account, further tries wait."""

from collections import OrderedDict, deque
from datetime import datetime, timedelta

from gaby.identity.errors import TooManySignIns
from gaby.kernel.clock import Clock

FAILURES = 10
WINDOW = timedelta(minutes=15)
_REMEMBERED = 10_000


class Throttle:
    """Counts in this process only, and forgets the oldest names first, so that an attacker cannot fill memory."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._failures: OrderedDict[str, deque[datetime]] = OrderedDict()

    def check(self, *names: str) -> None:
        now = self._clock.now()
        for name in names:
            recent = self._recent(name, now)
            if len(recent) >= FAILURES:
                raise TooManySignIns(retry_after=max(1, int((recent[0] + WINDOW - now).total_seconds())))

    def failed(self, *names: str) -> None:
        now = self._clock.now()
        for name in names:
            recent = self._recent(name, now)
            recent.append(now)
            self._failures[name] = recent
            self._failures.move_to_end(name)
        while len(self._failures) > _REMEMBERED:
            self._failures.popitem(last=False)

    def succeeded(self, *names: str) -> None:
        for name in names:
            self._failures.pop(name, None)

    def _recent(self, name: str, now: datetime) -> deque[datetime]:
        return deque((at for at in self._failures.get(name, ()) if now - at < WINDOW), maxlen=FAILURES)
