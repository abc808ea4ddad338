"""Images and other things in a text that load from another machine by being looked at, and where they stand."""

import re
from collections.abc import Iterator

from gaby.safety.redaction.links import canonical_link, find_links

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
_SOURCE = re.compile(
    r"(?:\b(?:src|srcset|poster|background|data|href)\s{0,5}=\s{0,5}[\"']?|url\s{0,5}\(\s{0,5}[\"']?)([^\"'\s<>)]{1,2000})",
    re.IGNORECASE,
)


def find_images(text: str) -> Iterator[tuple[int, int, str]]:
    """Where something stands that loads by being looked at, and from where."""
    if "![" in text:
        definitions = _definitions(text)
        for match in _IMAGE.finditer(text):
            if address := remote(match[2]):
                yield *match.span(), address
        for match in _REFERENCE_IMAGE.finditer(text):
            target = definitions.get((match[2] or match[1]).strip().lower(), "")
            if address := remote(target):
                yield *match.span(), address
    if "<" in text:
        for match in _LOADING_TAG.finditer(text):
            for source in _SOURCE.finditer(match[0]):
                if address := remote(source[1]):
                    yield *match.span(), address


def remote(address: str) -> str | None:
    """The address in one spelling, when it leads to another machine."""
    if address.startswith(("//", "\\\\")):
        return canonical_link("https", address.lstrip("/\\"))[0]
    link = next((link for link in find_links(address) if link.start == 0), None)
    if link is None or link.value.startswith("data:"):
        return None
    return f"https://{link.host}" if link.is_bare else link.value


def _definitions(text: str) -> dict[str, str]:
    return {match[1].strip().lower(): match[2] for match in _DEFINITION.finditer(text)} if "]:" in text else {}
