"""Which lines of a PDF are headings: those that its bookmarks name, else those in larger type."""

import re
from collections import Counter
from collections.abc import Sequence
from itertools import chain
from typing import NamedTuple

from gaby.knowledge.documents import PdfHeading

_NOT_WORDS = re.compile(r"[\W_]+")
_NUMBER = re.compile(r"^\d+")
_LARGER = 1.15
_LONGEST = 160
_MOST_LINES = 3
_DEEPEST = 4
# Beyond these, large type is the style of the document and a repeated line is the head of its pages.
_MOST_OF_ALL_LINES = 0.3
_REPEATED = 3


class PdfLine(NamedTuple):
    start: int
    words: str
    type: float
    """The size of its type; 0 where that is not known."""


class Bookmark(NamedTuple):
    level: int
    title: str
    page: int


Pages = Sequence[Sequence[PdfLine]]


def from_bookmarks(bookmarks: Sequence[Bookmark], pages: Pages) -> list[PdfHeading]:
    """Each at the line that says the same, else at the top of the page that it leads to."""
    known: dict[int, dict[str, int]] = {}
    headings: list[PdfHeading] = []
    for mark in bookmarks:
        if not 0 <= mark.page < len(pages) or not pages[mark.page]:
            continue
        lines = known.get(mark.page)
        if lines is None:
            lines = known[mark.page] = _lines_by_words(pages[mark.page])
        key = _key(mark.title)
        start = lines.get(key, lines.get(_NUMBER.sub("", key), pages[mark.page][0].start))
        headings.append(PdfHeading(start, mark.level, mark.title[:_LONGEST]))
    return sorted(headings, key=lambda heading: heading.start)


def from_type(pages: Pages) -> list[PdfHeading]:
    body = _body_type(pages)
    if not body:
        return []
    repeated = Counter(key for page in pages for key in {_key(line.words) for line in page})
    headed_lines: list[tuple[PdfLine, str]] = []
    for page in pages:
        for group in _groups(page, body):
            words = " ".join(line.words.strip() for line in group)
            if len(words) <= _LONGEST and any(map(str.isalpha, words)) and repeated[_key(group[0].words)] < _REPEATED:
                headed_lines.append((group[0], words))
    if len(headed_lines) > _MOST_OF_ALL_LINES * sum(map(len, pages)):
        return []
    sizes = sorted({line.type for line, _ in headed_lines}, reverse=True)
    return [PdfHeading(line.start, min(sizes.index(line.type) + 1, _DEEPEST), words) for line, words in headed_lines]


def largest_line(pages: Pages) -> str | None:
    """What the first page says in the largest type, which is mostly the title."""
    body = _body_type(pages)
    groups = _groups(pages[0], body) if body and pages else []
    largest = max(groups, key=lambda group: group[0].type, default=None)
    return " ".join(line.words.strip() for line in largest)[:_LONGEST] if largest else None


def _body_type(pages: Pages) -> float:
    """The size that most of the text is set in."""
    characters: Counter[float] = Counter()
    for line in chain.from_iterable(pages):
        characters[line.type] += len(line.words)
    del characters[0.0]
    return characters.most_common(1)[0][0] if characters else 0.0


def _groups(page: Sequence[PdfLine], body: float) -> list[list[PdfLine]]:
    """Lines in larger type, those that follow one another in the same size together."""
    groups: list[list[PdfLine]] = []
    before: PdfLine | None = None
    for line in page:
        if line.type >= body * _LARGER and line.words.strip():
            if before and before.type == line.type and len(groups[-1]) < _MOST_LINES:
                groups[-1].append(line)
            else:
                groups.append([line])
            before = line
        else:
            before = None
    return groups


def _lines_by_words(page: Sequence[PdfLine]) -> dict[str, int]:
    lines: dict[str, int] = {}
    for line in page:
        key = _key(line.words)
        lines.setdefault(key, line.start)
        lines.setdefault(_NUMBER.sub("", key), line.start)
    return lines


def _key(words: str) -> str:
    return _NOT_WORDS.sub("", words).casefold()
