"""One crawl of a website: what each page turns out to be, and where it leads."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from gaby.knowledge.documents import Unreadable
from gaby.knowledge.sources.frontier import Frontier, FrontierEntry
from gaby.knowledge.sources.limits import Wanted
from gaby.knowledge.sources.link_cache import LinkCache
from gaby.knowledge.sources.pages import PageLinks, read_page_links
from gaby.knowledge.sources.robots import RobotsRules
from gaby.knowledge.sources.sitemap import is_index, locations, unpacked
from gaby.knowledge.sources.source import BadSource, FailedItem, Listed, SourceItem, SourceTotal, SourceUnavailable
from gaby.knowledge.sources.urls import SiteScope, canonical, name_of, origin_of, uri_of
from gaby.knowledge.sources.validators import conditions, fingerprint_of
from gaby.knowledge.sources.web import GONE, brought, fetch_again, give, is_wanted
from gaby.knowledge.sources.web_client import WebClient, WebRequest, WebResponse

_HTML = frozenset({"text/html", "application/xhtml+xml"})
_NEVER_READ = (".png", ".jpg", ".jpeg", ".gif", ".svg", ".webp", ".ico", ".css", ".js", ".woff2", ".mp4", ".zip", ".gz")
_FOR_NOW = frozenset({408, 425, 429})
_MOST_SITEMAPS = 10
_MOST_IN_A_ROW = 5
"""Failures after which the website as a whole is taken to be out of order."""


def _any(_: str) -> bool:
    return True


@dataclass(frozen=True)
class CrawlLimits:
    pages: int = 500
    depth: int = 6
    pause: float = 0.5
    sitemap: bool = True
    chosen: Callable[[str], bool] = _any
    """Which pages are visited, by their address inside the website."""


class RequestPacer:
    """Pauses between requests."""

    def __init__(self, web: WebClient, sleep: Callable[[float], Awaitable[None]], pause: float) -> None:
        self.web = web
        self._sleep = sleep
        self._pause = pause

    async def get(self, asked: WebRequest) -> WebResponse:
        if self._pause > 0:
            await self._sleep(self._pause)
        return await self.web.get(asked)


class CrawlSession:
    def __init__(
        self,
        site: SiteScope,
        robots: RobotsRules,
        polite: RequestPacer,
        memory: LinkCache,
        known: Mapping[str, str],
        bounds: CrawlLimits,
    ) -> None:
        self._site = site
        self._robots = robots
        self._polite = polite
        self._memory = memory
        self._known = known
        self._bounds = bounds
        self._troubled = False
        self._in_a_row = 0
        self.frontier = Frontier(site, max_pages=bounds.pages, max_depth=bounds.depth)

    async def begin(self) -> None:
        self.frontier.add(self._site.start, 0)
        if self._bounds.sitemap:
            await self._read_sitemaps()

    async def pages(self, wanted: Wanted) -> AsyncIterator[Listed]:
        expected = 0
        while (step := self._next()) is not None:
            listed = await self._visit(step, wanted)
            if self.frontier.expected != expected:
                expected = self.frontier.expected
                yield SourceTotal(expected)
            if listed is not None:
                yield replace(listed, cursor=self.frontier.cursor())
        if self.frontier.left_out is not None:
            reason = f"The website has more than {self._bounds.pages} pages. Raise `max_pages`, or start further down."
            yield FailedItem(uri_of(self.frontier.left_out), reason)

    def _next(self) -> FrontierEntry | None:
        step = self.frontier.next()
        if step is None and self._troubled and self.frontier.left_out is None:
            # A page that failed may have been the only way to others, and those are not gone for that.
            self._troubled = False
            for url in filter(None, map(self._site.url, self._known)):
                self.frontier.add(url, 1)
            step = self.frontier.next()
        return step

    async def _visit(self, step: FrontierEntry, wanted: Wanted) -> SourceItem | FailedItem | None:
        uri = uri_of(step.url)
        if not self._may_visit(step.url):
            return None
        fingerprint = self._known.get(uri)
        before = None if fingerprint is None else self._memory.links(uri, fingerprint)
        asked = WebRequest(
            step.url,
            conditions(fingerprint) if before is not None else {},
            wanted=partial(is_wanted, wanted),
            follows=self._may_visit,
        )
        try:
            reply = await self._polite.get(asked)
        except SourceUnavailable as error:
            return self._failed_for_now(step, error.message)
        except (BadSource, Unreadable) as error:
            return FailedItem(uri, error.message)
        if reply.status == 304 and fingerprint is not None and before is not None:
            return self._unchanged(step, fingerprint, before)
        return await self._changed(step, reply)

    def _may_visit(self, url: str) -> bool:
        if not self._site.contains(url) or name_of(url).lower().endswith(_NEVER_READ):
            return False
        return self._robots.allows(url[len(self._site.origin) :]) and self._bounds.chosen(uri_of(url))

    def _unchanged(self, step: FrontierEntry, fingerprint: str, links: Sequence[str]) -> SourceItem:
        uri = uri_of(step.url)
        self._in_a_row = 0
        self._follow(links, step.depth)
        self._memory.keep_as_it_was(uri)
        return SourceItem(uri, fingerprint, partial(fetch_again, self._polite.web, step.url, uri))

    async def _changed(self, step: FrontierEntry, reply: WebResponse) -> SourceItem | FailedItem | None:
        if reply.status >= 500 or reply.status in _FOR_NOW:
            return self._failed_for_now(step, f"It answers with status {reply.status}.")
        self._in_a_row = 0
        if reply.status == 200:
            return await self._page(step, reply)
        if reply.status in GONE or reply.status < 400:
            return None
        return FailedItem(uri_of(step.url), f"Its server does not give it to Gaby (status {reply.status}).")

    def _failed_for_now(self, step: FrontierEntry, reason: str) -> FailedItem:
        self._in_a_row += 1
        if step.depth == 0 or self._in_a_row >= _MOST_IN_A_ROW:
            raise SourceUnavailable(f"The website does not work at the moment. {reason}")
        self._troubled = True
        uri = uri_of(step.url)
        self._follow(self._memory.links(uri) or (), step.depth)
        self._memory.keep_as_it_was(uri)
        return FailedItem(uri, reason, passing=True)

    async def _page(self, step: FrontierEntry, reply: WebResponse) -> SourceItem | None:
        if reply.body is None or not self.frontier.moved(step.url, reply.url):
            return None
        uri = uri_of(reply.url)
        links = await asyncio.to_thread(_links_of, reply)
        self._follow(links.links, step.depth)
        if not links.index:
            return None
        fingerprint = fingerprint_of(reply)
        self._memory.put(uri, fingerprint, links.links)
        return SourceItem(uri, fingerprint, partial(give, brought(reply, uri)))

    def _follow(self, links: Sequence[str], depth: int) -> None:
        for link in links:
            self.frontier.add(link, depth + 1)

    async def _read_sitemaps(self) -> None:
        waiting = list(self._robots.sitemaps) or [f"{self._site.origin}/sitemap.xml"]
        for read, address in enumerate(waiting):
            url = canonical(address, self._site.origin)
            if read >= _MOST_SITEMAPS:
                break
            if url is None or origin_of(url) != self._site.origin:
                continue
            text = await self._sitemap(url)
            if is_index(text):
                waiting.extend(locations(text)[:_MOST_SITEMAPS])
            else:
                pages = filter(None, map(canonical, locations(text)))
                self._follow(tuple(pages), 0)

    async def _sitemap(self, url: str) -> str:
        """Empty when there is none."""
        try:
            reply = await self._polite.get(WebRequest(url, follows=self._site.contains))
        except SourceUnavailable:
            self._troubled = True
            return ""
        except (BadSource, Unreadable):
            return ""
        self._troubled |= reply.status >= 500
        return "" if reply.body is None else await asyncio.to_thread(unpacked, reply.body)


def _links_of(reply: WebResponse) -> PageLinks:
    orders = reply.headers.get("x-robots-tag", "")
    is_page = reply.media_type in _HTML
    return read_page_links((reply.body or b"") if is_page else b"", reply.url, reply.charset, orders)
