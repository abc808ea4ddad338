"""Answers of a search, for as long as the corpus is what it was, and at most ten minutes."""

from collections import OrderedDict
from collections.abc import Hashable
from datetime import datetime, timedelta
from typing import Generic, TypeVar

from gaby.kernel.clock import Clock
from gaby.kernel.ids import WorkspaceId

T = TypeVar("T")

_LASTS = timedelta(minutes=10)
_MOST = 500


class SearchCache(Generic[T]):
    """A change of the corpus gives it another version, so an answer from before is never found again; and it is thrown
    away, since what was removed must not stay in memory either."""

    def __init__(self, clock: Clock, *, most: int = _MOST) -> None:
        self._clock = clock
        self._most = most
        self._kept: OrderedDict[tuple[WorkspaceId, Hashable], tuple[int, datetime, T]] = OrderedDict()

    def find(self, workspace_id: WorkspaceId, question: Hashable, version: int) -> T | None:
        self._forget_older(workspace_id, version)
        kept = self._kept.get((workspace_id, question))
        if kept is None or kept[1] <= self._clock.now():
            return None
        self._kept.move_to_end((workspace_id, question))
        return kept[2]

    def put(self, workspace_id: WorkspaceId, question: Hashable, version: int, answer: T) -> None:
        self._kept[workspace_id, question] = (version, self._clock.now() + _LASTS, answer)
        while len(self._kept) > self._most:
            self._kept.popitem(last=False)

    def _forget_older(self, workspace_id: WorkspaceId, version: int) -> None:
        old = [key for key, (of, _, _) in self._kept.items() if key[0] == workspace_id and of != version]
        for key in old:
            del self._kept[key]
