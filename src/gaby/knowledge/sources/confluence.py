"""Confluence, Cloud and Data Center: every current page of the spaces that are named, or of all."""

from base64 import b64encode
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal
from urllib.parse import parse_qs, quote, urlencode, urlsplit

from gaby.knowledge.documents import RawDocument, Unreadable
from gaby.knowledge.sources.api import ApiNotFound, JsonApiClient, entries, text, within
from gaby.knowledge.sources.confluence_storage import as_html
from gaby.knowledge.sources.source import Listed, SourceItem, SourceTotal, SourceUnavailable

Flavour = Literal["cloud", "server"]
_AT_ONCE = {"cloud": 250, "server": 100}


@dataclass(frozen=True)
class _Space:
    key: str
    id: str


@dataclass(frozen=True)
class _ConfluencePage:
    uri: str
    id: str
    title: str
    version: str
    link: str | None


def sign_in(email: str, token: str) -> Mapping[str, str]:
    """With an e-mail address as Cloud wants it; a token alone, as Data Center does."""
    if email:
        return {"Authorization": f"Basic {b64encode(f'{email}:{token}'.encode()).decode()}"}
    return {"Authorization": f"Bearer {token}"}


class ConfluenceSource:
    def __init__(
        self, base: str, *, api: JsonApiClient, flavour: Flavour, spaces: Sequence[str] = (), max_pages: int = 200_000
    ) -> None:
        """`base` is where its pages begin, such as `https://company.atlassian.net/wiki`."""
        self._base = base.rstrip("/")
        self._api = api
        self._flavour = flavour
        self._spaces = spaces
        self._max_pages = max_pages

    async def list(self, known: Mapping[str, str], cursor: str | None) -> AsyncIterator[Listed]:
        try:
            pages = [page for space in await self._find_spaces() for page in await self._pages(space)]
        except ApiNotFound:
            raise SourceUnavailable("There is no Confluence at this address, or not for this token.") from None
        by_uri = {page.uri: page for page in pages}
        yield SourceTotal(len(by_uri))
        for page in by_uri.values():
            yield SourceItem(page.uri, page.version, partial(self._bring, page))

    async def close(self) -> None:
        await self._api.close()

    async def _find_spaces(self) -> Sequence[_Space]:
        path = "/api/v2/spaces" if self._flavour == "cloud" else "/rest/api/space"
        spaces = [
            _Space(text(each.get("key")), _id(each))
            for each in await self._all(path, {"status": "current"})
            if each.get("status", "current") == "current"
        ]
        missing = set(self._spaces) - {space.key for space in spaces}
        if missing:
            raise SourceUnavailable(f"There is no space {', '.join(sorted(missing))}, or the token may not see it.")
        return [space for space in spaces if not self._spaces or space.key in self._spaces]

    async def _pages(self, space: _Space) -> Sequence[_ConfluencePage]:
        if self._flavour == "cloud":
            listed = await self._all(f"/api/v2/spaces/{quote(space.id, safe='')}/pages", {"status": "current"})
        else:
            query = {"spaceKey": space.key, "type": "page", "status": "current", "expand": "version"}
            listed = await self._all("/rest/api/content", query)
        return [self._page(space, each) for each in listed if each.get("status", "current") == "current" and _id(each)]

    def _page(self, space: _Space, entry: Mapping[str, Any]) -> _ConfluencePage:
        place = text(within(entry, "_links", "webui"))
        link = f"{self._base}{place}" if place.startswith("/") else None
        version = str(within(entry, "version", "number") or "")
        page_id = _id(entry)
        return _ConfluencePage(f"{space.key}/{page_id}", page_id, text(entry.get("title")), version, link)

    async def _all(self, path: str, query: Mapping[str, str]) -> Sequence[Mapping[str, Any]]:
        """Every entry of a list that comes in parts."""
        most = _AT_ONCE[self._flavour]
        results: list[dict[str, Any]] = []
        onward: dict[str, str] = {}
        while True:
            answer = await self._api.get(f"{self._base}{path}?{urlencode({**query, 'limit': most, **onward})}")
            part = entries(answer.get("results"))
            results += part
            following = text(within(answer, "_links", "next"))
            if not following:
                return results
            onward = self._onward(following, len(results), onward)
            if not part or len(results) > self._max_pages:
                raise SourceUnavailable("Confluence's list of pages does not end. Name fewer spaces with `spaces`.")

    def _onward(self, following: str, so_far: int, before: Mapping[str, str]) -> dict[str, str]:
        """Only where to go on is taken of the address it gives, so that it cannot lead elsewhere."""
        if self._flavour == "server":
            return {"start": str(so_far)}
        place = parse_qs(urlsplit(following).query).get("cursor", [""])[0]
        if not place or place == before.get("cursor"):
            raise SourceUnavailable("Confluence does not say where its list goes on.")
        return {"cursor": place}

    async def _bring(self, page: _ConfluencePage) -> RawDocument:
        place = quote(page.id, safe="")
        url = (
            f"{self._base}/api/v2/pages/{place}?body-format=storage"
            if self._flavour == "cloud"
            else f"{self._base}/rest/api/content/{place}?expand=body.storage"
        )
        try:
            answer = await self._api.get(url)
        except ApiNotFound:
            raise Unreadable("It is no longer there.") from None
        if answer.get("status", "current") != "current":
            raise Unreadable("It was archived or deleted.")
        html = as_html(text(within(answer, "body", "storage", "value")))
        title = text(answer.get("title")) or page.title
        return RawDocument(
            page.uri, html.encode(), media_type="text/html", charset="utf-8", title=title, link=page.link
        )


def _id(entry: Mapping[str, Any]) -> str:
    """A number in one version of the interface and a text in the other."""
    return str(entry.get("id") or "")
