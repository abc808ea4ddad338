"""Links and bare host names in a text, each in one spelling that can be compared with others."""

import re
from bisect import bisect_right
from collections.abc import Iterator
from itertools import accumulate
from typing import NamedTuple

from gaby.safety.redaction.hosts import canonical_host, is_host
from gaby.safety.redaction.normalized_text import lower

_SCHEME_BACKWARDS = re.compile(r"[\w+.\-]{1,16}")
_AFTER_SCHEME = re.compile(r":(?:[/\\]{1,3})")
_REST = re.compile(r"[^\s<>\"'`|\x1e]{1,2048}+")
_SCRIPT = re.compile(r"(?:javascript|vbscript|data):(?=\S)")
_DATA = re.compile(r"data:[a-z]{1,20}/[\w.+\-]{1,40}[;,]")
_SHARE = re.compile(r"\\\\(?<![\w:\\]\\\\)([\w.\-]{2,253}+)\\[\w$.\-]{1,100}+")
_TOP = re.compile(r"\.([^\W\d_]{2,24}+|xn--[a-z0-9\-]{2,59}+)(?![\w\-])(?!\.[^\W_])", re.IGNORECASE)
_NAME_BACKWARDS = re.compile(r"[\w\-.]{1,253}")
_PORT_AND_PATH = re.compile(r"(?::[0-9]{1,5}(?![0-9]))?(?:[/?#\\][^\s<>\"'`|\x1e]{0,2048}+)?")
_AUTHORITY = re.compile(r"[^/?#\\]*")
_PORT = re.compile(r"(.*?)(?::([0-9]{0,5}))?")
_USUAL_PORTS = {"http": "80", "https": "443", "ftp": "21", "ssh": "22"}
_LONGEST_NAME = 253


class LinkSpan(NamedTuple):
    start: int
    end: int
    value: str
    host: str
    is_bare: bool
    """Only a name: no scheme, no port, no path."""


def find_links(text: str, *, archives: bool = True) -> list[LinkSpan]:
    """`archives`: a name such as `backup.zip` is a file. Programs that show texts make a link of it all the same."""
    links = [*_with_scheme(text), *_scripts(text), *_shares(text)]
    spans = _LinkSpans(links)
    links += (link for link in _bare(text, archives=archives) if link.start not in spans)
    return links


class _LinkSpans:
    """The places inside of links, found in few steps however many links there are."""

    def __init__(self, links: list[LinkSpan]) -> None:
        spans = sorted((link.start, link.end) for link in links)
        self._starts = [start for start, _ in spans]
        self._ends = list(accumulate((end for _, end in spans), max))

    def __contains__(self, place: int) -> bool:
        before = bisect_right(self._starts, place)
        return before > 0 and place < self._ends[before - 1]


def canonical_link(scheme: str, rest: str) -> tuple[str, str]:
    """The link in one spelling, and its host. Who signs in with it is left out: it leads nowhere else."""
    scheme = scheme.lower()
    authority = _match(_AUTHORITY, rest)
    tail = rest[len(authority) :].replace("\\", "/")
    parts = _PORT.fullmatch(authority.rpartition("@")[2])
    name, port = (parts[1], parts[2]) if parts else (authority, None)
    host = canonical_host(name)
    shown = host if not port or port == _USUAL_PORTS.get(scheme) else f"{host}:{port}"
    return f"{scheme}://{shown}{'' if tail == '/' else tail}", host


def trimmed(text: str) -> str:
    """Without the punctuation of the sentence around it."""
    while text:
        last = text[-1]
        if last in ".,;:!?*_~" or (last in ")]}" and text.count(last) > text.count("([{"[")]}".index(last)])):
            text = text[:-1]
        else:
            break
    return text


def _with_scheme(text: str) -> Iterator[LinkSpan]:
    for match in _AFTER_SCHEME.finditer(text):
        scheme = _match(_SCHEME_BACKWARDS, text[max(0, match.start() - 16) : match.start()][::-1])[::-1].lstrip("+.-_")
        is_web = scheme.lower() in {"http", "https"}
        # One letter is a drive, and one slash leads somewhere only on the web.
        if len(scheme) < 2 or scheme.isdigit() or not (is_web or len(match[0]) > 2):
            continue
        rest = trimmed(_match(_REST, text, match.end()))
        if rest.strip("/\\"):
            value, host = canonical_link(scheme, rest.lstrip("/\\"))
            yield LinkSpan(match.start() - len(scheme), match.end() + len(rest), value, host, is_bare=False)


def _scripts(text: str) -> Iterator[LinkSpan]:
    low = lower(text)
    if "script:" not in low and "data:" not in low:
        return
    for match in _SCRIPT.finditer(low):
        if low[match.start()] != "d" or _DATA.match(low, match.start()):
            rest = _match(_REST, text, match.end())
            yield LinkSpan(match.start(), match.end() + len(rest), match[0] + rest, "", is_bare=False)


def _shares(text: str) -> Iterator[LinkSpan]:
    for match in _SHARE.finditer(text):
        host = canonical_host(match[1])
        value = f"file://{host}{text[match.end(1) : match.end()]}".replace("\\", "/")
        yield LinkSpan(match.start(), match.end(), value, host, is_bare=False)


def _bare(text: str, *, archives: bool) -> Iterator[LinkSpan]:
    for match in _TOP.finditer(text):
        before = text[max(0, match.start() - _LONGEST_NAME) : match.start()]
        name = _match(_NAME_BACKWARDS, before[::-1])[::-1].lstrip("-.")
        start = match.start() - len(name)
        if not name or text[start - 1 : start] == "@":
            continue
        full = name + match[0]
        after = trimmed(_match(_PORT_AND_PATH, text, match.end()))
        if is_host(full, more=after not in {"", "/"}, archives=archives):
            value, host = canonical_link("https", full + after)
            is_bare = after in {"", "/"}
            yield LinkSpan(start, match.end() + len(after), host if is_bare else value, host, is_bare)


def _match(pattern: re.Pattern[str], text: str, at: int = 0) -> str:
    match = pattern.match(text, at)
    return match[0] if match else ""
