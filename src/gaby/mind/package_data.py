"""Data that comes with the offline mind, read when first asked for."""

from collections.abc import Iterator
from functools import cache
from importlib.resources import files
from typing import Any

import orjson


@cache
def text_of(name: str) -> str:
    return (files("gaby.mind") / "data" / name).read_text(encoding="utf-8")


def rows_of(name: str) -> Iterator[dict[str, Any]]:
    """The rows of a file with one JSON object on each line."""
    for line in text_of(name).splitlines():
        if line.strip():
            yield orjson.loads(line)
