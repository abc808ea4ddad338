"""A single page of the web."""

from collections.abc import AsyncIterator, Mapping
from functools import partial

from gaby.knowledge.documents import RawDocument, Unreadable
from gaby.knowledge.sources.limits import Wanted
from gaby.knowledge.sources.source import BadSource, FailedItem, Listed, SourceItem, SourceTotal, SourceUnavailable
from gaby.knowledge.sources.urls import name_of, uri_of
from gaby.knowledge.sources.validators import conditions, fingerprint_of
from gaby.knowledge.sources.web_client import WebClient, WebRequest, WebResponse

GONE = frozenset({404, 410})
_NOT_READ = "It is of a kind that Gaby does not read"


class WebPageSource:
    def __init__(self, url: str, *, web: WebClient, wanted: Wanted) -> None:
        """`url` in its one spelling."""
        self._url = url
        self._web = web
        self._wanted = wanted

    async def list(self, known: Mapping[str, str], cursor: str | None) -> AsyncIterator[Listed]:
        uri = uri_of(self._url)
        try:
            item = await self._fetch_item(uri, known.get(uri))
        except Unreadable as error:
            item = FailedItem(uri, error.message)
        except BadSource as error:
            raise SourceUnavailable(error.message) from error
        yield SourceTotal(0 if item is None else 1)
        if item is not None:
            yield item

    async def close(self) -> None:
        await self._web.close()

    async def _fetch_item(self, uri: str, known: str | None) -> SourceItem | FailedItem | None:
        reply = await self._web.get(WebRequest(self._url, conditions(known), wanted=partial(is_wanted, self._wanted)))
        if reply.status == 304 and known is not None:
            return SourceItem(uri, known, partial(fetch_again, self._web, self._url, uri))
        if reply.status in GONE:
            return None
        if reply.status != 200:
            raise SourceUnavailable(f"{self._url} answers with status {reply.status}.")
        if reply.body is None:
            return FailedItem(uri, f"{_NOT_READ} ({reply.media_type or 'unknown'}).")
        return SourceItem(uri, fingerprint_of(reply), partial(give, brought(reply, uri)))


def is_wanted(wanted: Wanted, reply: WebResponse) -> bool:
    return wanted(name_of(reply.url), reply.media_type)


def brought(reply: WebResponse, uri: str) -> RawDocument:
    return RawDocument(uri, reply.body or b"", media_type=reply.media_type, charset=reply.charset, link=reply.url)


async def give(document: RawDocument) -> RawDocument:
    return document


async def fetch_again(web: WebClient, url: str, uri: str) -> RawDocument:
    """For a page that said nothing changed, and is wanted nevertheless."""
    try:
        reply = await web.get(WebRequest(url))
    except BadSource as error:
        raise Unreadable(error.message) from error
    if reply.status in GONE:
        raise Unreadable("It is no longer there.")
    if reply.body is None:
        raise SourceUnavailable(f"The page answers with status {reply.status}.")
    return brought(reply, uri)
