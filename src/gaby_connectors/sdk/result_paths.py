"""Paths into structured results, checked against the schema that a tool declares for what it returns."""

from collections.abc import Iterator, Mapping
from typing import Any, Literal, NamedTuple, cast

from gaby_connectors.sdk.manifest import ToolManifest

PathFinding = Literal["found", "absent", "unknown"]
"""`unknown`: the schema leaves open what stands there."""
_MOST_STEPS = 40
_MOST_READINGS = 200
_MOST_LOOKED_AT = 5000
_ALTERNATIVES = ("allOf", "anyOf", "oneOf")


def find_path(schema: Mapping[str, Any] | None, path: str) -> PathFinding:
    """Whether a result can have this path: `orders[].customer.email`, with `*` for any one name."""
    if schema is None:
        return "unknown"
    steps = [step for step in path.replace("[]", ".[]").split(".") if step]
    here = _readings(schema, schema)
    for step in steps[:_MOST_STEPS]:
        values = [_step(each, step) for each in here]
        # One schema is often reached by many ways.
        below = {id(one): one for each in values for one in each or ()}
        here = [reading for one in below.values() for reading in _readings(one, schema)][:_MOST_READINGS]
        if not here:
            return "unknown" if None in values else "absent"
    return "found" if len(steps) <= _MOST_STEPS else "unknown"


class DeclaredPath(NamedTuple):
    field: str
    """Of the manifest."""
    key: str | int
    """Under which it stands there: a key of the mapping, or the place in the list."""
    path: str


def declared_paths(manifest: ToolManifest) -> Iterator[DeclaredPath]:
    """Every path into the result of which a manifest speaks."""
    named = {"results": manifest.results, "result_kinds": manifest.result_kinds, "readers": manifest.readers}
    for field, paths in named.items():
        yield from (DeclaredPath(field, path, path) for path in paths)
    yield from (DeclaredPath("redact", at, path) for at, path in enumerate(manifest.redact))
    for row, owner in manifest.owner.items():
        yield DeclaredPath("owner", row, row)
        yield DeclaredPath("owner", row, f"{row}.{owner}")


def _step(schema: Mapping[str, Any], step: str) -> list[object] | None:
    """What stands below; None if the schema does not say."""
    kinds = schema.get("type")
    if kinds is not None and not _is(kinds, "array" if step == "[]" else "object"):
        return []
    if step == "[]":
        return [schema["items"]] if isinstance(schema.get("items"), Mapping) else None
    properties = schema.get("properties")
    fields = cast("dict[str, object]", properties) if isinstance(properties, Mapping) else None
    if fields is not None and (step == "*" or step in fields):
        return list(fields.values()) if step == "*" else [fields[step]]
    if isinstance(more := schema.get("additionalProperties"), Mapping):
        return [cast("object", more)]
    # A schema that lists its fields means those; one that lists none leaves all open.
    return None if fields is None else []


def _readings(declared: object, root: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The schema behind references, and each of its alternatives. No reference is followed twice: they may loop."""
    readings: list[Mapping[str, Any]] = []
    seen: set[str] = set()
    left: list[object] = [declared]
    for _ in range(_MOST_LOOKED_AT):
        if not left or len(readings) == _MOST_READINGS:
            break
        each = left.pop()
        if not isinstance(each, Mapping):
            continue
        schema = cast("Mapping[str, Any]", each)
        place = schema.get("$ref")
        if isinstance(place, str):
            if place not in seen:
                seen.add(place)
                left.append(_at(place, root))
            continue
        options = [option for name in _ALTERNATIVES for option in _list(schema.get(name))]
        if "properties" in schema or "items" in schema or not options:
            readings.append(schema)
        left += options
    return readings


def _list(value: object) -> list[object]:
    return cast("list[object]", value) if isinstance(value, list) else []


def _at(place: str, root: Mapping[str, Any]) -> object:
    node: object = root
    for step in place.removeprefix("#").split("/")[1:]:
        name = step.replace("~1", "/").replace("~0", "~")
        node = cast("Mapping[str, object]", node).get(name) if isinstance(node, Mapping) else None
    return node


def _is(kinds: object, kind: str) -> bool:
    return kind == kinds or (isinstance(kinds, list) and kind in kinds)
