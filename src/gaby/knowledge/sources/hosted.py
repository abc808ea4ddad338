"""Plans for sources that are reached over the web."""

from urllib.parse import urlsplit

from gaby.knowledge.sources.api import Api
from gaby.knowledge.sources.config import SourceConfig, SourceGround
from gaby.knowledge.sources.confluence import Confluence, Flavour, sign_in
from gaby.knowledge.sources.crawl import Website
from gaby.knowledge.sources.fetching import Web
from gaby.knowledge.sources.globs import check_glob, chooses
from gaby.knowledge.sources.guard import Guard
from gaby.knowledge.sources.notion import HEADERS, Notion
from gaby.knowledge.sources.options import Options, Plan, no_secret, usable_secret
from gaby.knowledge.sources.source import BadSource, Source
from gaby.knowledge.sources.urls import web_address
from gaby.knowledge.sources.walk import Bounds
from gaby.knowledge.sources.web import SinglePage

_NOTION = "https://api.notion.com/"
_MOST_PAGES, _DEEPEST, _LONGEST_PAUSE = 10_000, 20, 60


def page(config: SourceConfig) -> Plan:
    Options(config.options, ())
    no_secret(config)
    url = web_address(config.location)
    return lambda ground: SinglePage(url, web=_web(ground), wanted=ground.wanted)


def site(config: SourceConfig) -> Plan:
    options = Options(config.options, ("max_pages", "max_depth", "pause", "sitemap", "exclude"))
    no_secret(config)
    start = web_address(config.location)
    pages = options.number("max_pages", 0, 1, _MOST_PAGES)
    depth = options.number("max_depth", -1, 0, _DEEPEST)
    pause = options.number("pause", -1, 0, _LONGEST_PAUSE)
    sitemap = options.yes("sitemap", default=True)
    chosen = chooses((), [check_glob(glob) for glob in options.names("exclude")])

    def make(ground: SourceGround) -> Source:
        bounds = Bounds(
            pages=int(pages) or ground.limits.pages,
            depth=int(depth) if depth >= 0 else ground.limits.depth,
            pause=pause if pause >= 0 else ground.limits.pause_seconds,
            sitemap=sitemap,
            chosen=chosen,
        )
        web = _web(ground)
        return Website(start, web=web, wanted=ground.wanted, cache=ground.cache, bounds=bounds, sleep=ground.sleep)

    return make


def confluence(config: SourceConfig) -> Plan:
    options = Options(config.options, ("spaces", "email", "flavour"))
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

    def make(ground: SourceGround) -> Source:
        api = Api(_web(ground), "Confluence", headers)
        return Confluence(base, api=api, flavour=flavour, spaces=spaces, max_pages=ground.limits.files)

    return make


def notion(config: SourceConfig) -> Plan:
    Options(config.options, ())
    base = web_address(config.location or _NOTION, example=_NOTION)
    headers = {**HEADERS, "Authorization": f"Bearer {usable_secret(config)}"}
    _encrypted(base)
    return lambda ground: Notion(api=Api(_web(ground), "Notion", headers), base=base, now=ground.now)


def _web(ground: SourceGround) -> Web:
    return Web(Guard(ground.allowed_networks, ground.resolve), ground.limits, sleep=ground.sleep)


def _flavour(host: str) -> str:
    return "cloud" if host.endswith(".atlassian.net") else "server"


def _email(options: Options) -> str:
    email = options.text("email")
    if ":" in email or not email.isprintable():
        raise BadSource("`email` must be the address of the account that the token is for.")
    return email


def _encrypted(base: str) -> None:
    """A token is sent in the clear to nobody but this machine."""
    parts = urlsplit(base)
    if parts.scheme != "https" and parts.hostname not in {"127.0.0.1", "localhost", "::1"}:
        raise BadSource("The address must begin with `https://`, since the token is sent to it.")
