"""Asks GitHub's interface, and keeps to its limits."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from gaby.tickets.adapters.adapter import DeskDependencies, DeskUnavailable
from gaby.tickets.adapters.github.config import GitHubConfig
from gaby.tickets.adapters.payload import entries, mapping
from gaby.tickets.adapters.web import DeskRequest, DeskResponse, Method, checked_json, pause, same_origin, send

SERVICE = "GitHub"
_HEADERS = {"Accept": "application/vnd.github+json", "X-GitHub-Api-Version": "2022-11-28", "User-Agent": "gaby"}
_NEXT = re.compile(r"<([^<>]{1,2000})>\s*;[^,<]{0,200}\brel=\"?next\b")
_MOST_PAGES = 30
_MOST_TAGS = 100
_SECONDARY = 60.0
"""What GitHub asks to wait when it does not say how long."""
_GONE = frozenset({404, 410})
_LIMITED = frozenset({403, 429})


class GitHubNotFound(Exception):
    """GitHub has no such thing, or hides it from this token."""


@dataclass(frozen=True)
class ListPage:
    entries: list[dict[str, Any]]
    key: str
    tag: str = ""
    unchanged: bool = False


class GitHubClient:
    def __init__(self, config: GitHubConfig, dependencies: DeskDependencies) -> None:
        self._base = config.api_url
        self._dependencies = dependencies
        self._authorization = f"Bearer {config.token.get_secret_value()}"
        self._tags: dict[str, str] = {}

    async def get(self, path: str) -> dict[str, Any]:
        return mapping(self._read(await self._send(self._ask("GET", path)), self._ask("GET", path)))

    async def page(self, path: str, query: Mapping[str, str], known: str) -> ListPage:
        """One page. When one was kept that nothing was new in, for somebody who knew the same, and it has not changed,
        asking costs nothing of the limit."""
        ask = self._ask("GET", path, query=query)
        key = f"{path} {sorted(query.items())} {known}"
        headers = {"If-None-Match": self._tags[key]} if key in self._tags else {}
        answer = await self._send(replace(ask, headers=headers))
        if answer.status == 304:
            return ListPage([], key, unchanged=True)
        return ListPage(entries(self._read(answer, ask)), key, answer.headers.get("etag", "")[:200])

    def remember(self, listing: ListPage) -> None:
        """Only for a page that nothing was new in: of another one nobody knows whether it will be stored."""
        if listing.tag:
            self._tags[listing.key] = listing.tag
            for old in list(self._tags)[:-_MOST_TAGS]:
                del self._tags[old]

    async def all_of(self, path: str) -> list[dict[str, Any]]:
        """Every entry of a list, along the links that GitHub gives, as far as three thousand."""
        ask = self._ask("GET", path, query={"per_page": "100"})
        items: list[dict[str, Any]] = []
        for _ in range(_MOST_PAGES):
            answer = await self._send(ask)
            items += entries(self._read(answer, ask))
            onward = _NEXT.search(answer.headers.get("link", "")[:5000])
            # The token goes with the request, so a link to another place is not followed.
            if onward is None or not same_origin(onward[1], self._base):
                break
            ask = DeskRequest("GET", onward[1])
        return items

    async def change(
        self, method: Method, path: str, body: object = None, *, repeatable: bool = False
    ) -> dict[str, Any]:
        ask = self._ask(method, path, json=body, repeatable=repeatable)
        return mapping(self._read(await self._send(ask), ask))

    def _ask(self, method: Method, path: str, **more: Any) -> DeskRequest:
        return DeskRequest(method, f"{self._base}/{path}", **more)

    async def _send(self, ask: DeskRequest) -> DeskResponse:
        headers = {**_HEADERS, "Authorization": self._authorization, **ask.headers}
        return await send(self._dependencies.http, replace(ask, headers=headers), SERVICE)

    def _read(self, answer: DeskResponse, ask: DeskRequest) -> object:
        if answer.status in _GONE:
            raise GitHubNotFound
        if answer.status in _LIMITED and (wait := self._pause(answer)) is not None:
            raise DeskUnavailable("GitHub's limit of requests is reached.", retry_after=wait)
        return checked_json(answer, ask, SERVICE, now=self._dependencies.clock.now())

    def _pause(self, answer: DeskResponse) -> float | None:
        """None when this is a refusal and no limit: GitHub says 403 for both."""
        now = self._dependencies.clock.now()
        seconds = pause(answer, now)
        if seconds is not None:
            return seconds
        reset = answer.headers.get("x-ratelimit-reset", "")
        if answer.headers.get("x-ratelimit-remaining") == "0" and reset.isascii() and reset.isdigit():
            return min(max(int(reset[:12]) - now.timestamp(), 1.0), 86_400.0)
        limited = answer.status == 429 or b"rate limit" in answer.body[:2000].lower()
        return _SECONDARY if limited else None
