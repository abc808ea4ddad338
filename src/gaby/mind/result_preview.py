"""What a tool answered as JSON that is short enough to be read, and still whole: long lists and texts are cut, with a
word on how much is left out."""

from collections.abc import Mapping
from typing import Any, cast

import orjson

_DEEPEST = 12
_STEPS = ((200, 2000), (50, 800), (20, 400), (8, 200), (3, 80), (1, 40))
"""How many items of a list and characters of a text are kept, from generous to bare."""


def shown(result: Any, limit: int = 12_000) -> str:
    """At most `limit` characters, if that can be done at all; a plain text stays one."""
    if isinstance(result, str):
        return result if len(result) <= limit else f"{result[: max(0, limit - 40)]} ... ({len(result)} characters)"
    text = ""
    for items, characters in _STEPS:
        text = _dumped(_cut(result, items, characters, 0))
        if len(text) <= limit:
            return text
    return _dumped({"left_out": f"{len(text)} characters"})


def read_back(text: str) -> Any:
    """The JSON in a text, or the text."""
    if text[:1] not in "{[":
        return text
    try:
        return orjson.loads(text.encode("utf-8", "replace"))
    except orjson.JSONDecodeError:
        return text


def _dumped(value: Any) -> str:
    try:
        return orjson.dumps(value, option=orjson.OPT_NON_STR_KEYS).decode()
    except (orjson.JSONEncodeError, UnicodeEncodeError):
        return orjson.dumps({"left_out": "It is no JSON."}).decode()


def _cut(value: Any, items: int, characters: int, depth: int) -> Any:
    if depth > _DEEPEST:
        return "..."
    if isinstance(value, Mapping):
        pairs = list(cast("Mapping[Any, Any]", value).items())[: max(items, 40)]
        return {str(key): _cut(inner, items, characters, depth + 1) for key, inner in pairs}
    if isinstance(value, list | tuple):
        listed = cast("list[Any]", value)
        kept = [_cut(inner, items, characters, depth + 1) for inner in listed[:items]]
        return [*kept, f"... and {len(listed) - items} more"] if len(listed) > items else kept
    if isinstance(value, str) and len(value) > characters:
        return f"{value[:characters]}..."
    return value
