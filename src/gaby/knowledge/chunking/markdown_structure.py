"""The headings and the blocks of code of a Markdown text, found in one pass over its lines."""

import re
from collections.abc import Sequence
from typing import NamedTuple

from gaby.knowledge.parsers.front_matter import front_matter_end
from gaby.knowledge.parsers.markdown import plain_words

# Beginning with the end of the line before, which is searched much faster than the beginning of a line.
_MARK = re.compile(
    r"\n(?:"
    r" {0,3}(?P<hashes>#{1,6})(?:[ \t]+(?P<title>[^\n]*))?$"
    r"|(?P<indent>[ \t]*)(?P<item>(?:(?:[-*+]|\d{1,9}[.)])[ \t]+){0,3})"
    r"(?P<fence>`{3,}(?=[^`\n]*$)|~{3,})(?P<info>[^\n]*)"
    r"| {0,3}(?P<line>=+|-+)[ \t]*$"
    r")",
    re.MULTILINE,
)
# A line below a list, a quotation, a table or code is a rule and makes no heading of what stands above it.
_NO_TITLE = re.compile(r"[ \t]*(?:[-*+][ \t]|\d{1,9}[.)][ \t]|[>|<])| {4}|[ ]{0,3}\t")
_TITLE_LINES = 3
_TITLE_LENGTH = 1000


class MarkdownHeading(NamedTuple):
    start: int
    body: int
    """Where the line behind the heading begins."""
    level: int
    words: str


class MarkdownStructure(NamedTuple):
    body: int
    """Where the front matter ends."""
    titles: list[MarkdownHeading]
    fences: list[tuple[int, int]]


def marks_of(text: str) -> MarkdownStructure:
    body = front_matter_end(text)
    # One line feed ahead, so that a mark's offset is that of its own line in the text.
    marks = list(_MARK.finditer("\n" + text, body))
    titles: list[MarkdownHeading] = []
    fences: list[tuple[int, int]] = []
    closers = _Closers(marks)
    floor = body
    index = 0
    while index < len(marks):
        mark = marks[index]
        after = index + 1
        if mark["fence"]:
            closer = closers.closing_mark(index)
            if closer is not None or not (len(mark["indent"]) > 3 or mark["item"]):
                fences.append(
                    (mark.start(), _line_end(text, marks[closer].end() - 1 if closer is not None else len(text)))
                )
                after = closer + 1 if closer is not None else len(marks)
        elif title := _title(text, mark, floor):
            titles.append(title)
        floor = _line_end(text, marks[after - 1].end() - 1)
        index = after
    return MarkdownStructure(body, titles, fences)


class _Closers:
    """Which mark ends a fence. What was searched in vain is remembered, or many open fences would take for ever."""

    def __init__(self, marks: Sequence[re.Match[str]]) -> None:
        self._marks = marks
        self._unclosed: dict[str, int] = {}

    def closing_mark(self, index: int) -> int | None:
        fence = self._marks[index]["fence"]
        sign, length = fence[0], len(fence)
        if length >= self._unclosed.get(sign, length + 1):
            return None
        for other in range(index + 1, len(self._marks)):
            mark = self._marks[other]
            closes = mark["fence"] and mark["fence"][0] == sign and len(mark["fence"]) >= length
            if closes and not mark["item"] and not mark["info"].strip(" \t"):
                return other
        self._unclosed[sign] = length
        return None


def _title(text: str, mark: re.Match[str], floor: int) -> MarkdownHeading | None:
    if mark["hashes"]:
        return MarkdownHeading(
            mark.start(), _line_end(text, mark.end() - 1), len(mark["hashes"]), plain_words(mark["title"] or "")
        )
    start = _underlined_from(text, mark.start(), floor)
    if start is None:
        return None
    words = plain_words(text[start : mark.start()])
    return MarkdownHeading(start, _line_end(text, mark.end() - 1), 1 if mark["line"][0] == "=" else 2, words)


def _underlined_from(text: str, line: int, floor: int) -> int | None:
    """Where the paragraph begins that ends above this line; None when the line is a rule."""
    start = line
    for _ in range(_TITLE_LINES + 1):
        above = text.rfind("\n", floor, start - 1) + 1 or floor
        if above >= start or text[above:start].isspace():
            break
        start = above
    else:
        return None
    if (
        start == line
        or line - start > _TITLE_LENGTH
        or any(_NO_TITLE.match(each) for each in text[start:line].splitlines())
    ):
        return None
    return start


def _line_end(text: str, position: int) -> int:
    end = text.find("\n", position)
    return end + 1 if end >= 0 else len(text)
