"""Secrets in tables: a header cell says `password`, and the cells below or beside it hold them."""

from collections.abc import Iterator

_DELIMITERS = "|\t;,"
_ROWS = 50
_MOST_CELLS = 40
_LONGEST_LINE = 2000


def secrets_in_column(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Where the cells stand that the header cell `text[start:end]` speaks of; nothing if it is no cell."""
    begin = text.rfind("\n", max(0, start - _LONGEST_LINE), start) + 1
    stop = _line_end(text, end)
    delimiter = _delimiter(text, begin, start, end, stop)
    if delimiter is None:
        return
    column = text.count(delimiter, begin, start)
    width = text.count(delimiter, begin, stop)
    if width > _MOST_CELLS:
        return
    next_cells = list(_cells(text, end, stop, delimiter))
    rows = 0
    for line_start, line_end in _lines(text, stop + 1):
        if text.count(delimiter, line_start, line_end) != width:
            break
        cells = list(_cells(text, line_start, line_end, delimiter, is_row=True))
        rows += 1
        if not set(text[cells[column][0] : cells[column][1]]) <= set("-: "):
            yield cells[column]
    if not rows and delimiter == "|" and next_cells and next_cells[0][0] < next_cells[0][1]:
        yield next_cells[0]


def _delimiter(text: str, begin: int, start: int, end: int, stop: int) -> str | None:
    """What stands on both sides of the cell, where the line's own ends count too."""
    before, after = text[begin:start].rstrip(" *`\"'")[-1:], text[end:stop].lstrip(" \r*`\"'")[:1]
    marks = {mark for mark in (before, after) if mark}
    return next(iter(marks)) if len(marks) == 1 and marks <= set(_DELIMITERS) else None


def _cells(text: str, start: int, end: int, delimiter: str, *, is_row: bool = False) -> Iterator[tuple[int, int]]:
    at = start
    for cell in text[start:end].split(delimiter):
        kept = cell.strip(" \r`\"'*")
        begin = at + (cell.index(kept) if kept else 0)
        if is_row or at > start:
            yield begin, begin + len(kept)
        at += len(cell) + 1


def _lines(text: str, start: int) -> Iterator[tuple[int, int]]:
    for _ in range(_ROWS):
        if start >= len(text):
            return
        end = _line_end(text, start)
        yield start, end
        start = end + 1


def _line_end(text: str, at: int) -> int:
    end = text.find("\n", at, at + _LONGEST_LINE)
    return end if end >= 0 else min(len(text), at + _LONGEST_LINE)
