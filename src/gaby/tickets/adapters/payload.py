"""Reads JSON of which nothing is trusted: whatever is there, what comes out is clean or nothing."""

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, cast

from gaby.tickets.text_cleanup import LONGEST_BODY, LONGEST_TITLE, clean, clean_email, clean_line

MARKER = re.compile(r"gaby-[0-9a-f]{32}(?![0-9a-f])")
_LEAST_YEAR, _LAST_YEAR = 1971, 9000


def text(value: object, longest: int = LONGEST_BODY) -> str:
    return clean(value, longest) if isinstance(value, str) else ""


def line(value: object, longest: int = LONGEST_TITLE) -> str:
    return clean_line(value, longest) if isinstance(value, str) else ""


def identity(value: object) -> str:
    """An id, which some desks give as a number."""
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) < 10**30:
        return str(value)
    return value if isinstance(value, str) and re.fullmatch(r"[A-Za-z0-9_.:-]{1,64}", value) else ""


def email(value: object) -> str | None:
    return clean_email(value) if isinstance(value, str) else None


def link(value: object) -> str:
    words = value if isinstance(value, str) and len(value) < 1000 else ""
    return words if words.isascii() and words.isprintable() and words.startswith(("https://", "http://")) else ""


def moment(value: object) -> datetime | None:
    if not isinstance(value, str) or not 10 <= len(value) <= 40:
        return None
    try:
        parsed = datetime.fromisoformat(value)
        parsed = parsed.astimezone(UTC) if parsed.tzinfo else parsed.replace(tzinfo=UTC)
    except (ValueError, OverflowError):
        return None
    return parsed if _LEAST_YEAR <= parsed.year <= _LAST_YEAR else None


def mapping(value: object) -> dict[str, Any]:
    return cast("dict[str, Any]", value) if isinstance(value, Mapping) else {}


def entries(value: object) -> list[dict[str, Any]]:
    """The objects of a list."""
    listed = cast("list[object]", value) if isinstance(value, list | tuple) else []
    return [entry for entry in map(mapping, listed) if entry]


def within(value: object, *names: str) -> object:
    """What is at this place of an answer, or None when the answer is made in another way."""
    for name in names:
        value = mapping(value).get(name)
    return value
