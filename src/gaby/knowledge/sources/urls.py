"""Addresses of pages: one spelling for each, and whether one belongs to a website."""

from dataclasses import dataclass
from urllib.parse import parse_qsl, unquote, urlencode, urljoin, urlsplit

import httpx2

from gaby.knowledge.sources.source import BadSource

_LONGEST = 1000
_LAST_PORT = 65_535


def web_address(text: str, *, example: str = "https://help.company.example/") -> str:
    """What an operator gave, in its one spelling."""
    address = canonical(text)
    if address is None:
        raise BadSource(f"This is no address of a page. Give one such as `{example}`, without a password in it.")
    return address


def canonical(link: str, base: str = "") -> str | None:
    """Whole, without its fragment, its query sorted. None when it is no address of a page."""
    try:
        joined = urljoin(base, link.strip())
        url = httpx2.URL(joined)
        if url.scheme not in {"http", "https"} or not url.host or url.userinfo or (url.port or 1) > _LAST_PORT:
            return None
        path, _, query = url.raw_path.decode("ascii").partition("?")
        pairs = sorted(parse_qsl(query, keep_blank_values=True, max_num_fields=40))
    except (ValueError, httpx2.InvalidURL):
        return None
    while "//" in path:
        path = path.replace("//", "/")
    asked = f"?{urlencode(pairs)}" if pairs else ""
    whole = f"{origin_of(str(url))}{path}{asked}"
    return whole if len(whole) <= _LONGEST else None


def origin_of(url: str) -> str:
    parts = httpx2.URL(url)
    return f"{parts.scheme}://{parts.netloc.decode('ascii')}"


def uri_of(url: str) -> str:
    """Its address inside its website: `docs/start?page=2`, or `/` for the front page."""
    return url[len(origin_of(url)) :].lstrip("/") or "/"


def name_of(url: str) -> str:
    """What its file would be called; a page that ends with a slash has no name."""
    return unquote(urlsplit(url).path.rpartition("/")[2])


@dataclass(frozen=True)
class SiteScope:
    """The part of a website that is meant: one host, and what lies below a path."""

    start: str
    origin: str
    prefix: str

    @classmethod
    def around(cls, start: str) -> "SiteScope":
        """`/docs/index.html` means what is below `/docs/`; `/docs` means that page and what is below it."""
        path = urlsplit(start).path
        folder, _, name = path.rpartition("/")
        return cls(start, origin_of(start), f"{folder}/" if "." in name or not name else path)

    def contains(self, url: str) -> bool:
        if origin_of(url) != self.origin:
            return False
        path = urlsplit(url).path
        return path.startswith(self.prefix if self.prefix.endswith("/") else f"{self.prefix}/") or (
            path.rstrip("/") == self.prefix.rstrip("/")
        )

    def url(self, uri: str) -> str | None:
        address = canonical(f"{self.origin}/{uri.lstrip('/')}")
        return address if address is not None and self.contains(address) else None
