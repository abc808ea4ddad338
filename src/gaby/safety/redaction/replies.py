"""Replies without remote images, and without links that show another address than they lead to."""

import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

from gaby.safety.redaction.links import Link, canonical_link, find_links

_IMAGE = re.compile(r"!\[([^\[\]]{0,500})\]\(\s{0,20}<?([^\s()<>]{0,2000}+(?:\([^\s()]{0,200}\)[^\s()<>]{0,2000}+)?)[^()]{0,300}\)")
_REFERENCE_IMAGE = re.compile(r"!\[([^\[\]]{0,500})\](?:\[([^\[\]]{0,500})\])?")
_DEFINITION = re.compile(r"^ {0,3}\[([^\[\]]{1,500})\]:[ \t]{0,20}<?([^\s<>]{1,2000})", re.MULTILINE)
_LOADING_TAG = re.compile(
    r"</?(?:img|image|picture|source|video|audio|track|iframe|frame|embed|object|param|script|style|link|svg|input|base|"
    r"meta|form|button)(?![\w\-])[^<>]{0,4000}>?"
    r"|<[a-z][^<>]{0,4000}(?:\b(?:src|srcset|poster|background|data|action|formaction)\s{0,5}=|url\s{0,5}\()[^<>]{0,4000}>?",
    re.IGNORECASE,
)
_ALT = re.compile(r"\balt\s{0,5}=\s{0,5}(?:\"([^\"]{0,500})\"|'([^']{0,500})')", re.IGNORECASE)
_SOURCE = re.compile(
    r"(?:\b(?:src|srcset|poster|background|data|href)\s{0,5}=\s{0,5}[\"']?|url\s{0,5}\(\s{0,5}[\"']?)([^\"'\s<>)]{1,2000})",
    re.IGNORECASE,
)
_LINK = re.compile(r"(?<!!)\[([^\[\]]{0,1000})\]\(\s{0,20}<?([^\s()<>]{0,2000}+(?:\([^\s()]{0,200}\)[^\s()<>]{0,2000}+)?)>?[^()]{0,300}\)")
_REFERENCE_LINK = re.compile(r"(?<!!)\[([^\[\]]{1,1000})\]\[([^\[\]]{0,500})\]")
_ANCHOR = re.compile(
    r"<a(?![\w\-])[^<>]{0,2000}?\bhref\s{0,5}=\s{0,5}[\"']?([^\"'\s<>]{0,2000})[^<>]{0,2000}>(.{0,2000}?)</a\s{0,5}>",
    re.IGNORECASE | re.DOTALL,
)
_PASSES = 10


class CleanedReply(NamedTuple):
    text: str
    images: tuple[str, ...]
    """The addresses of images that were taken out."""
    links: tuple[str, ...]
    """The real targets of links that showed another."""


def find_images(text: str) -> Iterator[tuple[int, int, str]]:
    """Where something stands that loads by being looked at, and from where."""
    if "![" in text:
        definitions = _definitions(text)
        for found in _IMAGE.finditer(text):
            if address := remote(found[2]):
                yield *found.span(), address
        for found in _REFERENCE_IMAGE.finditer(text):
            target = definitions.get((found[2] or found[1]).strip().lower(), "")
            if address := remote(target):
                yield *found.span(), address
    if "<" in text:
        for found in _LOADING_TAG.finditer(text):
            for source in _SOURCE.finditer(found[0]):
                if address := remote(source[1]):
                    yield *found.span(), address


def remote(address: str) -> str | None:
    """The address in one spelling, when it leads to another machine."""
    if address.startswith(("//", "\\\\")):
        return canonical_link("https", address.lstrip("/\\"))[0]
    link = next((link for link in find_links(address) if link.start == 0), None)
    if link is None or link.value.startswith("data:"):
        return None
    return f"https://{link.host}" if link.is_bare else link.value


def clean_reply(text: str) -> CleanedReply:
    """The reply with images as their alternative text, and with deceiving links as the address they lead to."""
    images: list[str] = []
    links: list[str] = []
    for _ in range(_PASSES):
        # Taking one out can put together another, so that it is done until nothing is left to do.
        cleaned = _without_deceit(_without_images(text, images), links)
        if cleaned == text:
            return CleanedReply(text, tuple(images), tuple(links))
        text = cleaned
    return CleanedReply(text.replace("![", "[").replace("<", "‹").replace("](", "] ("), tuple(images), tuple(links))
