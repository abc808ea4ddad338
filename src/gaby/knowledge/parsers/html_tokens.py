"""HTML as a stream of tags and texts, in linear time and without a tree.

Builders of HTML trees take a time that grows with the square of the depth, and mend open tags by copying them; a page
that is made for it brings them down. Reading needs the words in their order and little else.
"""

import re
from collections.abc import Iterator
from html import unescape
from typing import NamedTuple

_MARKUP = re.compile(r"<(?:(/?)([a-zA-Z][^\s/>]*)|(!--)|[!?/])")
_REST = re.compile(r"((?>[^>=]+|=\s*+(?:\"[^\"]*\"|'[^']*'|))*+)>")
_ATTRIBUTE = re.compile(r"([^\s=/\"'<>]+)(?:\s*+=\s*+(?:\"([^\"]*)\"|'([^']*)'|([^\s\"'>]+)))?")
_COMMENT_END = re.compile(r"-->|--!>")
_RAW = frozenset(("script", "style", "textarea", "title", "xmp", "iframe", "noembed", "noframes"))
_LONGEST_TAG = 100_000


class HtmlToken(NamedTuple):
    """A tag that opens has a name, one that closes has its name with a slash before it, and a text has none."""

    name: str
    value: str
    """The attributes as they are written, or the text."""


def tokens(page: str) -> Iterator[HtmlToken]:
    position = 0
    while (match := _MARKUP.search(page, position)) is not None:
        if match.start() > position:
            yield HtmlToken("", unescape(page[position : match.start()]))
        if match[3]:
            position = _comment_end(page, match.end())
            continue
        rest = _REST.match(page, match.end())
        if rest is None:
            return
        position = rest.end()
        if not match[2]:
            continue
        name = match[2].lower()
        yield HtmlToken(match[1] + name, rest[1])
        if not match[1] and name in _RAW:
            end = _raw_end(page, name, position)
            yield HtmlToken("", unescape(page[position:end]))
            position = end
    if position < len(page):
        yield HtmlToken("", unescape(page[position:]))


def attributes(written: str) -> dict[str, str]:
    """The first of each name counts, as in browsers."""
    result: dict[str, str] = {}
    for name, double, single, bare in _ATTRIBUTE.findall(written[:_LONGEST_TAG]):
        result.setdefault(name.lower(), unescape(double or single or bare))
    return result


def _comment_end(page: str, position: int) -> int:
    if page.startswith((">", "->"), position):
        return page.index(">", position) + 1
    end = _COMMENT_END.search(page, position)
    return end.end() if end else len(page)


def _raw_end(page: str, name: str, position: int) -> int:
    end = re.compile(rf"</{name}(?=[\s/>])", re.IGNORECASE).search(page, position)
    return end.start() if end else len(page)
