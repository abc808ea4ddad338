"""How commands print: a table for eyes, JSON for programs."""

import json
import sys
from collections.abc import Mapping, Sequence
from datetime import datetime
from enum import Enum
from pathlib import Path
from typing import Annotated, Any, cast
from uuid import UUID

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")]


def print_json(value: object) -> None:
    typer.echo(json.dumps(value, default=_plain, ensure_ascii=False, indent=2 if sys.stdout.isatty() else None))


def print_rows(rows: Sequence[Mapping[str, Any]], *, as_json: bool, empty: str) -> None:
    """`empty` says what to do when there is nothing to show."""
    if as_json:
        print_json(list(rows))
        return
    if not rows:
        typer.echo(empty, err=True)
        return
    console = Console()
    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading in rows[0]:
        table.add_column(heading.replace("_", " "), overflow="fold")
    for row in rows:
        table.add_row(*(escape(_cell(value)) for value in row.values()))
    console.print(table)


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
