"""Plans for sources that are reached over the web."""

from urllib.parse import urlsplit

from gaby.knowledge.sources.api import JsonApiClient
from gaby.knowledge.sources.config import SourceConfig, SourceDependencies
from gaby.knowledge.sources.confluence import ConfluenceSource, Flavour, sign_in
from gaby.knowledge.sources.crawl import WebsiteSource
from gaby.knowledge.sources.crawl_session import CrawlLimits
from gaby.knowledge.sources.globs import check_glob, chooses
from gaby.knowledge.sources.guard import AddressGuard
from gaby.knowledge.sources.notion import HEADERS, NotionSource
from gaby.knowledge.sources.options import Plan, SourceOptions, no_secret, usable_secret
from gaby.knowledge.sources.source import BadSource, DocumentSource
from gaby.knowledge.sources.urls import web_address
from gaby.knowledge.sources.web import WebPageSource
from gaby.knowledge.sources.web_client import WebClient

_NOTION = "https://api.notion.com/"
_MOST_PAGES, _DEEPEST, _LONGEST_PAUSE = 10_000, 20, 60


def page(config: SourceConfig) -> Plan:
    SourceOptions(config.options, ())
    no_secret(config)
    url = web_address(config.location)
    return lambda dependencies: WebPageSource(url, web=_web(dependencies), wanted=dependencies.wanted)


def site(config: SourceConfig) -> Plan:
    options = SourceOptions(config.options, ("max_pages", "max_depth", "pause", "sitemap", "exclude"))
    no_secret(config)
    start = web_address(config.location)
    pages = options.number("max_pages", 0, 1, _MOST_PAGES)
    depth = options.number("max_depth", -1, 0, _DEEPEST)
    pause = options.number("pause", -1, 0, _LONGEST_PAUSE)
    sitemap = options.yes("sitemap", default=True)
    chosen = chooses((), [check_glob(glob) for glob in options.names("exclude")])

    def make(dependencies: SourceDependencies) -> DocumentSource:
        bounds = CrawlLimits(
            pages=int(pages) or dependencies.limits.pages,
            depth=int(depth) if depth >= 0 else dependencies.limits.depth,
            pause=pause if pause >= 0 else dependencies.limits.pause_seconds,
            sitemap=sitemap,
            chosen=chosen,
        )
        web = _web(dependencies)
        return WebsiteSource(
            start,
            web=web,
            wanted=dependencies.wanted,
            cache=dependencies.cache,
            bounds=bounds,
            sleep=dependencies.sleep,
        )

    return make


def confluence(config: SourceConfig) -> Plan:
    options = SourceOptions(config.options, ("spaces", "email", "flavour"))
    base = web_address(config.location, example="https://company.atlassian.net/wiki").rstrip("/")
    headers = sign_in(_email(options), usable_secret(config))
    spaces = options.names("spaces")
    host = urlsplit(base).hostname or ""
    flavour: Flavour = (
        "cloud" if (options.one_of("flavour", "cloud", "server") or _flavour(host)) == "cloud" else "server"
    )
    if host.endswith(".atlassian.net") and not urlsplit(base).path:
        base = f"{base}/wiki"
    _encrypted(base)

    def make(dependencies: SourceDependencies) -> DocumentSource:
        api = JsonApiClient(_web(dependencies), "Confluence", headers)
        return ConfluenceSource(base, api=api, flavour=flavour, spaces=spaces, max_pages=dependencies.limits.files)

    return make


def notion(config: SourceConfig) -> Plan:
    SourceOptions(config.options, ())
    base = web_address(config.location or _NOTION, example=_NOTION)
    headers = {**HEADERS, "Authorization": f"Bearer {usable_secret(config)}"}
    _encrypted(base)
    return lambda dependencies: NotionSource(
        api=JsonApiClient(_web(dependencies), "Notion", headers), base=base, now=dependencies.now
    )


def _web(dependencies: SourceDependencies) -> WebClient:
    return WebClient(
        AddressGuard(dependencies.allowed_networks, dependencies.resolve), dependencies.limits, sleep=dependencies.sleep
    )


def _flavour(host: str) -> str:
    return "cloud" if host.endswith(".atlassian.net") else "server"


def _email(options: SourceOptions) -> str:
    email = options.text("email")
    if ":" in email or not email.isprintable():
        raise BadSource("`email` must be the address of the account that the token is for.")
    return email


def _encrypted(base: str) -> None:
    """A token is sent in the clear to nobody but this machine."""
    parts = urlsplit(base)
    if parts.scheme != "https" and parts.hostname not in {"127.0.0.1", "localhost", "::1"}:
        raise BadSource("The address must begin with `https://`, since the token is sent to it.")
