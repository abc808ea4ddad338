"""A text as a reader takes it: look-alikes folded, the invisible gone, every place mapped to the original."""

import re
import unicodedata
from collections.abc import Callable
from typing import Self

SEPARATOR = "\x1e"
"""Stands between texts that are looked at together. Nothing that is found reaches across it."""

# Tab, line feed, vertical tab, form feed, carriage return and the separator stay.
_ASCII_CONTROLS = bytes([*range(9), *range(14, 30), 31, 127])

# What a reader does not see: controls, soft hyphens, zero-width and direction marks, variation selectors, tags,
# and combining marks (so that a keycap emoji reads as its digit).
INVISIBLE = re.compile(
    "[\x00-\x08\x0e-\x1d\x1f\x7f-\x84\x86-\x9f\u00ad\u0300-\u036f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f"
    "\u200b-\u200f\u202a-\u202e\u2060-\u206f\u20d0-\u20ff\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb"
    "\U000e0000-\U000e0fff]+"
)
_BEYOND_ASCII = re.compile("[^\x00-\x7f]+")

# Letters of other alphabets that look like a Latin one.
_LOOK_ALIKES = dict(
    zip(
        "абвгдеёзіјкмнорсԁһӏԛѕтухѵԝАВЕЗІЈКМНОРСԌТУХЅԚԜαβγηικνορτυχωΑΒΕΖΗΙΚΜΝΟΡΤΥΧ",
        "a6brgee3ijkmhopcdhlqstyxvwABE3IJKMHOPCGTYXSQWaBynikvoptuxwABEZHIKMNOPTYX",
        strict=True,
    )
)
_DASHES = "‐‑‒–—―−﹘﹣－⁃"
_DOTS = "。．｡․"
_MEMO_LIMIT = 20_000


class _Table(dict[int, str]):
    """One character for one character, worked out when first met."""

    def __init__(self, change: Callable[[str], str]) -> None:
        super().__init__()
        self._change = change

    def __missing__(self, code: int) -> str:
        changed = self._change(chr(code))
        # The table is shared and lives as long as the process, so a stranger's text must not make it grow for ever.
        if len(self) < _MEMO_LIMIT:
            self[code] = changed
        return changed


def _compatible(character: str) -> str:
    if character in _DASHES:
        return "-"
    if character in _DOTS:
        return "."
    if (digit := unicodedata.decimal(character, None)) is not None:
        return str(digit)
    if character.isspace():
        return " "
    plain = unicodedata.normalize("NFKC", character)
    return plain if len(plain) == 1 else character


def _folded(character: str) -> str:
    plain = _compatible(character)
    base = unicodedata.normalize("NFD", plain)[0]
    return _LOOK_ALIKES.get(base, base)


COMPATIBLE = _Table(_compatible)
"""Full-width forms, foreign digits, dashes and spaces as their plain selves."""
FOLDED = _Table(_folded)
"""The same, and letters without accents, look-alikes as the Latin letter they look like."""


class NormalizedText:
    """A text with, for each character, where its original begins and ends."""

    def __init__(self, text: str, starts: list[int] | None = None, ends: list[int] | None = None) -> None:
        self.text = text
        self._starts = starts
        self._ends = ends

    @property
    def changed(self) -> bool:
        return self._starts is not None

    def place(self, start: int, end: int) -> tuple[int, int]:
        """Where the original of `text[start:end]` stands."""
        if self._starts is None or self._ends is None:
            return start, end
        return self._starts[start], self._ends[end - 1]

    def sub(self, pattern: re.Pattern[str], replace: Callable[[re.Match[str]], str]) -> Self:
        """Every match replaced; what replaces it stands where the match stood."""
        pieces: list[str] = []
        starts: list[int] = []
        ends: list[int] = []
        before = 0
        for match in pattern.finditer(self.text):
            self._copy_range(before, match.start(), pieces, starts, ends)
            before = match.end()
            new = replace(match)
            start, end = self.place(match.start(), match.end())
            pieces.append(new)
            starts.extend([start] * len(new))
            ends.extend([end] * len(new))
        if before == 0:
            return self
        self._copy_range(before, len(self.text), pieces, starts, ends)
        return type(self)("".join(pieces), starts, ends)

    def without(self, pattern: re.Pattern[str]) -> Self:
        return self.sub(pattern, lambda _: "")

    def translated(self, table: dict[int, str]) -> Self:
        text = _BEYOND_ASCII.sub(lambda match: match[0].translate(table), self.text)
        return type(self)(text, self._starts, self._ends)

    def _copy_range(self, start: int, end: int, pieces: list[str], starts: list[int], ends: list[int]) -> None:
        pieces.append(self.text[start:end])
        starts.extend(range(start, end) if self._starts is None else self._starts[start:end])
        ends.extend(range(start + 1, end + 1) if self._ends is None else self._ends[start:end])


def is_plain(text: str) -> bool:
    """Nothing to fold: ASCII that a reader sees as it is."""
    return text.isascii() and len(text.encode().translate(None, _ASCII_CONTROLS)) == len(text)


def readings(text: str) -> list[NormalizedText]:
    """The ways to read a text when looking for personal data: usually one, two when something in it is invisible."""
    if is_plain(text):
        return [NormalizedText(text)]
    seen = NormalizedText(text).translated(FOLDED)
    bare = NormalizedText(text).without(INVISIBLE)
    return [seen, bare.translated(FOLDED)] if bare.changed else [seen]


def canonical(text: str) -> str:
    """The text in one spelling, so that the same value is known again. Look-alikes stay different."""
    return NormalizedText(text).without(INVISIBLE).translated(COMPATIBLE).text.lower()


def lower(text: str) -> str:
    """Lower case, character for character."""
    low = text.lower()
    if len(low) == len(text):
        return low
    return "".join(one if len(one) == 1 else character for character in text for one in (character.lower(),))
