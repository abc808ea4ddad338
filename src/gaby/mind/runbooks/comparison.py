"""How a value of a record compares with what a condition says."""

import re
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any, cast

from gaby.mind.runbooks.conditions import FieldTest
from gaby.mind.runbooks.operators import Operator

_YES, _NO = frozenset({"true", "yes", "1", "on"}), frozenset({"false", "no", "0", "off"})
_IN_TIME = frozenset({"older", "newer", "past", "future"})
_MOMENT = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9:.]{4,20}(?:Z|[+-][0-9:]{4,6})?|[0-9]{4}-[0-9]{2}-[0-9]{2}")


def passes(value: Any, test: FieldTest, now: datetime | None, requester: str | None) -> bool:
    """For conditions that name no other field."""
    if test.operator in _IN_TIME:
        return _in_time(value, test, now)
    if test.operator in {"above", "below"} and figure(value) is None:
        # "At least 3" is "not below 3", and what is no number is neither.
        return False
    return _passes(value, test, requester) != test.negated


def unreadable(value: Any, operator: Operator) -> bool:
    """It is there, and it is no number or moment as the condition needs one."""
    if is_empty(value):
        return False
    if operator in _IN_TIME:
        return moment(value) is None
    return operator in {"above", "below"} and figure(value) is None


def compares(value: Any, operator: Operator, other: Any) -> bool:
    """One field beside another."""
    if operator in {"above", "below"}:
        mine, theirs = figure(value), figure(other)
        if mine is None or theirs is None:
            return False
        return mine > theirs if operator == "above" else mine < theirs
    if operator == "has":
        return any(each and each in plain(value) for each in map(plain, _all(other)))
    if operator == "within":
        return any(mine in set(map(plain, _all(other))) or mine == plain(other) for mine in map(plain, _all(value)))
    return bool(plain(value)) and plain(value) == plain(other)


def is_empty(value: Any) -> bool:
    return value is None or (isinstance(value, str | list) and not value)


def plain(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return " ".join(str(value).split()).lower() if value is not None else ""


def figure(value: Any) -> float | None:
    """A number, or a moment as one."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int | float):
        return float(value)
    if not isinstance(value, str):
        return None
    if (at := moment(value)) is not None:
        return at.timestamp()
    try:
        return float(value.replace(",", ""))
    except ValueError:
        return None


def moment(value: Any) -> datetime | None:
    if not isinstance(value, str) or not _MOMENT.fullmatch(value.strip()):
        return None
    try:
        parsed = datetime.fromisoformat(value.strip())
    except ValueError:
        return None
    return parsed if parsed.tzinfo else parsed.replace(tzinfo=UTC)


def _passes(value: Any, test: FieldTest, requester: str | None) -> bool:
    number = figure(value)
    match test.operator:
        case "set" | "empty":
            return is_empty(value) == (test.operator == "empty")
        case "above":
            return number is not None and number > test.number
        case "below":
            return number is not None and number < test.number
        case "self":
            return bool(requester) and plain(value) == plain(requester)
        case "has":
            return any(wanted.lower() in plain(value) for wanted in test.values)
        case _:
            return any(_equals(each, test.values) for each in _all(value))


def _equals(value: Any, wanted: Sequence[str]) -> bool:
    if isinstance(value, bool):
        return any(word.lower() in (_YES if value else _NO) for word in wanted)
    mine = plain(value)
    return any(mine == plain(word) for word in wanted)


def _in_time(value: Any, test: FieldTest, now: datetime | None) -> bool:
    at = moment(value)
    if at is None or now is None:
        return False
    past = {"older": now - at > test.age, "newer": now - at < test.age, "past": at <= now, "future": at > now}
    return past[test.operator] != test.negated


def _all(value: Any) -> list[Any]:
    return cast("list[Any]", value) if isinstance(value, list) else [value]
