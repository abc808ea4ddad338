"""Addresses in a network: IPv4, IPv6 and MAC. Version numbers and clock times have the same look and are left alone."""

import ipaddress
import re
from collections.abc import Iterator

from gaby.safety.redaction.scanned_text import ScannedText
from gaby.safety.redaction.spans import SpanCertainty, TextSpan

_DOTTED = re.compile(r"\.[0-9]{1,3}\.[0-9]{1,3}\.[0-9]")
_IPV4 = re.compile(r"(?<![\w.])(?:[0-9]{1,3}\.){3}[0-9]{1,3}(?![\w\-])(?!\.[0-9])")
_VERSION_BEFORE = re.compile(r"(?:\b(?:v|ver|version|release|build|firmware|revision|rev|update)[ .:=\"']{0,3}|\w/)\Z")
_COLONS = re.compile(r":(?:[0-9A-Fa-f]{1,4}:){3}")
_IPV6 = re.compile(r"(?<![\w:.])[0-9A-Fa-f]{0,4}:[0-9A-Fa-f]{0,4}:[0-9A-Fa-f:]{0,32}+(?:\.[0-9]{1,3}){0,3}+(?![\w:])")
_DASHED = re.compile(r"-(?:[0-9A-Fa-f]{2}-){3}")
_MAC = re.compile(r"(?<![\w:\-])[0-9A-Fa-f]{2}([:\-])(?:[0-9A-Fa-f]{2}\1){4}[0-9A-Fa-f]{2}(?![\w:\-])")
_HEX = re.compile(r"[0-9A-Fa-f]{4}")
_MAC_DOTTED = re.compile(r"\.[0-9A-Fa-f]{4}\.[0-9A-Fa-f]{4}(?![\w.])")


def find_networks(sight: ScannedText) -> Iterator[TextSpan]:
    if _DOTTED.search(sight.text):
        yield from _ipv4(sight)
    has_colons = _COLONS.search(sight.text) is not None
    if has_colons or "::" in sight.text:
        yield from _ipv6(sight)
    if has_colons or _DASHED.search(sight.text):
        for match in _MAC.finditer(sight.text):
            yield TextSpan(match.start(), match.end(), "mac", SpanCertainty.SURE)
    for match in _MAC_DOTTED.finditer(sight.text):
        start = match.start() - 4
        is_first = start >= 0 and sight.text[start - 1 : start] != "." and _HEX.match(sight.text, start)
        if is_first and sight.is_apart(start, match.end()):
            yield TextSpan(start, match.end(), "mac", SpanCertainty.LIKELY)


def _ipv4(sight: ScannedText) -> Iterator[TextSpan]:
    for match in _IPV4.finditer(sight.text):
        if _is_somebodys(match[0]) and not _VERSION_BEFORE.search(sight.before(match.start(), 12)):
            yield TextSpan(match.start(), match.end(), "ip", SpanCertainty.LIKELY)


def _ipv6(sight: ScannedText) -> Iterator[TextSpan]:
    for match in _IPV6.finditer(sight.text):
        # Without a digit it may be a name in a program: `abc::def`.
        if _is_somebodys(match[0]) and not set(match[0]).isdisjoint("0123456789"):
            yield TextSpan(match.start(), match.end(), "ip", SpanCertainty.SURE)


def _is_somebodys(text: str) -> bool:
    """The loopback and the unspecified address are everybody's."""
    try:
        address = ipaddress.ip_address(text)
    except ValueError:
        return False
    return not (address.is_loopback or address.is_unspecified)
