"""Replies without remote images, and without links that show another address than they lead to."""

import html
import re
from collections.abc import Iterator
from typing import NamedTuple

from gaby.safety.redaction.links import canonical_link, find_links
from gaby.safety.redaction.reading import COMPATIBLE, INVISIBLE, Reading
from gaby.safety.redaction.recognise import recognise

_TARGET = r"\(\s{0,20}<?([^\s()<>]{0,2000}+(?:\([^\s()]{0,200}\)[^\s()<>]{0,2000}+)?)>?[^()]{0,300}\)"
_IMAGE = re.compile(rf"!\[([^\[\]]{{0,500}})\]{_TARGET}")
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
_LINK = re.compile(rf"(?<!!)\[([^\[\]]{{0,1000}})\]{_TARGET}")
_REFERENCE_LINK = re.compile(r"(?<!!)\[([^\[\]]{1,1000})\]\[([^\[\]]{0,500})\]")
_ANCHOR = re.compile(
    r"<a(?![\w\-])[^<>]{0,2000}?\bhref\s{0,5}=\s{0,5}[\"']?([^\"'\s<>]{0,2000})[^<>]{0,2000}>(.{0,2000}?)</a\s{0,5}>",
    re.IGNORECASE | re.DOTALL,
)
_MARKUP = re.compile(r"<[^<>]{0,2000}>|\*{1,3}|_{2,3}|~~|`+|\\(?=[^\w\s])")
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


def _without_images(text: str, images: list[str]) -> str:
    definitions = _definitions(text)

    def alternative(found: re.Match[str]) -> str:
        images.append(remote(found[2]) or found[2])
        return found[1]

    def alternative_of_reference(found: re.Match[str]) -> str:
        target = definitions.get((found[2] or found[1]).strip().lower())
        if target is None:
            return found[0]
        images.append(remote(target) or target)
        return found[1]

    def alternative_of_tag(found: re.Match[str]) -> str:
        images.extend(remote(source[1]) or source[1] for source in _SOURCE.finditer(found[0]))
        alt = _ALT.search(found[0])
        return (alt[1] or alt[2] or "") if alt else ""

    text = _IMAGE.sub(alternative, text)
    text = _REFERENCE_IMAGE.sub(alternative_of_reference, text)
    return _LOADING_TAG.sub(alternative_of_tag, text)


def _without_deceit(text: str, links: list[str]) -> str:
    definitions = _definitions(text)

    def honest(whole: str, shown: str, target: str | None) -> str:
        real = None if target is None else _real_target(shown, target)
        if real is None:
            return whole
        links.append(real)
        return shown if _runs(real) else real

    text = _LINK.sub(lambda found: honest(found[0], found[1], found[2]), text)
    text = _REFERENCE_LINK.sub(
        lambda found: honest(found[0], found[1], definitions.get((found[2] or found[1]).strip().lower())), text
    )
    return _ANCHOR.sub(lambda found: honest(found[0], found[2], found[1]), text)


def _real_target(shown: str, target: str) -> str | None:
    """Where a link leads, when what it shows is another address."""
    target = html.unescape(target)
    if _runs(target):
        return target
    text = Reading(html.unescape(shown)).without(INVISIBLE).translated(COMPATIBLE).without(_MARKUP).text
    if target.lower().startswith("mailto:"):
        real = target[7:].partition("?")[0]
        emails = {text[span.start : span.end].lower() for span in recognise(text, {"email"})}
        return real if (emails - {real.lower()} or find_links(text)) else None
    real = remote(target)
    if real is None:
        return None
    host = canonical_link("https", real.partition("://")[2])[1]
    honest = {real, host, real.partition("://")[2]}
    shown_links = [link.value for link in find_links(text)]
    others = [value for value in shown_links if value.removesuffix("/") not in honest and f"{value}/" not in honest]
    return real if others or recognise(text, {"email"}) else None


def _runs(address: str) -> bool:
    """It does something instead of leading somewhere."""
    return address.lower().startswith(("javascript:", "vbscript:", "data:"))


def _definitions(text: str) -> dict[str, str]:
    return {found[1].strip().lower(): found[2] for found in _DEFINITION.finditer(text)} if "]:" in text else {}
