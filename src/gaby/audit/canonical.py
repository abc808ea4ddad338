"""One way to write JSON as bytes, so that equal values have equal hashes on every machine."""

import math
from collections.abc import Mapping
from enum import Enum
from typing import Any, cast

import orjson

from gaby.audit.errors import NotCanonical, PayloadTooLarge

MAX_PAYLOAD = 1_000_000

OPTIONS = (
    orjson.OPT_SORT_KEYS
    | orjson.OPT_PASSTHROUGH_DATACLASS
    | orjson.OPT_PASSTHROUGH_DATETIME
    | orjson.OPT_PASSTHROUGH_SUBCLASS
)


def canonical(value: Any) -> bytes:
    """Compact UTF-8 with keys sorted by code point. UUIDs and enums are written as their value."""
    try:
        data = orjson.dumps(value, option=OPTIONS)
    except TypeError as error:
        raise NotCanonical(f"The value cannot be written as canonical JSON: {error}.") from error
    # orjson writes NaN as null without a word, so only output with a null needs the slow look.
    if b"null" in data and _has_non_finite(value):
        raise NotCanonical("The value holds a number that is not finite (NaN or infinity). JSON has no such number.")
    return data


def canonical_payload(payload: Mapping[str, Any]) -> str:
    """The text of a row's payload."""
    # Three brackets keep room for what rows and proofs put around a payload, within the depth every reader accepts.
    data = canonical([[[dict(payload)]]])[3:-3]
    if len(data) > MAX_PAYLOAD:
        raise PayloadTooLarge
    return data.decode()


def _has_non_finite(value: Any) -> bool:
    if isinstance(value, float):
        return not math.isfinite(value)
    if isinstance(value, dict):
        return any(_has_non_finite(item) for item in cast("dict[str, Any]", value).values())
    if isinstance(value, list | tuple):
        return any(_has_non_finite(item) for item in cast("list[Any] | tuple[Any, ...]", value))
    return isinstance(value, Enum) and _has_non_finite(value.value)
