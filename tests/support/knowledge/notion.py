"""A Notion on loopback: search, and the children of blocks, in parts."""

from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import orjson

from tests.support.models.http_server import Exchange, HttpServer, Received

TOKEN = "ntn_token"


def rich(words: str, *, code: bool = False, href: str | None = None) -> dict[str, Any]:
    return {"type": "text", "plain_text": words, "href": href, "annotations": {"bold": False, "code": code}}


def block(kind: str, words: str = "", *children: Mapping[str, Any], **more: Any) -> dict[str, Any]:
    """With its children in it, which the server gives only when asked for them."""
    return {"type": kind, kind: {"rich_text": [rich(words)] if words else [], **more}, "children": list(children)}


class ScriptedNotion:
    def __init__(self, *, at_once: int = 2) -> None:
        self.pages: dict[str, dict[str, Any]] = {}
        self.at_once = at_once
        self.refusals: list[tuple[int, Mapping[str, str]]] = []
        self.asked: list[Received] = []
        self._blocks: dict[str, list[dict[str, Any]]] = {}
        self._server = HttpServer(self._answer)

    @property
    def url(self) -> str:
        return self._server.url

    def add(self, number: int, title: str, *blocks: Mapping[str, Any], edited: str = "2029-12-31T10:00:00.000Z") -> str:
        page_id = f"{number:08d}-0000-4000-8000-000000000000"
        self.pages[page_id] = {
            "object": "page",
            "id": page_id,
            "archived": False,
            "in_trash": False,
            "last_edited_time": edited,
            "url": f"https://www.notion.so/{page_id}",
            "properties": {"Name": {"type": "title", "title": [rich(title)]}},
        }
        self._keep(page_id, blocks)
        return page_id

    def close(self) -> None:
        self._server.close()

    def _keep(self, parent: str, blocks: Sequence[Mapping[str, Any]]) -> None:
        made: list[dict[str, Any]] = []
        for number, each in enumerate(blocks):
            block_id = f"{parent}.{number}"
            children = each.get("children", [])
            plain = {name: value for name, value in each.items() if name != "children"}
            made.append({"object": "block", "id": block_id, "has_children": bool(children), **plain})
            self._keep(block_id, children)
        self._blocks[parent] = made

    async def _answer(self, exchange: Exchange) -> None:
        self.asked.append(exchange.received)
        if self.refusals:
            status, headers = self.refusals.pop(0)
            await exchange.send(status, headers, b"{}")
            return
        status, answer = self._reply(exchange.received)
        await exchange.send(status, {"Content-Type": "application/json"}, orjson.dumps(answer))

    def _reply(self, received: Received) -> tuple[int, Mapping[str, Any]]:
        if received.headers.get("authorization") != f"Bearer {TOKEN}":
            return 401, {"object": "error", "code": "unauthorized"}
        if "notion-version" not in received.headers:
            return 400, {"object": "error", "code": "missing_version"}
        match received.method, received.path.strip("/").split("/"):
            case "POST", ["v1", "search"]:
                return self._part(received.json, list(self.pages.values()))
            case "GET", ["v1", "blocks", parent, "children"] if parent in self._blocks:
                return self._part(received.query, self._blocks[parent])
            case _:
                return 404, {"object": "error", "code": "object_not_found"}

    def remove(self, page_id: str) -> None:
        del self.pages[page_id]
        del self._blocks[page_id]

    def _part(self, asked: Mapping[str, Any], found: Sequence[Any]) -> tuple[int, Mapping[str, Any]]:
        start = int(asked.get("start_cursor", "0"))
        end = start + min(self.at_once, int(asked["page_size"]))
        more = end < len(found)
        return 200, {
            "object": "list",
            "results": found[start:end],
            "has_more": more,
            "next_cursor": str(end) if more else None,
        }


@contextmanager
def scripted_notion() -> Generator[ScriptedNotion]:
    notion = ScriptedNotion()
    try:
        yield notion
    finally:
        notion.close()
