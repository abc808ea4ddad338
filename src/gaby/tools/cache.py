"""The result cache: reading the same thing twice within a minute asks the system once. Changes are never cached."""

from collections import OrderedDict
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from gaby.kernel.clock import Clock
from gaby.kernel.ids import WorkspaceId
from gaby.mcp import ToolCallResult
from gaby.safety import canonical_json


class CacheKey(NamedTuple):
    workspace_id: WorkspaceId
    connector: str
    tool: str
    fingerprint: str
    arguments: str


def cache_key(
    workspace_id: WorkspaceId, connector: str, tool: str, fingerprint: str, arguments: Mapping[str, Any]
) -> CacheKey:
    return CacheKey(workspace_id, connector, tool, fingerprint, canonical_json(arguments))


class ResultCache:
    """In this process, the least recently used first to go."""

    def __init__(self, clock: Clock, *, keep: timedelta = timedelta(seconds=60), most: int = 1000) -> None:
        self._clock = clock
        self._keep = keep
        self._most = most
        self._answers: OrderedDict[CacheKey, tuple[datetime, ToolCallResult]] = OrderedDict()

    def get(self, key: CacheKey) -> ToolCallResult | None:
        cached = self._answers.get(key)
        if cached is None:
            return None
        kept_at, answer = cached
        if self._clock.now() - kept_at >= self._keep:
            del self._answers[key]
            return None
        self._answers.move_to_end(key)
        return answer

    def put(self, key: CacheKey, answer: ToolCallResult) -> None:
        self._answers[key] = (self._clock.now(), answer)
        self._answers.move_to_end(key)
        while len(self._answers) > self._most:
            self._answers.popitem(last=False)

    def forget(self, workspace_id: WorkspaceId, connector: str) -> None:
        """After a change nothing that was read from there before is taken for true."""
        for key in [k for k in self._answers if k.workspace_id == workspace_id and k.connector == connector]:
            del self._answers[key]
