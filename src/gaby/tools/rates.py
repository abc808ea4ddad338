"""How often each connector was used within the last minute, and who waits for its limit, in this process.

Each process counts for itself: with several workers a connector may be used so many times its limit.
"""

from collections import defaultdict, deque
from math import ceil
from typing import NamedTuple
from uuid import UUID

from gaby.kernel.clock import Clock
from gaby.kernel.ids import WorkspaceId
from gaby_connectors.sdk.manifest import Access

_WINDOW = 60.0
_KEPT_PLACE = 15.0
"""Seconds for which a place in the queue is kept after its time. Whoever does not come by then comes last."""


class RateKey(NamedTuple):
    workspace_id: WorkspaceId
    connector: str
    access: Access


class RateLimiter:
    """A sliding window with a queue: those who wait get the capacity that is freed in the order in which they came."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._uses: defaultdict[RateKey, deque[float]] = defaultdict(deque)
        self._queues: defaultdict[RateKey, dict[UUID, float]] = defaultdict(dict)
        """By call, when it was told to come back."""

    def last_minute(self, key: RateKey) -> int:
        return len(self._window(key))

    def seconds_until_free(self, key: RateKey, most: int, call: UUID) -> float:
        """Seconds until the call is within the limit; 0 if it is now. `most` is at least 1."""
        now, uses = self._clock.monotonic(), self._window(key)
        rounds, place = divmod(self._place(key, call), most)
        free = most - len(uses)
        wait = 0.0 if place < free else uses[place - free] + _WINDOW - now
        return wait + rounds * _WINDOW

    def take(self, key: RateKey, most: int, call: UUID) -> float:
        """Count the call if it is within the limit now, and return 0. Otherwise count nothing: the seconds to wait."""
        # There is no await between the look and the count, or calls side by side would pass the limit together.
        wait = self.seconds_until_free(key, most, call)
        if wait <= 0:
            self._queues[key].pop(call, None)
            self._uses[key].append(self._clock.monotonic())
        return wait

    def queue(self, key: RateKey, most: int, call: UUID, longest: float) -> float:
        """Keep a place for a call that comes back by itself, if it may wait so long. In how many seconds it is its
        turn."""
        wait = self.seconds_until_free(key, most, call)
        if ceil(wait) > longest:
            self._queues[key].pop(call, None)
        else:
            # A call that has a place keeps it: the order is that of the first entry.
            self._queues[key][call] = self._clock.monotonic() + wait
        return wait

    def _window(self, key: RateKey) -> deque[float]:
        uses, since = self._uses[key], self._clock.monotonic() - _WINDOW
        while uses and uses[0] <= since:
            uses.popleft()
        return uses

    def _place(self, key: RateKey, call: UUID) -> int:
        queue, gone = self._queues[key], self._clock.monotonic() - _KEPT_PLACE
        for late in [each for each, due in queue.items() if due < gone]:
            del queue[late]
        return list(queue).index(call) if call in queue else len(queue)
