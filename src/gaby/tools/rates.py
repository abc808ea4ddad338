"""How often each connector was used within the last minute, in this process."""

from collections import defaultdict, deque
from datetime import datetime, timedelta
from typing import NamedTuple

from gaby.kernel.clock import Clock
from gaby.kernel.ids import WorkspaceId
from gaby_connectors.sdk.manifest import Lane

_WINDOW = timedelta(minutes=1)


class RateKey(NamedTuple):
    workspace_id: WorkspaceId
    connector: str
    lane: Lane


class Rates:
    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._moments: defaultdict[RateKey, deque[datetime]] = defaultdict(deque)

    def used(self, key: RateKey) -> None:
        self._moments[key].append(self._clock.now())

    def last_minute(self, key: RateKey) -> int:
        moments = self._moments[key]
        since = self._clock.now() - _WINDOW
        while moments and moments[0] <= since:
            moments.popleft()
        return len(moments)
