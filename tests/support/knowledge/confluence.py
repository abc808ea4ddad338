"""A Confluence on loopback that speaks both of its interfaces: Cloud's second version, and Data Center's first."""

from base64 import b64decode
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

import orjson

from tests.support.models.http_server import Exchange, HttpServer, Received

TOKEN = "conf-token"
EMAIL = "ada@company.example"


@dataclass
class WikiPage:
    id: str
    space: str
    title: str
    body: str = "<p>words</p>"
    version: int = 1
    status: str = "current"


class ScriptedConfluence:
    def __init__(self, *, at_once: int = 2) -> None:
        self.pages: dict[str, WikiPage] = {}
        self.archived_spaces: set[str] = set()
        self.at_once = at_once
        """However much is asked for, no more is given at a time, as the real one does under load."""
        self.gives_everything = False
        """Whether it gives pages of any status, whatever was asked for."""
        self.refusals: list[tuple[int, Mapping[str, str]]] = []
        """For the next requests, before any is answered."""
        self.asked: list[Received] = []
        self._server = HttpServer(self._answer)

    @property
    def url(self) -> str:
        return self._server.url

    def add(self, page: WikiPage) -> WikiPage:
        self.pages[page.id] = page
        return page

    def close(self) -> None:
        self._server.close()

    async def _answer(self, exchange: Exchange) -> None:
        received = exchange.received
        self.asked.append(received)
        if self.refusals:
            status, headers = self.refusals.pop(0)
            await exchange.send(status, headers, b"{}")
            return
        status, answer = self._reply(received) if _is_signed_in(received) else (401, {"message": "Unauthorized"})
        await exchange.send(status, {"Content-Type": "application/json"}, orjson.dumps(answer))

    def _reply(self, received: Received) -> tuple[int, Mapping[str, Any]]:
        parts = received.path.strip("/").split("/")
        match parts:
            case ["wiki", "api", "v2", "spaces"]:
                return self._part(received, [self._space(key) for key in self._keys()], by_cursor=True)
            case ["wiki", "api", "v2", "spaces", number, "pages"]:
                found = [self._cloud(page) for page in self._pages_in(self._keys()[int(number) - 1], received)]
                return self._part(received, found, by_cursor=True)
            case ["rest", "api", "space"]:
                return self._part(received, [self._space(key) for key in self._keys()], by_cursor=False)
            case ["rest", "api", "content"]:
                found = [self._server_page(page) for page in self._pages_in(received.query["spaceKey"], received)]
                return self._part(received, found, by_cursor=False)
            case ["wiki", "api", "v2", "pages", page] | ["rest", "api", "content", page]:
                return self._one(page)
            case _:
                return 404, {}

    def _keys(self) -> list[str]:
        return list(dict.fromkeys(page.space for page in self.pages.values()))

    def _pages_in(self, space: str, received: Received) -> list[WikiPage]:
        wanted = "any" if self.gives_everything else received.query.get("status", "any")
        return [page for page in self.pages.values() if page.space == space and wanted in {page.status, "any"}]

    def _space(self, key: str) -> dict[str, Any]:
        status = "archived" if key in self.archived_spaces else "current"
        return {"id": str(self._keys().index(key) + 1), "key": key, "name": key, "status": status}

    def _cloud(self, page: WikiPage) -> dict[str, Any]:
        links = {"webui": f"/spaces/{page.space}/pages/{page.id}"}
        version = {"number": page.version}
        return {"id": page.id, "status": page.status, "title": page.title, "version": version, "_links": links}

    def _server_page(self, page: WikiPage) -> dict[str, Any]:
        links = {"webui": f"/pages/viewpage.action?pageId={page.id}"}
        return {**self._cloud(page), "type": "page", "_links": links}

    def _one(self, page_id: str) -> tuple[int, Mapping[str, Any]]:
        page = self.pages.get(page_id)
        if page is None:
            return 404, {"message": "Not found"}
        return 200, {**self._cloud(page), "body": {"storage": {"value": page.body, "representation": "storage"}}}

    def _part(
        self, received: Received, found: Sequence[Mapping[str, Any]], *, by_cursor: bool
    ) -> tuple[int, Mapping[str, Any]]:
        start = int(received.query.get("cursor" if by_cursor else "start", "0"))
        end = start + min(self.at_once, int(received.query["limit"]))
        onward = {**received.query, "cursor" if by_cursor else "start": str(end)}
        links = {"next": f"{received.path}?{urlencode(onward)}"} if end < len(found) else {}
        return 200, {"results": found[start:end], "start": start, "size": len(found[start:end]), "_links": links}


def _is_signed_in(received: Received) -> bool:
    kind, _, value = received.headers.get("authorization", "").partition(" ")
    if kind == "Basic":
        return b64decode(value).decode() == f"{EMAIL}:{TOKEN}"
    return kind == "Bearer" and value == TOKEN


@contextmanager
def scripted_confluence() -> Generator[ScriptedConfluence]:
    confluence = ScriptedConfluence()
    try:
        yield confluence
    finally:
        confluence.close()
