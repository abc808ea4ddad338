"""What inside a text could carry data out, or lead somebody somewhere. It sees through the usual disguises."""

import html
import ipaddress
import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Literal, NamedTuple

from gaby.safety.redaction.crypto import find_crypto
from gaby.safety.redaction.detection import recognise
from gaby.safety.redaction.handles import find_handles, find_schemes
from gaby.safety.redaction.hidden_text import find_hidden, find_unseen, readable
from gaby.safety.redaction.hosts import canonical_host
from gaby.safety.redaction.images import find_images
from gaby.safety.redaction.links import find_links
from gaby.safety.redaction.long_numbers import find_long_numbers
from gaby.safety.redaction.normalized_text import COMPATIBLE, INVISIBLE, SEPARATOR, NormalizedText, is_plain
from gaby.safety.redaction.spans import SECRET_KINDS, Kind, SpanCertainty
from gaby.safety.redaction.text_windows import EDGE, OVERLAP, WINDOW, windows

__all__ = ["Carrier", "CarrierKind", "find_carriers"]

CarrierKind = Literal[
    "link", "email", "iban", "card", "phone", "number", "handle", "host", "ip", "crypto", "secret", "image", "hidden"
]

_RECOGNISED: frozenset[Kind] = frozenset({"email", "iban", "card", "phone", "ip"})
_KINDS = _RECOGNISED | SECRET_KINDS

_ENTITY = re.compile(r"&(?:#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z]{2,31});?")
_MARKUP = re.compile(r"<[/!]?[a-zA-Z\-][^<>]{0,2000}>|\*{1,3}|_{2,3}|~~|`+|\\(?=[^\w\s\\])")
_NO_SIGNS = b"abcdefghijklmnopqrstuvwxyz0123456789 \n,"
_SPREAD_SHAPE = bytes(byte if chr(byte).isspace() else 97 for byte in range(128)).ljust(256, b"a")


_SCHEME = r"\1://"
_SPLIT_SCHEME = re.compile(r"http(?!s?://\S)")
_ESCAPED = re.compile(r"%(?:25){0,3}(2[d-f]|3[0-9a]|4[0-9a-f]|5[0-9a]|6[1-9a-f]|7[0-9a])", re.IGNORECASE)
# Not those that may go on a sentence: "e.g. in", "approx. one".
_APART_TOPS = ("com", "net", "org", "xyz", "zip", "icu", "biz", "io", "dev", "ru", "cn", "cyou", "sbs", "cfd")


class _Obfuscation(NamedTuple):
    signs: bytes
    """Without any of these characters in the text it is not there,"""
    marks: tuple[str, ...]
    """nor without any of these words, in lower case."""
    pattern: re.Pattern[str]
    undone: str


# In this order: what one undoes may be what another needs.
_DISGUISES = (
    _Obfuscation(
        b":",
        ("hxxp", "h**p", "htxp", "hxtp"),
        re.compile(r"\bh[x*t]{2}p(s?)(?=\s{0,3}:)", re.IGNORECASE),
        r"http\1",
    ),
    _Obfuscation(b"<*`\\_~", ("<", "*", "`", "\\", "__", "~~"), _MARKUP, ""),
    _Obfuscation(
        b"({[",
        ("dot", "punkt", "[.", "(.", "{.", "[ .", "( ."),
        re.compile(r" ?[\[({] ?(?:\.|dot|punkt) ?[\])}] ?", re.IGNORECASE),
        ".",
    ),
    _Obfuscation(b"", (" dot ",), re.compile(r" +dot +(?=[a-z]{2})", re.IGNORECASE), "."),
    _Obfuscation(
        b"()[]{}",
        ("at)", "at]", "at}", "@)", "@]", "at )", "at ]"),
        re.compile(r" ?[\[({] ?(?:@|at) ?[\])}] ?", re.IGNORECASE),
        "@",
    ),
    _Obfuscation(b"[(", ("[:", "[/", "(:", "(/"), re.compile(r"[\[({](:(?://)?|/{1,2})[\])}]"), r"\1"),
    _Obfuscation(
        b":",
        ("http",),
        re.compile(r"(https?)(?!://\S)\s{0,3}:\s{0,3}/\s{0,3}/\s{0,3}(?=\S)", re.IGNORECASE),
        _SCHEME,
    ),
    _Obfuscation(
        b".",
        (" .", "\n.", "\t.", *(f".{blank}{top}" for top in _APART_TOPS for blank in " \n")),
        re.compile(r"(?<=[\w\-])(?:\s{1,3}\.\s{0,3}(?=[a-zA-Z]{2})|\.\s{1,3}(?=(?:" + "|".join(_APART_TOPS) + r")\b))"),
        ".",
    ),
)
_SPREAD_OUT = re.compile(r"(?<!\S)(?:\S[ \t]){5,}\S(?!\S)")

_LONG_TEXT = 24
_LONG_BYTES = 48
_DEPTH = 2


class Carrier(NamedTuple):
    kind: CarrierKind
    value: str
    """One spelling for all: `https://` and host in lower case and punycode, numbers without separators."""
    start: int
    end: int


def find_carriers(text: str) -> list[Carrier]:
    """Every carrier, in order. What two ways of reading find twice is named once."""
    if len(text) <= WINDOW:
        return list(_find(text, _DEPTH))
    carriers: dict[tuple[str, str], Carrier] = {}
    for window in windows(text):
        for carrier in _find(text[window.start : window.end], _DEPTH):
            # What a cut goes through is seen whole by the window before or after, unless it is longer than both.
            is_cut = window.is_at_start(carrier.start) or window.is_at_end(carrier.end)
            if not is_cut or carrier.end - carrier.start > OVERLAP - 2 * EDGE:
                start, end = carrier.start + window.start, carrier.end + window.start
                carriers.setdefault((carrier.kind, carrier.value), carrier._replace(start=start, end=end))
    return _in_order(carriers.values())


# A reply is looked at when it is written, when it is decided on, and when it is sent. Few are kept, since what they
# hold is somebody's.
@lru_cache(maxsize=64)
def _find(text: str, depth: int) -> Sequence[Carrier]:
    carriers: dict[tuple[str, str], Carrier] = {}
    for reading in _readings(text):
        for carrier in _in_reading(reading, depth):
            start, end = reading.place(carrier.start, carrier.end)
            carriers.setdefault((carrier.kind, carrier.value), carrier._replace(start=start, end=end))
    for start, end, value in find_unseen(text):
        carriers.setdefault(("hidden", value), Carrier("hidden", value, start, end))
    return _in_order(carriers.values())


def _in_order(carriers: Iterable[Carrier]) -> list[Carrier]:
    return sorted(carriers, key=lambda carrier: (carrier.start, carrier.end, carrier.kind))


def _readings(text: str) -> Iterator[NormalizedText]:
    plain = NormalizedText(text) if is_plain(text) else NormalizedText(text).without(INVISIBLE).translated(COMPATIBLE)
    yield plain
    decoded = plain.sub(_ENTITY, lambda entity: html.unescape(entity[0])) if "&" in text else plain
    if decoded is not plain:
        yield decoded
    undisguised = _undisguised(decoded)
    if undisguised is not decoded:
        yield undisguised


def _undisguised(reading: NormalizedText) -> NormalizedText:
    if b" a a a a " in reading.text.encode("ascii", "replace").translate(_SPREAD_SHAPE):
        reading = reading.sub(_SPREAD_OUT, lambda match: "".join(match[0].split()))
    if "%" in reading.text:
        reading = reading.sub(_ESCAPED, lambda match: chr(int(match[1], 16)))
    low = reading.text.lower()
    signs = frozenset(low.encode("ascii", "replace").translate(None, _NO_SIGNS))
    for disguise in _DISGUISES:
        # Most texts with a link have it as it should be, and a pattern that ignores case is slow.
        if (disguise.signs and signs.isdisjoint(disguise.signs)) or (
            disguise.undone == _SCHEME and not _SPLIT_SCHEME.search(low)
        ):
            continue
        if any(mark in low for mark in disguise.marks):
            reading = _without(reading, disguise)
    return reading


def _without(reading: NormalizedText, disguise: _Obfuscation) -> NormalizedText:
    return reading.sub(disguise.pattern, lambda match: match.expand(disguise.undone))


def _in_reading(reading: NormalizedText, depth: int) -> Iterator[Carrier]:
    text = reading.text
    carriers = [*_with_form(text)]
    yield from carriers
    yield from _without_form(_masked(text, carriers))
    if depth:
        yield from _hidden(text, depth)


def _with_form(text: str) -> Iterator[Carrier]:
    """What shows by itself what it is."""
    images = [Carrier("image", value, start, end) for start, end, value in find_images(text)]
    yield from images
    for link in find_links(text, archives=False):
        if not any(image.start <= link.start < image.end for image in images):
            yield Carrier("host" if link.is_bare else "link", link.value, link.start, link.end)
    for span in recognise(text, _KINDS, at_least=SpanCertainty.LIKELY):
        value = text[span.start : span.end]
        if span.kind in SECRET_KINDS:
            yield Carrier("secret", value, span.start, span.end)
        else:
            yield Carrier(*_canonical(span.kind, value), span.start, span.end)
    yield from (Carrier("crypto", value, start, end) for start, end, value in find_crypto(text))


def _without_form(text: str) -> Iterator[Carrier]:
    """What somebody may call, pay to or open, although nothing tells which of them it is."""
    yield from (Carrier("link", value, start, end) for start, end, value in find_schemes(text))
    yield from (Carrier("handle", value, start, end) for start, end, value in find_handles(text))
    yield from (Carrier("number", value, start, end) for start, end, value in find_long_numbers(text))


def _masked(text: str, carriers: Iterable[Carrier]) -> str:
    """What is found already is not found once more as something less certain."""
    pieces: list[str] = []
    at = 0
    for _, _, start, end in sorted(carriers, key=lambda carrier: carrier.start):
        if end > at:
            pieces += (text[at:start], SEPARATOR * (end - max(at, start)))
            at = end
    return "".join((*pieces, text[at:]))


def _canonical(kind: Kind, text: str) -> tuple[CarrierKind, str]:
    match kind:
        case "email":
            local, _, domain = text.rpartition("@")
            return "email", f"{local.lower()}@{canonical_host(domain)}" if local else text.lower()
        case "ip":
            return "ip", str(ipaddress.ip_address(text))
        case "iban":
            return "iban", "".join(filter(str.isalnum, text)).upper()
        case "phone":
            digits = "".join(filter(str.isdigit, text))
            is_international = text.startswith("+") or digits.startswith("00")
            return "phone", f"+{digits.lstrip('0')}" if is_international else digits
        case _:
            return "card", "".join(filter(str.isdigit, text))


def _hidden(text: str, depth: int) -> Iterator[Carrier]:
    for start, end, raw in find_hidden(text):
        said = readable(raw)
        if said is None:
            if len(raw) >= _LONG_BYTES and _is_mixed(text[start:end]):
                yield Carrier("hidden", text[start:end], start, end)
        elif len(said) >= _LONG_TEXT or _find(said, depth - 1):
            yield Carrier("hidden", said, start, end)


def _is_mixed(text: str) -> bool:
    """No path and no long name: those have few capitals and digits, or many separators."""
    marks = sum(map(text.count, "/-_"))
    kinds = [any(map(test, text)) for test in (str.isupper, str.islower, str.isdigit)]
    return all(kinds) and marks * 16 <= len(text)
