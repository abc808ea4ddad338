"""Citation tokens: `doc:runbooks/mfa.md#Lock-outs/Unlock#L12-L30` for lines, `tool:directory.find_user#3` for results.

A token has no blanks and no square brackets, so that it can stand in brackets in any text and be found there again.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import unquote

LONGEST = 4000

_UNSAFE = re.compile(r"[\s#%\[\]`\"<>|\\\x00-\x1f\x7f]")
_LINES = re.compile(r"L([1-9][0-9]{0,8})(?:-L([1-9][0-9]{0,8}))?")
_CALL = re.compile(r"([a-z0-9_-]{1,80})\.([A-Za-z0-9_.-]{1,120})#([1-9][0-9]{0,8})")
_HEADING = 60
_NEAREST = 3
"""Headings that a token names. More would make it longer than what it cites."""


@dataclass(frozen=True)
class LineCitation:
    """Lines of a document."""

    source: str
    uri: str
    first: int
    last: int
    headings: tuple[str, ...] = ()
    """As the token names them: the nearest, cut short."""

    def __str__(self) -> str:
        named = "/".join(_spelled(_short(heading)).replace("/", "%2F") for heading in self.headings[-_NEAREST:])
        lines = f"L{self.first}" if self.first == self.last else f"L{self.first}-L{self.last}"
        return "#".join(part for part in (f"doc:{self.source}/{_spelled(self.uri)}", named, lines) if part)


@dataclass(frozen=True)
class CallCitation:
    """What a tool gave, by the number of the call in its run."""

    connector: str
    tool: str
    number: int

    def __str__(self) -> str:
        return f"tool:{self.connector}.{self.tool}#{self.number}"


Citation = LineCitation | CallCitation


def parse(token: str) -> Citation | None:
    """None when it is no token. Whether what it cites exists is another question."""
    kind, _, rest = token.partition(":")
    if len(token) > LONGEST:
        return None
    if kind == "tool" and (match := _CALL.fullmatch(rest)):
        return CallCitation(match[1], match[2], int(match[3]))
    return _document(rest) if kind == "doc" else None


def _document(rest: str) -> LineCitation | None:
    parts = rest.split("#")
    source, _, uri = unquote(parts[0]).partition("/")
    match = _LINES.fullmatch(parts[-1])
    if not source or not uri or "\0" in uri or match is None or len(parts) not in {2, 3}:
        return None
    first = int(match[1])
    last = int(match[2] or first)
    headings = parts[1].split("/") if len(parts) == 3 else ()
    return LineCitation(source, uri, first, last, _names(headings)) if first <= last else None


def _names(headings: Sequence[str]) -> tuple[str, ...]:
    return tuple(unquote(heading) for heading in headings)


def _short(heading: str) -> str:
    """With dashes for blanks, which read better than `%20`. Only the address must come back exactly."""
    return "-".join(heading.split())[:_HEADING].strip("-")


def _spelled(text: str) -> str:
    return _UNSAFE.sub(lambda match: "".join(f"%{byte:02X}" for byte in match[0].encode(errors="replace")), text)
