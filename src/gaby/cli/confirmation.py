"""Asking before something is gone for good."""

import sys
from typing import Annotated

import typer

from gaby.kernel.errors import BadRequest

Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do it without asking.")]


def confirm(question: str, *, yes: bool) -> None:
    """Nobody who could be asked has agreed to nothing, so a script has to say --yes."""
    if yes:
        return
    if not sys.stdin.isatty():
        raise BadRequest(f"{question} There is no terminal to ask in: add --yes.")
    typer.confirm(question, abort=True, err=True)
