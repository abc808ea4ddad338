"""What leads somewhere without naming a host: links with any scheme (`magnet:?xt=`, `skype:name`), and `@names`."""

import re
from collections.abc import Iterator

from gaby.safety.redaction.links import trimmed

_COLON = re.compile(r":(?=[^\s:;,.!)\]}>\"'`|*_\x1e])")
_SCHEME_BACKWARDS = re.compile(r"[\w+.\-]{2,33}+")
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.\-]{1,31}")
_LONGEST_SCHEME = 33
_REST = re.compile(r"[^\s<>\"'`|\x1e]{1,2048}+")
# A port or a line; the endings of German nouns that mean everybody; the rest of a hardware address.
_NO_LINK = re.compile(
    r":(?:[0-9]{1,5}(?![\w.\-/])|(?:in|innen|r|n|e|s)(?!\w)|[0-9a-fA-F]{2}(?::[0-9a-fA-F]{2}){0,5}(?!\w))"
)
_CITATIONS = frozenset({"doc", "tool"})
"""How Gaby names its sources. No program opens them."""
_HANDLE = re.compile(r"@(?<![\w@]@)[^\W\d][\w.\-]{2,63}+")


def find_schemes(text: str) -> Iterator[tuple[int, int, str]]:
    """Any scheme that a program may open: a word, a colon, and no blank after it."""
    end_of_last = 0
    for colon in _COLON.finditer(text):
        at = colon.start()
        if at < end_of_last:
            continue
        before = text[max(0, at - _LONGEST_SCHEME) : at]
        match = _SCHEME_BACKWARDS.match(before[::-1])
        scheme = match[0][::-1].lstrip("+.-_").lower() if match else ""
        if not _SCHEME.fullmatch(scheme) or scheme in _CITATIONS or _NO_LINK.match(text, at):
            continue
        rest = _REST.match(text, at + 1)
        target = trimmed(rest[0]) if rest else ""
        if target:
            end_of_last = at + 1 + len(target)
            yield at - len(scheme), end_of_last, f"{scheme}:{target}"


def find_handles(text: str) -> Iterator[tuple[int, int, str]]:
    for match in _HANDLE.finditer(text):
        name = match[0].rstrip(".-_")
        yield match.start(), match.start() + len(name), name.lower()
