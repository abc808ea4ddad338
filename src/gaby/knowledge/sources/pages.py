"""What a crawler needs to know of a page: where it links to, and whether it wants to be found."""

from dataclasses import dataclass

from gaby.knowledge.parsers.html_tokens import attributes, tokens
from gaby.knowledge.sources.urls import canonical

_MOST_LINKS = 2000


@dataclass(frozen=True)
class PageLinks:
    links: tuple[str, ...]
    """In their one spelling, each once. None of them when the page asks not to be followed."""
    index: bool
    """Whether it may be kept."""


def read_page_links(html: bytes, url: str, charset: str | None, robots_header: str = "") -> PageLinks:
    orders = _words(robots_header)
    base: str | None = None
    written: dict[str, None] = {}
    for token in tokens(html.decode(charset or "utf-8", "replace")):
        if token.name == "meta":
            said = attributes(token.value)
            if said.get("name", "").strip().lower() in {"robots", "gaby"}:
                orders |= _words(said.get("content", ""))
        elif token.name == "base" and base is None:
            base = canonical(attributes(token.value).get("href", ""), url)
        elif token.name == "a" and len(written) < _MOST_LINKS:
            said = attributes(token.value)
            if "href" in said and "nofollow" not in said.get("rel", "").lower().split():
                written[said["href"]] = None
    follows = orders.isdisjoint({"nofollow", "none"})
    links = (canonical(href, base or url) for href in written) if follows else ()
    return PageLinks(tuple(dict.fromkeys(filter(None, links))), orders.isdisjoint({"noindex", "none"}))


def _words(text: str) -> set[str]:
    return {part.strip().lower() for part in text.split(",")}
