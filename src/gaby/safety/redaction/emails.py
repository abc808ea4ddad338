"""E-mail addresses, international ones too, and those written with (at)."""

import re
from collections.abc import Iterator

from gaby.safety.redaction.scanned_text import ScannedText
from gaby.safety.redaction.spans import SpanCertainty, TextSpan

_LOCAL_BACKWARDS = re.compile(r"[\w.!#$%&'*+/=?^`{|}~\-]{1,64}+")
_DOMAIN = re.compile(r"(?:[\w\-]{1,63}+\.){1,8}[\w\-]{2,63}")
_SPELLED_OUT = re.compile(
    r"(?<![\w.+\-])[\w.+\-]{1,64} ?[(\[] ?at[)\]] ?"
    r"(?:[\w\-]{1,63}(?:\.| ?[(\[] ?dot ?[)\]] ?| dot )){1,8}[a-zA-Z]{2,24}(?![\w\-])"
)
_MARKS = ("at)", "at]")
_WIDEST_NAME = 65
_USER = re.compile(r"://[^\s/@]*:\Z")
_LONGEST_TOP = 24


def find_emails(sight: ScannedText) -> Iterator[TextSpan]:
    at = sight.text.find("@")
    while at >= 0:
        start = _local_start(sight.text, at)
        if start < at and not _is_password(sight.text, start) and (end := domain_end(sight.text, at + 1)):
            yield TextSpan(start, end, "email", SpanCertainty.SURE)
        at = sight.text.find("@", at + 1)
    if any(mark in sight.low for mark in _MARKS):
        for match in _SPELLED_OUT.finditer(sight.low):
            yield TextSpan(match.start(), match.end(), "email", SpanCertainty.LIKELY)


def domain_end(text: str, start: int) -> int:
    """Where the domain name that begins at `start` ends, or 0 when there is none."""
    match = _DOMAIN.match(text, start)
    if match is None:
        return 0
    name = match[0].rstrip("-_")
    top = name.rpartition(".")[2]
    is_top = len(top) >= 2 and ((top.isalpha() and len(top) <= _LONGEST_TOP) or top.lower().startswith("xn--"))
    return start + len(name) if is_top else 0


def _is_password(text: str, start: int) -> bool:
    """`scheme://user:password@host` is no address of anybody."""
    return text[start - 1 : start] == ":" and _USER.search(text[max(0, start - _WIDEST_NAME) : start]) is not None


def _local_start(text: str, at: int) -> int:
    match = _LOCAL_BACKWARDS.match(text[max(0, at - _WIDEST_NAME) : at][::-1])
    if match is None:
        return at
    # Quotes and slashes around an address are rarely a part of it.
    local = match[0][::-1].lstrip(".'`/={}|*?&")
    for mark in "=/|?&":
        local = local.rpartition(mark)[2]
    return at - len(local)
