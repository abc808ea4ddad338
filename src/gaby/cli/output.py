"""How commands print: a table for eyes, JSON for programs.

Much of what is printed was written by strangers, and a terminal obeys what is printed on it: it moves its cursor over a
line that was there, hides text, turns its direction. So commands print through here alone, where every character that
is not to be seen becomes an escape that is.
"""

import json
import sys
from collections.abc import Mapping, Sequence
from datetime import datetime
from enum import Enum
from pathlib import Path
from typing import Annotated, Any, cast
from uuid import UUID

import typer

from gaby.cli.hints import in_named_workspace
from gaby.kernel.text import printable

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")]


def echo(text: object = "", *, err: bool = False, nl: bool = True) -> None:
    """Lines for people. Texts of others that must stay within their line are given through `one_line`."""
    typer.echo(printable(_message(text) if err else str(text)), err=err, nl=nl)


def secho(
    text: object, *, fg: str | None = None, bold: bool = False, dim: bool = False, err: bool = False, nl: bool = True
) -> None:
    """The same, with a style."""
    typer.secho(
        printable(_message(text) if err else str(text)), fg=fg, bold=bold or None, dim=dim or None, err=err, nl=nl
    )


def _message(text: object) -> str:
    """What goes to stderr is Gaby's own, and may suggest commands; stdout is data, which stays as it is."""
    return in_named_workspace(str(text))


def one_line(value: object) -> str:
    """A text of somebody else's, in which no line ends: the next line would look like Gaby's own."""
    return printable(str(value), one_line=True)


def one_line_json(value: object) -> str:
    return _visible_json(json.dumps(value, default=_plain, ensure_ascii=False))


def print_json(value: object) -> None:
    indent = 2 if sys.stdout.isatty() else None
    typer.echo(_visible_json(json.dumps(value, default=_plain, ensure_ascii=False, indent=indent)))


def print_rows(rows: Sequence[Mapping[str, Any]], *, as_json: bool, empty: str) -> None:
    """`empty` says what to do when there is nothing to show."""
    if as_json:
        print_json(list(rows))
        return
    if not rows:
        echo(empty, err=True)
        return
    from gaby.cli.columns import print_texts

    cells = [[printable(_cell(value)) for value in row.values()] for row in rows]
    oneliners = [[*(one_line(cell) for cell in before), last] for *before, last in cells]
    print_texts([heading.replace("_", " ") for heading in rows[0]], oneliners)


def _visible_json(text: str) -> str:
    """JSON spells the same characters with escapes of its own, so that it means the same to a program."""
    return "".join(_json_escape(each) for each in text) if printable(text) != text else text


def _json_escape(character: str) -> str:
    if printable(character) == character:
        return character
    units = character.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[at]:02x}{units[at + 1]:02x}" for at in range(0, len(units), 2))


def _cell(value: object) -> str:
    if value is None:
        return "-"
    if isinstance(value, datetime):
        return value.strftime("%Y-%m-%d %H:%M")
    if isinstance(value, list):
        return ", ".join(str(item) for item in cast("list[object]", value))
    return str(value)


def _plain(value: object) -> object:
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, UUID | Path):
        return str(value)
    raise TypeError(f"{type(value).__name__} cannot be printed as JSON")
