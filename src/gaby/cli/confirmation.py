"""Asking before something is gone for good."""

from typing import Annotated

import typer

Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do it without asking.")]


def confirm(question: str, *, yes: bool) -> None:
    """Whoever answers anything but yes, or cannot be asked, has not agreed."""
    if not yes:
        typer.confirm(question, abort=True, err=True)
