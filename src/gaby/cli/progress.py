"""A sign of life on a terminal, while something takes long of which nobody knows how long."""

import sys
from collections.abc import Generator
from contextlib import contextmanager


@contextmanager
def busy(doing: str) -> Generator[None]:
    """Nothing for programs: what they read is data, and a log of turning wheels helps nobody."""
    if not sys.stderr.isatty():
        yield
        return
    from gaby.cli.console import SafeConsole

    with SafeConsole(stderr=True).status(f"{doing} ..."):
        yield
