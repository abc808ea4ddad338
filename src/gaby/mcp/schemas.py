"""Checks of what a server calls a JSON schema, before anything believes it."""

import math
from collections.abc import Iterator
from typing import Any, cast

import jsonschema_rs
import orjson

from gaby.mcp.invisible_characters import hidden_character

MAX_DEPTH = 40
MAX_BYTES = 200_000

_DRAFTS = ("http://json-schema.org/", "https://json-schema.org/")
_REFERENCES = ("$ref", "$dynamicRef", "$recursiveRef")


def canonical(value: Any) -> bytes:
    """Compact JSON with sorted keys, so that equal values have equal hashes."""
    return orjson.dumps(value, option=orjson.OPT_SORT_KEYS)


def objection_to_value(value: Any) -> str | None:
    """Why a piece of JSON from outside is not acceptable: too deep, hidden characters, numbers that JSON has not."""
    for depth, item in _traverse(value):
        if depth > MAX_DEPTH:
            return f"it is nested more than {MAX_DEPTH} deep"
        if isinstance(item, str) and (hidden := hidden_character(item)):
            return f"it holds the invisible character {hidden}"
        if isinstance(item, float) and not math.isfinite(item):
            return "it holds a number that is not finite"
    try:
        size = len(canonical(value))
    except TypeError:
        return "it holds a value that is not plain JSON, or a number of more than 64 bits"
    return f"it has {size} bytes, of at most {MAX_BYTES}" if size > MAX_BYTES else None


def objection_to_schema(schema: Any, *, must_be_object: bool) -> str | None:
    if not isinstance(schema, dict):
        return "it is not a JSON object"
    schema = cast("dict[str, Any]", schema)
    if objection := objection_to_value(schema):
        return objection
    if must_be_object and schema.get("type") != "object":
        return 'its type is not "object"'
    # Before anything compiles it: a reference could make the validator fetch an address or a file.
    for _, item in _traverse(schema):
        if isinstance(item, dict) and (objection := _leaves_the_document(cast("dict[str, Any]", item))):
            return objection
    try:
        compiled(schema)
    except (jsonschema_rs.ValidationError, jsonschema_rs.ReferencingError, ValueError) as error:
        return f"it is not a valid JSON schema: {str(error)[:200]}"
    return None


def compiled(schema: dict[str, Any]) -> "jsonschema_rs.Validator":
    return jsonschema_rs.validator_for(schema, offline=True, validate_formats=False)


def _leaves_the_document(item: dict[str, Any]) -> str | None:
    for name in _REFERENCES:
        target = item.get(name)
        if isinstance(target, str) and not target.startswith("#"):
            return f"it refers to something outside of itself: {target[:100]}"
    draft = item.get("$schema")
    if isinstance(draft, str) and not draft.startswith(_DRAFTS):
        return f"it follows an unknown draft of JSON schema: {draft[:100]}"
    return None


def _traverse(value: Any) -> Iterator[tuple[int, Any]]:
    """Every key and value with its depth. Not recursive, since depth is what an attacker chooses."""
    waiting: list[tuple[int, Any]] = [(0, value)]
    while waiting:
        depth, item = waiting.pop()
        yield depth, item
        # One level further than allowed is enough to see that it is too deep.
        if depth > MAX_DEPTH:
            continue
        if isinstance(item, dict):
            for key, inner in cast("dict[Any, Any]", item).items():
                waiting.append((depth + 1, key))
                waiting.append((depth + 1, inner))
        elif isinstance(item, list):
            waiting.extend((depth + 1, inner) for inner in cast("list[Any]", item))
