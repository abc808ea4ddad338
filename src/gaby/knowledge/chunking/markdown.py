"""Markdown: a passage for each section, with its headings; tables and blocks of code whole."""

import re
from bisect import bisect_left
from collections.abc import Iterator

from gaby.knowledge.chunking.chunk_spans import AtomicSpan, ChunkSpan, fitting, joined, packed, piece
from gaby.knowledge.chunking.markdown_structure import MarkdownHeading, MarkdownStructure, marks_of
from gaby.knowledge.chunking.prose import LINES, lines, paragraphs, sentences, words
from gaby.knowledge.chunking.sizes import HARD_MAXIMUM, SOFT_MAXIMUM, size

_BLANK_LINES = re.compile(r"(?:[ \t]*\n)*")
_ITEM = re.compile(r"^[ \t]*(?:[-*+]|\d{1,9}[.)])[ \t]", re.MULTILINE)
_OUTER_ITEM = re.compile(r"^(?:[-*+]|\d{1,9}[.)])[ \t]", re.MULTILINE)
_COLUMNS = " \t|:-"


class _OpenSection:
    """A section whose subsections are still to come."""

    def __init__(self, level: int, headings: tuple[str, ...]) -> None:
        self.level = level
        self.headings = headings
        self.parts: list[ChunkSpan] = []


def markdown_parts(text: str) -> list[ChunkSpan]:
    marks = marks_of(text)
    open_sections = [_OpenSection(0, ())]
    begin = 0
    for index, title in enumerate([MarkdownHeading(0, marks.body, 0, ""), *marks.titles]):
        end = marks.titles[index].start if index < len(marks.titles) else len(text)
        if title.level:
            _close(open_sections, title.level)
            open_sections.append(_OpenSection(title.level, (*open_sections[-1].headings, title.words)))
        deeper = index < len(marks.titles) and marks.titles[index].level > title.level
        if deeper and not text[title.body : end].strip():
            # Nothing between a heading and the one below it: they stay together.
            continue
        section = open_sections[-1]
        section.parts += _section(text, begin, end, marks, section.headings)
        begin = end
    _close(open_sections, 1)
    return joined(open_sections[0].parts)


def _close(open_sections: list[_OpenSection], level: int) -> None:
    while open_sections[-1].level >= level:
        section = open_sections.pop()
        open_sections[-1].parts += joined(section.parts)


def _section(text: str, start: int, end: int, marks: MarkdownStructure, headings: tuple[str, ...]) -> list[ChunkSpan]:
    weight = size(text, start, end)
    if weight <= SOFT_MAXIMUM:
        return [ChunkSpan(start, end, weight, headings)] if end > start else []
    return packed(text, _glued(text, _pieces(text, start, end, marks)), headings)


def _pieces(text: str, start: int, end: int, marks: MarkdownStructure) -> Iterator[AtomicSpan]:
    for first, last in marks.fences[bisect_left(marks.fences, (start, 0)) : bisect_left(marks.fences, (end, 0))]:
        yield from _prose(text, start, first)
        blank = _BLANK_LINES.match(text, last, end)
        start = blank.end() if blank else last
        yield from _whole(text, first, start)
    yield from _prose(text, start, end)


def _prose(text: str, start: int, end: int) -> Iterator[AtomicSpan]:
    blocks = (each for paragraph in paragraphs(text, start, end) for each in _split(_OUTER_ITEM, text, *paragraph))
    for begin, stop in blocks:
        block = piece(text, begin, stop)
        if block.size <= SOFT_MAXIMUM:
            yield block
            continue
        table = _table_from(text, begin, stop)
        if table > begin:
            yield from fitting(text, begin, table, (_items, sentences, words))
        if table < stop:
            yield from _whole(text, table, stop)


def _whole(text: str, start: int, end: int) -> Iterator[AtomicSpan]:
    block = piece(text, start, end)
    if block.size <= HARD_MAXIMUM:
        yield block
    else:
        yield from fitting(text, start, end, LINES)


def _table_from(text: str, start: int, end: int) -> int:
    """Where the table of this block begins: the line above the one that draws the columns. It ends with the block."""
    above = start
    for begin, stop in lines(text, start, end):
        line = text[begin:stop].strip()
        if begin > start and "|" in line and "-" in line and not line.strip(_COLUMNS):
            return above
        above = begin
    return end


def _items(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    return _split(_ITEM, text, start, end)


def _split(before: re.Pattern[str], text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    for match in before.finditer(text, start, end):
        if match.start() > start:
            yield start, match.start()
            start = match.start()
    yield start, end


def _glued(text: str, pieces: Iterator[AtomicSpan]) -> list[AtomicSpan]:
    """What leads over to the next block stays with it, and what is indented with what it belongs to."""
    result: list[AtomicSpan] = []
    for each in pieces:
        last = result[-1] if result else None
        if last and last.size + each.size <= SOFT_MAXIMUM and _belongs(text, last, each):
            result[-1] = AtomicSpan(last.start, each.end, last.size + each.size)
        else:
            result.append(each)
    return result


def _belongs(text: str, last: AtomicSpan, each: AtomicSpan) -> bool:
    indented = text[each.start] == "\t" or text.startswith("  ", each.start)
    return indented or text[max(last.start, last.end - 200) : last.end].rstrip().endswith(":")
