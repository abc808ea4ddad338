"""Notion: every page that its integration was given."""

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any
from urllib.parse import quote, urlencode

from gaby.knowledge.documents import RawDocument, Unreadable
from gaby.knowledge.sources.api import ApiNotFound, JsonApiClient, entries, mapping, text
from gaby.knowledge.sources.generated_documents import as_markdown
from gaby.knowledge.sources.notion_blocks import NotionBlock, as_markdown_text, rich
from gaby.knowledge.sources.source import Listed, SourceItem, SourceTotal, SourceUnavailable

HEADERS = {"Notion-Version": "2022-06-28"}
_AT_ONCE = 100
_NOT_ENTERED = frozenset({"child_page", "child_database", "unsupported"})
_SETTLED = timedelta(minutes=2)
"""Notion tells the time of a change to the minute only."""


@dataclass(frozen=True)
class _NotionPage:
    id: str
    title: str
    properties: str
    link: str | None


class NotionSource:
    def __init__(
        self,
        *,
        api: JsonApiClient,
        base: str = "https://api.notion.com",
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
        max_pages: int = 50_000,
        max_blocks: int = 10_000,
        max_depth: int = 8,
    ) -> None:
        self._api = api
        self._base = base.rstrip("/")
        self._now = now
        self._max_pages = max_pages
        self._max_blocks = max_blocks
        self._max_depth = max_depth

    async def list(self, known: Mapping[str, str], cursor: str | None) -> AsyncIterator[Listed]:
        pages = await self._search()
        yield SourceTotal(len(pages))
        for page_id, entry in pages.items():
            properties = entry.get("properties")
            link = text(entry.get("url"))
            page = _NotionPage(
                page_id, _title(properties), _facts(properties), link if link.startswith("https://") else None
            )
            yield SourceItem(page_id.replace("-", ""), self._fingerprint(entry), partial(self._bring, page))

    async def close(self) -> None:
        await self._api.close()

    def _fingerprint(self, entry: Mapping[str, Any]) -> str:
        edited = text(entry.get("last_edited_time"))
        try:
            settled = self._now() - datetime.fromisoformat(edited) > _SETTLED
        except (ValueError, TypeError):
            settled = True
        # What was changed a moment ago may change again within that minute, so it is fetched once more.
        return edited if settled else f"{edited} or later"

    async def _search(self) -> Mapping[str, dict[str, Any]]:
        asked: dict[str, Any] = {"filter": {"property": "object", "value": "page"}, "page_size": _AT_ONCE}
        pages: dict[str, dict[str, Any]] = {}
        while True:
            try:
                answer = await self._api.post(f"{self._base}/v1/search", asked)
            except ApiNotFound:
                raise SourceUnavailable("There is no Notion at this address.") from None
            for entry in entries(answer.get("results")):
                gone = entry.get("archived") is True or entry.get("in_trash") is True
                if entry.get("object") == "page" and text(entry.get("id")) and not gone:
                    pages[text(entry.get("id"))] = entry
            if answer.get("has_more") is not True:
                return pages
            asked = {**asked, "start_cursor": _onward(answer, asked.get("start_cursor"))}
            if len(pages) > self._max_pages:
                raise SourceUnavailable(f"There are more than {self._max_pages} pages. Give the integration fewer.")

    async def _bring(self, page: _NotionPage) -> RawDocument:
        try:
            blocks = await self._blocks(page.id, self._max_depth, _RequestBudget(self._max_blocks))
        except ApiNotFound:
            raise Unreadable("It is no longer there.") from None
        words = page.properties + as_markdown_text(blocks)
        return as_markdown(page.id.replace("-", ""), words, title=page.title, link=page.link)

    async def _blocks(self, parent: str, depth: int, budget: "_RequestBudget") -> Sequence[NotionBlock]:
        """Deeper than the limit nothing is asked for."""
        notion_blocks: list[NotionBlock] = []
        for entry in await self._children(parent, budget):
            kind = text(entry.get("type"))
            enters = entry.get("has_children") is True and kind not in _NOT_ENTERED and depth > 1
            children = await self._blocks(text(entry.get("id")), depth - 1, budget) if enters else ()
            notion_blocks.append(NotionBlock(kind, mapping(entry.get(kind)), children))
        return notion_blocks

    async def _children(self, parent: str, budget: "_RequestBudget") -> Sequence[Mapping[str, Any]]:
        blocks: list[dict[str, Any]] = []
        onward: dict[str, str] = {}
        while True:
            query = urlencode({"page_size": _AT_ONCE, **onward})
            answer = await self._api.get(f"{self._base}/v1/blocks/{quote(parent, safe='')}/children?{query}")
            part = entries(answer.get("results"))
            budget.spend(len(part))
            blocks += part
            if answer.get("has_more") is not True:
                return blocks
            onward = {"start_cursor": _onward(answer, onward.get("start_cursor"))}


class _RequestBudget:
    def __init__(self, blocks: int) -> None:
        self._blocks = blocks
        self._left = blocks

    def spend(self, count: int) -> None:
        self._left -= count
        if self._left < 0:
            raise Unreadable(f"It has more than {self._blocks} blocks. Split it into several pages.")


def _onward(answer: Mapping[str, Any], before: object) -> str:
    following = text(answer.get("next_cursor"))
    if not following or following == before:
        raise SourceUnavailable("Notion does not say where its list goes on.")
    return following


def _title(properties: object) -> str:
    for value in _values(properties).values():
        if value.get("type") == "title":
            return " ".join(rich(value.get("title")).split())
    return ""


def _facts(properties: object) -> str:
    """Words in a database's columns belong to the page, since many keep their answers there."""
    facts = {
        name: rich(value.get("rich_text"))
        for name, value in _values(properties).items()
        if value.get("type") == "rich_text"
    }
    return "".join(f"**{name}**: {words}\n\n" for name, words in facts.items() if words.strip())


def _values(properties: object) -> dict[str, dict[str, Any]]:
    return {name: mapping(value) for name, value in mapping(properties).items()}
