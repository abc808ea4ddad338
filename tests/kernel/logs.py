"""Logging under test: ours alone, and afterwards as it was found."""

import io
import logging
from collections.abc import Generator
from contextlib import contextmanager

import structlog

from gaby.kernel.log import Style, configure


@contextmanager
def restored() -> Generator[None]:
    root = logging.getLogger()
    before, level = list(root.handlers), root.level
    root.handlers.clear()
    configured = structlog.get_config()
    try:
        yield
    finally:
        root.handlers[:] = before
        root.setLevel(level)
        logging.getLogger("uvicorn.access").disabled = False
        structlog.configure(**configured)


@contextmanager
def captured(style: Style = "json") -> Generator[io.StringIO]:
    stream = io.StringIO()
    with restored():
        configure(stream=stream, style=style)
        yield stream
