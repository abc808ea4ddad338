"""Lists with one line for each row, no wider than the terminal."""

from collections.abc import Sequence
from shutil import get_terminal_size
from textwrap import wrap

from rich.cells import cell_len, set_cell_size

from gaby.cli.output import echo, secho

_SHORTEST = 8
_SHORTEST_LAST = 24
_GAP = 2
_NARROWEST = 40


def terminal_width() -> int:
    return get_terminal_size().columns


def print_lines(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """What does not fit is cut. Every cell has to be one line already."""
    widths = _fitting(headings, rows)
    secho(in_columns(_cut(headings, widths), widths), bold=True)
    for cells in rows:
        echo(in_columns(_cut(cells, widths), widths))


def print_texts(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """The same, but the last column holds texts that are read whole: they go on in the next line, below themselves.

    Where there are more columns than the terminal has room for, each row is a paragraph with a line for each cell.
    """
    widths = _fitting(headings, rows)
    if sum(widths) + _GAP * (len(widths) - 1) > max(terminal_width(), _NARROWEST):
        _print_paragraphs(headings, rows)
        return
    secho(in_columns(_cut(headings, widths), widths), bold=True)
    for *cells, last in rows:
        _print_row(_cut(cells, widths[:-1]), last, widths)


def _print_paragraphs(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    name = max(map(cell_len, headings))
    widths = [name, max(_SHORTEST, terminal_width() - name - _GAP)]
    for number, row in enumerate(rows):
        if number:
            echo()
        for heading, cell in zip(headings, row, strict=True):
            _print_row([heading], cell, widths)


def _print_row(before: Sequence[str], last: str, widths: Sequence[int]) -> None:
    first, *more = [part for line in last.splitlines() for part in folded(line, widths[-1])] or [""]
    echo(in_columns([*before, first], widths))
    for part in more:
        echo(in_columns([*("" for _ in before), part], widths))


def in_columns(cells: Sequence[str], widths: Sequence[int]) -> str:
    padded = (cell + " " * (width - cell_len(cell)) for cell, width in zip(cells, widths, strict=True))
    return (" " * _GAP).join(padded).rstrip()


def cut(text: str, width: int) -> str:
    return text if cell_len(text) <= width else f"{set_cell_size(text, width - 1).rstrip()}…"


def _cut(cells: Sequence[str], widths: Sequence[int]) -> list[str]:
    return [cut(cell, width) for cell, width in zip(cells, widths, strict=True)]


def cut_beginning(text: str, width: int) -> str:
    """For addresses, of which the end says whose they are."""
    while cell_len(text) > width:
        text = f"…{text[2:]}"
    return text


def _fitting(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> list[int]:
    """As wide as its widest cell; where that is too much together, the widest columns give way first."""
    *others, last = (max(map(cell_len, column)) for column in zip(headings, *rows, strict=True))
    room = terminal_width() - _GAP * len(others)
    while others and sum(others) + min(last, _SHORTEST_LAST) > room and max(others) > _SHORTEST:
        others[others.index(max(others))] -= 1
    return [*others, max(_SHORTEST, min(last, room - sum(others)))]


def folded(line: str, width: int) -> list[str]:
    """Wide characters take two places, so a text that has some is folded as if all of it were wide."""
    return wrap(line, width if cell_len(line) == len(line) else max(1, width // 2)) or [""]
