"""Any value as plain JSON data: bounded, masked, and unable to break the line it is written to."""

import math
import reprlib
from collections.abc import Collection, Mapping
from datetime import date
from enum import Enum
from itertools import islice
from pathlib import PurePath
from traceback import TracebackException
from typing import Any, cast
from uuid import UUID

from gaby.kernel.log.masking import MASK, is_secret_name, mask
from gaby.kernel.text import printable

MAX_TEXT = 8_000
MAX_STACK = 32_000
MAX_ITEMS = 100
MAX_DEPTH = 6

# Every JSON reader agrees on these; a number beyond them becomes text.
_SMALLEST, _LARGEST = -(2**63), 2**64 - 1

# Unlike `repr`, it survives objects whose own repr fails.
_safe_repr = reprlib.Repr()
_safe_repr.maxother = MAX_TEXT


def plain(value: object, depth: int = 0) -> Any:
    if isinstance(value, Enum):
        value = value.value
    match value:
        case str():
            return plain_text(value)
        case dict() | list() | tuple() | set() | frozenset():
            return _plain_collection(cast("Collection[object]", value), depth)
        case BaseException():
            return plain_error(value)
        case _:
            return _plain_scalar(value)


def plain_mapping(mapping: Mapping[Any, object], depth: int = 0) -> dict[str, Any]:
    shown: dict[str, Any] = {}
    for key, value in islice(mapping.items(), MAX_ITEMS):
        name = plain_text(key if isinstance(key, str) else str(plain(key, MAX_DEPTH)), one_line=True)
        shown[name] = MASK if is_secret_name(name, value) else plain(value, depth + 1)
    if len(mapping) > MAX_ITEMS:
        shown["..."] = f"{len(mapping) - MAX_ITEMS} more"
    return shown


def plain_text(text: str, *, limit: int = MAX_TEXT, one_line: bool = False) -> str:
    if len(text) > limit:
        text = f"{text[:limit]}... ({len(text) - limit} more characters)"
    return mask(printable(text, one_line=one_line))


def plain_error(error: BaseException) -> dict[str, str]:
    # A traceback's text survives exceptions whose own `str` fails.
    traceback = TracebackException(type(error), error, None)
    return {"type": type(error).__qualname__, "message": plain_text(str(traceback))}


def plain_stack(error: BaseException) -> str:
    text = "".join(TracebackException.from_exception(error, limit=100).format())
    # The innermost frames say most, and they come last.
    return mask(printable(text[-MAX_STACK:]))


def _plain_scalar(value: object) -> Any:
    match value:
        case None | bool():
            return value
        case int() if _SMALLEST <= value <= _LARGEST:
            return value
        case float():
            return value if math.isfinite(value) else str(value)
        case date():
            return value.isoformat()
        case UUID() | PurePath():
            return plain_text(str(value))
        case _:
            return plain_text(_safe_repr.repr_instance(value, 1))


def _plain_collection(items: Collection[object], depth: int) -> Any:
    if depth >= MAX_DEPTH:
        return f"<{type(items).__name__}>"
    if isinstance(items, dict):
        return plain_mapping(cast("Mapping[Any, object]", items), depth)
    shown = [plain(item, depth + 1) for item in islice(items, MAX_ITEMS)]
    return [*shown, f"... {len(items) - MAX_ITEMS} more"] if len(items) > MAX_ITEMS else shown
