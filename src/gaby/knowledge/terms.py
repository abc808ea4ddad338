"""The words that lexical search knows a text by. Both engines index exactly these, and questions are asked in them.

Every term is a run of lower-case letters and digits. What stands between two signs or blanks has mostly been seen
before, so its terms are remembered; the cost grows with the length of a text and not faster.
"""

import re
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from itertools import chain, pairwise
from typing import TypeVar

from gaby.mind.words import STOP_WORDS, stem

T = TypeVar("T")

_RUN = re.compile(r"[^\W_]+(?:[_.\-][^\W_]+)*")
_PIECE = re.compile(r"[^\W_]+")
_PART = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|[0-9]+|[^\W_A-Za-z0-9]+")
_ACCENTS = re.compile("[\u0300-\u036f]")
# Written without blanks between words: Thai, Lao, Burmese, Khmer, Japanese, Chinese, and Korean for its endings.
_UNSPACED = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff]+"
)
_LATIN = str.maketrans(
    {"ß": "ss", "ẞ": "SS", "ø": "o", "Ø": "O", "ł": "l", "Ł": "L", "đ": "d", "Đ": "D", "ð": "d", "Ð": "D", "þ": "th"}
    | {"Þ": "Th", "æ": "ae", "Æ": "Ae", "œ": "oe", "Œ": "Oe", "ı": "i"}
)
"""Letters that no rule of Unicode takes apart."""
LONGEST = 40
"""Of a hash, a key or a picture in base64 this much is kept; it is found by how it begins."""
_FRAGMENTS = 4
"""What has a digit and falls into more parts than this is no name but an id, and its parts mean nothing."""
_KEPT_LENGTH = 60
_KEPT = 50_000
_BLANKED = bytes(sign if sign > 127 or chr(sign).isalnum() or chr(sign) in "_.-" else 32 for sign in range(256))
"""No term goes across a sign of ASCII but these three, and without the others most pieces have been seen before."""


def terms(text: str) -> list[str]:
    """In order, with repetitions: how often a term stands in a passage counts."""
    return list(chain.from_iterable(map(_terms.__getitem__, _pieces(text))))


def content(text: str) -> list[str]:
    """The words that say something, as they are spelled: what a model without a sense of order is given."""
    return content_text(text).split()


def content_text(text: str) -> str:
    """The same with a blank between two words."""
    return " ".join(filter(None, map(_words.__getitem__, _pieces(text))))


def _pieces(text: str) -> list[str]:
    # By way of bytes, where signs become blanks in no time: `translate` of a string takes many times longer.
    return text.encode(errors="surrogatepass").translate(_BLANKED).decode(errors="surrogatepass").split()


def _folded(text: str) -> str:
    """Without accents, and with one spelling of each letter. Case stays, since it shows where words begin."""
    if text.isascii():
        return text
    return unicodedata.normalize("NFC", _ACCENTS.sub("", unicodedata.normalize("NFKD", text.translate(_LATIN))))


class _TermCache(dict[str, T]):
    """A dictionary, because looking up is what makes it fast."""

    def __init__(self, make: Callable[[str], T]) -> None:
        super().__init__()
        self._make = make

    def __missing__(self, piece: str) -> T:
        value = self._make(piece)
        if len(piece) <= _KEPT_LENGTH:
            if len(self) >= _KEPT:
                self.clear()
            self[piece] = value
        return value


def _words_of(text: str) -> str:
    parts = chain.from_iterable(map(_parts.__getitem__, _runs(_PIECE, _folded(text))))
    return " ".join(part for part in parts if part not in STOP_WORDS)


def _terms_of(text: str) -> tuple[str, ...]:
    terms: list[str] = []
    for run in _runs(_RUN, _folded(text)):
        pieces = _runs(_PIECE, run)
        parts = list(chain.from_iterable(map(_parts.__getitem__, pieces)))
        for part in parts:
            if part not in STOP_WORDS:
                terms += (stem(part[:LONGEST]),) if part.isascii() else _stems(part)
        if whole := _whole(run, len(pieces), len(parts)):
            terms.append(whole)
    return tuple(terms)


def _runs(pattern: re.Pattern[str], text: str) -> Sequence[str]:
    """Most are one word, for which no pattern is needed."""
    return (text,) if text.isalnum() else pattern.findall(text)


def _parts_of(piece: str) -> tuple[str, ...]:
    """`userId` is two words, `AADSTS50076` a name and a number; a hash is one thing."""
    if len(piece) > LONGEST and not _UNSPACED.search(piece):
        return (_lower(piece[:LONGEST])[:LONGEST],)
    pieces = _PART.findall(piece)
    if len(pieces) > _FRAGMENTS and not piece.isalpha() and piece.isascii():
        return (_lower(piece),)
    return tuple(map(_lower, pieces))


def _stems(part: str) -> Iterator[str]:
    at = 0
    for unspaced in _UNSPACED.finditer(part):
        if unspaced.start() > at:
            yield part[at : unspaced.start()][:LONGEST]
        yield from _pairs(unspaced[0])
        at = unspaced.end()
    if at < len(part):
        yield part[at:][:LONGEST]


def _pairs(characters: str) -> Iterator[str]:
    if len(characters) == 1:
        yield characters
    yield from map("".join, pairwise(characters))


def _whole(run: str, pieces: int, parts: int) -> str | None:
    """`E-1042` is also `e1042` and `sign-in` also `signin`. The number 3.5 is not 35."""
    if parts < 2 or len(run) > LONGEST or not run.isascii() or (pieces == 2 and "." in run and not run[0].isalpha()):
        return None
    return run.replace("-", "").replace("_", "").replace(".", "").lower()


def _lower(part: str) -> str:
    return part.lower() if part.isascii() else part.casefold().lower()


_parts = _TermCache(_parts_of)
_terms = _TermCache(_terms_of)
_words = _TermCache(_words_of)
