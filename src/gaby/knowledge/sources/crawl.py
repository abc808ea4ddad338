"""The pages of a website, from link to link: one host, bounded, polite, and as its robots.txt asks."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from functools import partial
from pathlib import Path

from gaby.knowledge.documents import Unreadable
from gaby.knowledge.sources.crawl_session import CrawlLimits, CrawlSession, RequestPacer
from gaby.knowledge.sources.limits import Wanted
from gaby.knowledge.sources.link_cache import LinkCache
from gaby.knowledge.sources.robots import RobotsRules, read_robots
from gaby.knowledge.sources.source import BadSource, Listed, SourceUnavailable
from gaby.knowledge.sources.urls import SiteScope, origin_of
from gaby.knowledge.sources.web_client import REDIRECTS, WebClient, WebRequest, WebResponse

_LONGEST_DELAY = 10.0
_ROBOTS_READ = 500_000


class WebsiteSource:
    def __init__(
        self,
        start: str,
        *,
        web: WebClient,
        wanted: Wanted,
        cache: Path,
        bounds: CrawlLimits | None = None,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        """`start` in its one spelling."""
        self._start = start
        self._web = web
        self._wanted = wanted
        self._bounds = bounds or CrawlLimits()
        self._sleep = sleep
        self._memory = LinkCache(cache, start)

    async def list(self, known: Mapping[str, str], cursor: str | None) -> AsyncIterator[Listed]:
        await self._memory.load()
        try:
            site = await self._arrive()
            robots = await self._robots(site)
        except (BadSource, Unreadable) as error:
            raise SourceUnavailable(error.message) from error
        pause = max(self._bounds.pause, min(robots.delay or 0.0, _LONGEST_DELAY))
        crawl = CrawlSession(
            site, robots, RequestPacer(self._web, self._sleep, pause), self._memory, known, self._bounds
        )
        if cursor is None or not crawl.frontier.resume(cursor):
            await crawl.begin()
        async for listed in crawl.pages(self._wanted):
            yield listed
        await self._memory.save()

    async def close(self) -> None:
        await self._web.close()

    async def _arrive(self) -> SiteScope:
        """The start page must be there; it may lead to https, to `www.`, or further down, and nowhere else."""
        meant = SiteScope.around(self._start)
        reply = await self._web.get(
            WebRequest(self._start, wanted=_nothing, follows=partial(_is_same_host, meant.origin))
        )
        if reply.status in REDIRECTS:
            raise SourceUnavailable("The start page leads to another website. If that is meant, give its address.")
        if reply.status != 200:
            raise SourceUnavailable(f"The start page answers with status {reply.status}.")
        site = SiteScope(reply.url, origin_of(reply.url), meant.prefix)
        if not site.contains(reply.url):
            raise SourceUnavailable(f"The start page leads to {reply.url}, which is not below it. Give that address.")
        return site

    async def _robots(self, site: SiteScope) -> RobotsRules:
        reply = await self._web.get(WebRequest(f"{site.origin}/robots.txt"))
        if reply.body is not None:
            robots = read_robots(reply.body[:_ROBOTS_READ].decode("utf-8", "replace"))
            if not robots.allows(site.start[len(site.origin) :]):
                raise SourceUnavailable("The website's robots.txt does not allow its start page to be read.")
            return robots
        if 400 <= reply.status < 500 and reply.status != 429:
            return RobotsRules()
        raise SourceUnavailable(f"The website's robots.txt answers with status {reply.status}, so nothing is read now.")


def _nothing(_: WebResponse) -> bool:
    return False


def _is_same_host(origin: str, url: str) -> bool:
    return _host(origin_of(url)) == _host(origin)


def _host(origin: str) -> str:
    return origin.partition("://")[2].removeprefix("www.")
