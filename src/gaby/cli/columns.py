"""Lists with one line for each row, cut to the width of the terminal."""

from collections.abc import Sequence

from rich.cells import cell_len, set_cell_size

from gaby.cli.output import SafeConsole, echo, secho

_SHORTEST_LAST = 10


def print_lines(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """The last column is cut at the end of the line. Every cell has to be one line already."""
    widths = [max(map(cell_len, column)) for column in zip(headings, *rows, strict=True)]
    widths[-1] = max(_SHORTEST_LAST, SafeConsole().width - sum(widths[:-1]) - 2 * (len(widths) - 1))
    secho(in_columns(headings, widths), bold=True)
    for *cells, last in rows:
        echo(in_columns([*cells, cut(last, widths[-1])], widths))


def in_columns(cells: Sequence[str], widths: Sequence[int]) -> str:
    padded = (cell + " " * (width - cell_len(cell)) for cell, width in zip(cells, widths, strict=True))
    return "  ".join(padded).rstrip()


def cut(text: str, width: int) -> str:
    return text if cell_len(text) <= width else f"{set_cell_size(text, width - 1).rstrip()}…"


def cut_beginning(text: str, width: int) -> str:
    """For addresses, of which the end says whose they are."""
    while cell_len(text) > width:
        text = f"…{text[2:]}"
    return text
