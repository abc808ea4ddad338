"""What a crawl has still to visit: bounded, each page once, and small enough to be written down."""

import hashlib
from collections import Counter, deque
from dataclasses import dataclass
from typing import Any, cast
from urllib.parse import urlsplit

import orjson

from gaby.knowledge.sources.urls import SiteScope

_MOST_QUERIES = 30
"""Of one path: a calendar has a page for every month there ever was."""
_MOST_REPEATS = 3
"""Of one name in a path: `/a/a/a/a` comes of a wrong relative link."""
_LONGEST_CURSOR = 64_000
_DIGEST = 8


@dataclass(frozen=True)
class FrontierEntry:
    url: str
    depth: int


class Frontier:
    def __init__(self, site: SiteScope, *, max_pages: int, max_depth: int) -> None:
        self._site = site
        self._max_pages = max_pages
        self._max_depth = max_depth
        self._queue: deque[FrontierEntry] = deque()
        self._seen: dict[str, None] = {}
        self._queries: Counter[str] = Counter()
        self.visited = 0
        self.left_out: str | None = None
        """The first page that was beyond the limit."""

    @property
    def expected(self) -> int:
        return min(self.visited + len(self._queue), self._max_pages)

    def add(self, url: str, depth: int) -> None:
        if depth > self._max_depth or not self._site.contains(url) or _is_trap(url):
            return
        path, _, query = url.partition("?")
        if query:
            self._queries[path] += 1
            if self._queries[path] > _MOST_QUERIES:
                return
        if self.claim(url):
            self._queue.append(FrontierEntry(url, depth))

    def claim(self, url: str) -> bool:
        """Whether nobody was there or is on the way there."""
        key = _key(url)
        if key in self._seen:
            return False
        self._seen[key] = None
        return True

    def moved(self, asked: str, url: str) -> bool:
        """Whether a page that was redirected is at a place of its own."""
        return _key(asked) == _key(url) or self.claim(url)

    def next(self) -> FrontierEntry | None:
        if not self._queue:
            return None
        if self.visited >= self._max_pages:
            self.left_out = self._queue[0].url
            return None
        self.visited += 1
        return self._queue.popleft()

    def cursor(self) -> str | None:
        """None when it would be too long, which begins anew."""
        waiting = [(step.url[len(self._site.origin) :], step.depth) for step in self._queue]
        size = len(self._seen) * _DIGEST + sum(len(path) + 8 for path, _ in waiting)
        if size > _LONGEST_CURSOR:
            return None
        state = {"visited": self.visited, "origin": self._site.origin, "seen": "".join(self._seen), "queue": waiting}
        return orjson.dumps(state).decode()

    def resume(self, cursor: str) -> bool:
        """Whether the cursor could be used. One of another site, or of another version, cannot."""
        try:
            state = cast("dict[str, Any]", orjson.loads(cursor))
            if state["origin"] != self._site.origin:
                return False
            seen = str(state["seen"])
            steps = [FrontierEntry(f"{self._site.origin}{path}", int(depth)) for path, depth in state["queue"]]
            visited = int(state["visited"])
        except (ValueError, KeyError, TypeError):
            return False
        self.visited = visited
        self._queue.extend(step for step in steps if self._site.contains(step.url))
        self._seen.update(dict.fromkeys(seen[at : at + _DIGEST] for at in range(0, len(seen), _DIGEST)))
        return True


def _key(url: str) -> str:
    """`/docs` and `/docs/` are one page."""
    path, _, query = url.partition("?")
    return hashlib.sha256(f"{path.rstrip('/')}?{query}".encode()).hexdigest()[:_DIGEST]


def _is_trap(url: str) -> bool:
    names = Counter(part for part in urlsplit(url).path.split("/") if part)
    return any(count > _MOST_REPEATS for count in names.values())
