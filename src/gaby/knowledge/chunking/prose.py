"""Where running text may be cut: between paragraphs, then lines, then sentences, then words. All in linear time."""

import re
from collections.abc import Iterator

from gaby.knowledge.chunking.chunk_spans import ChunkSpan, fitting, packed
from gaby.knowledge.chunking.sizes import SOFT_MAXIMUM, size

_GAP = re.compile(r"\n(?:[ \t]*\n)+")
_LINE = re.compile(r"\n")
_SENTENCE = re.compile(r"[.!?][\"')\]]{0,3}\s+|[。！？]")
# No text has more letters to a token than this, as tokens are estimated.
_CHARACTERS_PER_TOKEN = 3
# Shorter ones are taken together at once: a million short lines are no million decisions.
_SHORT = 160


def plain_parts(text: str) -> list[ChunkSpan]:
    return packed(text, fitting(text, 0, len(text), PLAIN), ())


def paragraphs(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    return _after_each(_GAP, text, start, end, 0)


def lines(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    return _after_each(_LINE, text, start, end, 0)


def sentences(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    return _after_each(_SENTENCE, text, start, end, _SHORT)


def _some_paragraphs(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    return _after_each(_GAP, text, start, end, _SHORT)


def _some_lines(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    return _after_each(_LINE, text, start, end, _SHORT)


def words(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """As many words as fit, again and again; through a word only where it alone is too long."""
    while start < end:
        stop = _farthest(text, start, end)
        if stop < end:
            blank = max(text.rfind(" ", start, stop), text.rfind("\n", start, stop), text.rfind("\t", start, stop))
            stop = blank + 1 if blank >= start else stop
        yield start, stop
        start = stop


PLAIN = (_some_paragraphs, _some_lines, sentences, words)
LINES = (_some_lines, words)


def _after_each(pattern: re.Pattern[str], text: str, start: int, end: int, least: int) -> Iterator[tuple[int, int]]:
    while (match := pattern.search(text, min(start + least, end), end)) is not None:
        yield start, match.end()
        start = match.end()
    if start < end:
        yield start, end


def _farthest(text: str, start: int, end: int) -> int:
    stop = min(end, start + SOFT_MAXIMUM * _CHARACTERS_PER_TOKEN)
    while (large := size(text, start, stop)) > SOFT_MAXIMUM and stop - start > 1:
        stop = start + max((stop - start) * SOFT_MAXIMUM // large, 1)
    return stop
