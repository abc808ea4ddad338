"""Results that are too large are made smaller: rows are left out, and it is said how many."""

from typing import Any, cast

import orjson

LIMIT = 100_000
"""Bytes of JSON. A little under the 100 KB that the contract allows."""
CUT = "… [cut]"
_MARKER_SIZE = 1_500


def size(value: Any) -> int:
    return len(orjson.dumps(value))


def fit(result: dict[str, Any], more: str, limit: int = LIMIT) -> dict[str, Any]:
    """The result itself if it is small enough, else a smaller one that says so."""
    if size(result) <= limit:
        return result
    left_out: list[str] = []
    smaller = _shrink_object(result, limit - _MARKER_SIZE, "", left_out)
    listed = "; ".join(left_out[:8])
    return smaller | {"truncated": True, "more": f"Left out: {listed}. {more or 'Ask for less at once.'}"}


def _shrink(value: Any, budget: int, path: str, left_out: list[str]) -> Any:
    if size(value) <= budget:
        return value
    match value:
        case dict():
            return _shrink_object(cast("dict[str, Any]", value), budget, path, left_out)
        case list():
            return _shrink_rows(cast("list[Any]", value), budget, path, left_out)
        case str():
            return _shrink_text(value, budget, path, left_out)
        case _:
            return value


def _shrink_object(value: dict[str, Any], budget: int, path: str, left_out: list[str]) -> dict[str, Any]:
    """The largest part gives way first, then the next."""
    sizes = {key: size(part) for key, part in value.items()}
    total = size(value)
    smaller = dict(value)
    for key in sorted(sizes, key=lambda name: -sizes[name]):
        if total <= budget:
            break
        goal = max(sizes[key] - (total - budget), 2)
        smaller[key] = _shrink(smaller[key], goal, f"{path}.{key}" if path else key, left_out)
        total += size(smaller[key]) - sizes[key]
    return smaller


def _shrink_rows(rows: list[Any], budget: int, path: str, left_out: list[str]) -> list[Any]:
    kept: list[Any] = []
    used = 2
    for row in rows:
        used += size(row) + 1
        if used > budget:
            break
        kept.append(row)
    if not kept and rows and budget > 200:
        # One row that alone is too large: a part of it says more than nothing.
        kept = [_shrink(rows[0], budget - 2, f"{path}[0]", left_out)]
    if len(kept) < len(rows):
        left_out.append(f"{len(rows) - len(kept)} of {len(rows)} in `{path}`")
    return kept


def _shrink_text(text: str, budget: int, path: str, left_out: list[str]) -> str:
    kept = text.encode("utf-8")[: max(budget - 20, 0)].decode("utf-8", "ignore")
    while kept and size(kept + CUT) > budget:
        kept = kept[: len(kept) * 3 // 4]
    left_out.append(f"{len(text) - len(kept)} of {len(text)} characters in `{path}`")
    return kept + CUT
