"""Reads sitemaps without an XML parser, so that nothing in them is ever expanded or fetched."""

import re
import zlib
from html import unescape

_LOCATION = re.compile(r"<(?:[\w-]{1,20}:)?loc>([^<]{1,2000})<", re.IGNORECASE)
_CDATA = re.compile(r"<!\[CDATA\[([^<\]]{0,2000})\]\]>")
_MOST = 50_000
_MOST_BYTES = 20_000_000


def is_index(text: str) -> bool:
    """Whether it names other sitemaps rather than pages."""
    return "<sitemapindex" in text[:5000].lower()


def locations(text: str) -> list[str]:
    urls: list[str] = []
    for match in _LOCATION.finditer(_CDATA.sub(r"\1", text)):
        urls.append(unescape(match[1]).strip())
        if len(urls) >= _MOST:
            break
    return urls


def unpacked(data: bytes) -> str:
    """As text; one that is itself a gzip file is unpacked as far as a sitemap may go."""
    if data.startswith(b"\x1f\x8b"):
        try:
            data = zlib.decompressobj(zlib.MAX_WBITS | 16).decompress(data, _MOST_BYTES)
        except zlib.error:
            return ""
    return data.decode("utf-8", "replace")
