"""Counts the files of a source that are of kinds which are not read, and names some of them."""

from collections import Counter

from gaby.knowledge.parsers.kinds import unread_kind
from gaby.knowledge.sources.source import SkippedItems

_MOST_FILES = 20
_MOST_KINDS = 20
_LONGEST = 300


class SkippedFiles:
    def __init__(self) -> None:
        self._kinds: Counter[str] = Counter()
        self._files: list[str] = []

    def add(self, path: str) -> None:
        self._kinds[unread_kind(path)] += 1
        if len(self._files) < _MOST_FILES:
            self._files.append(path[:_LONGEST])

    def summary(self) -> SkippedItems:
        return SkippedItems(self._kinds.total(), dict(self._kinds.most_common(_MOST_KINDS)), sorted(self._files))
