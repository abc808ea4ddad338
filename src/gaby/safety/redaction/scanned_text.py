"""A text prepared for looking: its shape, and the numbers in it, so that plain text costs next to nothing.

The shape of a text has one byte for each character: `0` for a digit, `a` for a letter, a blank for the rest. A pattern
that begins with one certain byte is much faster than one that begins with a class of characters, and in most texts no
place has the shape of an account number.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

from gaby.safety.redaction.normalized_text import SEPARATOR, lower

_DIGITS = b"0123456789"
_LETTERS = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_"
_TOKEN_MARKS = b"-.+/=~"
_BETWEEN_DIGITS = b" -./()"
_BETWEEN_GROUPS = b" -./()_,\n\r\t"


def _classes(classes: dict[str, bytes]) -> bytes:
    table = bytearray(b" " * 256)
    for name, members in classes.items():
        for member in members:
            table[member] = ord(name)
    return bytes(table)


_WORDS = _classes({"0": _DIGITS, "a": _LETTERS})
_TOKENS = _classes({"a": _DIGITS + _LETTERS + _TOKEN_MARKS})
_NUMBERS = _classes({"0": _DIGITS, "s": _BETWEEN_DIGITS})
_GROUPS = _classes({"0": _DIGITS, "s": _BETWEEN_GROUPS})

_WORD = re.compile(r"[^\W_]+")
_NOT_A_WORD = bytes(byte if byte < 128 and chr(byte).isalnum() else 32 for byte in range(256))
_RUN = re.compile(rb"0(?:s{0,3}0){6,}+")
_LONG_RUN = re.compile(rb"0(?:s{0,3}0){11,}+")
_DATE = re.compile(
    r"(?:19|20)[0-9]{2}([-/.])[0-9]{1,2}\1[0-9]{1,2}(?![0-9])|[0-9]{1,2}([-/.])[0-9]{1,2}\2(?:19|20)[0-9]{2}(?![0-9])"
)
_UUID = re.compile(r"[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}(?![0-9a-zA-Z])")
_UUID_LENGTH = 36
_NOT_DIGITS = {ord(character): None for character in " -./()"}
_LONG = 16
_SHORTEST_RUN = 7
_MOST_SPELLED = 76
_LONGEST_NUMBER = 48
_BEGINNING = re.compile(r"[0-9](?:(?<![^ (][0-9]))")
_LETTERS_FIRST = (
    re.compile(rb"a00(?:(?<= aa00)|(?<= aaaaaa00)(?=a00a000a )|(?<= aaaaa00)(?=00a )|(?<= aaaa00)(?=0000aaaaaa))"),
    re.compile(rb" a0000000a(?= )"),
    re.compile(rb" a 0000000 ?a(?= )"),
    re.compile(rb"a 00(?<= aa 00)(?= ?00 ?00 ?a )"),
)
_NUMBER = re.compile(rb" 0++")


def words_of(low: str) -> list[str]:
    # Bytes are three times faster than the pattern, and right as long as there are only ASCII letters.
    if low.isascii():
        return low.encode().translate(_NOT_A_WORD).decode().split()
    return _WORD.findall(low)


def long_tokens(text: str) -> Iterator[tuple[int, int]]:
    """Unbroken stretches of sixteen or more characters that a key could have."""
    shape = b"%b " % text.encode("ascii", "replace").translate(_TOKENS)
    at = shape.find(b"a" * _LONG)
    while at >= 0:
        end = shape.find(b" ", at)
        yield at, end
        at = shape.find(b"a" * _LONG, end)


class DigitRun(NamedTuple):
    """Digits that could be one number: at most three separators between two of them."""

    start: int
    text: str
    digits: str

    @property
    def end(self) -> int:
        return self.start + len(self.text)

    def parts(self) -> Iterator["DigitRun"]:
        """The run from each place where a number can begin: its start, and after every blank in it."""
        for match in _BEGINNING.finditer(self.text):
            at = match.start()
            # No single number is longer, and all of the rest for each of them would be too much to look at.
            text = self.text[at : at + _LONGEST_NUMBER]
            digits = text.translate(_NOT_DIGITS)
            if len(digits) >= _SHORTEST_RUN:
                yield DigitRun(self.start + at, text, digits)


def _is_number(shape: bytes) -> bool:
    """Somebody may write a number digit by digit. Many more single digits than any number has are a list."""
    return len(shape) <= _MOST_SPELLED or b"00" in shape


class ScannedText:
    __slots__ = ("_shape", "_words", "letters_first", "long_runs", "low", "numbers", "runs", "text")

    def __init__(self, text: str) -> None:
        self.text = text
        self.low = lower(text)
        raw = text.encode("ascii", "replace")
        self._shape = b" %b " % raw.translate(_WORDS)
        self.letters_first = [
            self._shape.rindex(b" ", 0, match.start() + 1)
            for pattern in _LETTERS_FIRST
            for match in pattern.finditer(self._shape)
        ]
        """Where words begin that have letters and then digits in the shape of an account or identity number."""
        self.numbers = [(match.start(), len(match[0]) - 1) for match in _NUMBER.finditer(self._shape)]
        """Where digits begin that no letter or digit stands before, and how many."""
        self.runs = list(self._find_runs(raw))
        self.long_runs = [match.span() for match in _LONG_RUN.finditer(raw.translate(_GROUPS)) if _is_number(match[0])]
        """Twelve digits or more with whatever people put between the groups of a card."""
        self._words: frozenset[str] | None = None

    @property
    def words(self) -> frozenset[str]:
        """Every word of the text once, in lower case. To ask it for ten words costs less than to search for one."""
        if self._words is None:
            self._words = frozenset(words_of(self.low))
        return self._words

    def is_apart(self, start: int, end: int) -> bool:
        """No letter or digit touches it."""
        return self._shape[start] == 32 and self._shape[end + 1] == 32

    def before(self, start: int, length: int) -> str:
        """What stands before it, in lower case; a field's name counts as standing before its value."""
        return self.low[max(0, start - length) : start].replace(SEPARATOR, " ")

    def _find_runs(self, raw: bytes) -> Iterator[DigitRun]:
        for match in _RUN.finditer(raw.translate(_NUMBERS)):
            if not _is_number(match[0]):
                continue
            start, end = match.span()
            if date := _DATE.match(self.text, start):
                start = date.end()
            if end - start >= _SHORTEST_RUN:
                run = self._run(self._after_uuid(start), end)
                if len(run.digits) >= _SHORTEST_RUN:
                    yield run

    def _run(self, start: int, end: int) -> DigitRun:
        text = self.text[start:end]
        kept = text.lstrip(" -./()")
        return DigitRun(end - len(kept), kept, kept.translate(_NOT_DIGITS))

    def is_in_uuid(self, place: int) -> bool:
        return self._after_uuid(place) != place

    def _after_uuid(self, start: int) -> int:
        if match := _UUID.search(self.text, max(0, start - _UUID_LENGTH), start + _UUID_LENGTH):
            return match.end() if match.start() <= start < match.end() else start
        return start
