"""JSON schemas of tools: what is declared where, also behind references and alternatives. A reference may loop."""

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, cast

Schema = Mapping[str, Any]
NO_SCHEMA: Schema = MappingProxyType({})
_DEEPEST = 12
_ALTERNATIVES = ("allOf", "anyOf", "oneOf")
_INSIDE = ("items", "additionalProperties", "contains", "not", "if", "then", "else", "unevaluatedProperties")
_LISTS_INSIDE = (*_ALTERNATIVES, "prefixItems")
_NAMED_INSIDE = ("patternProperties", "dependentSchemas")


def resolved(declared: object, root: Schema) -> Schema:
    """The schema itself, or what its reference leads to inside the same document."""
    schema = as_schema(declared)
    for _ in range(_DEEPEST):
        place = schema.get("$ref")
        if not isinstance(place, str):
            return schema
        target = _at(place, root)
        if target is None:
            return {}
        # What stands beside a reference holds as well.
        schema = {**target, **{name: value for name, value in schema.items() if name != "$ref"}}
    return {}


def properties_of(declared: object, root: Schema) -> dict[str, Schema]:
    """The named fields of an object, from all alternatives of it."""
    return _properties(declared, root, set())


def options_of(declared: Schema) -> list[Schema]:
    return [as_schema(option) for name in ("anyOf", "oneOf") for option in _sequence(declared.get(name))]


def schemas_below(declared: object, root: Schema) -> Iterator[tuple[str | None, Schema]]:
    """Every schema inside of one, with the name of its field if it has one."""
    yield from _below(declared, root, set())


def _properties(declared: object, root: Schema, seen: set[str]) -> dict[str, Schema]:
    if _seen_before(declared, seen):
        return {}
    schema = resolved(declared, root)
    schemas: dict[str, Schema] = {}
    for name in _ALTERNATIVES:
        for option in _sequence(schema.get(name)):
            schemas.update(_properties(option, root, seen))
    schemas.update({name: as_schema(each) for name, each in as_schema(schema.get("properties")).items()})
    return schemas


def _below(declared: object, root: Schema, seen: set[str]) -> Iterator[tuple[str | None, Schema]]:
    if _seen_before(declared, seen):
        return
    schema = resolved(declared, root)
    inside: list[tuple[str | None, object]] = list(as_schema(schema.get("properties")).items())
    inside += [(None, schema[name]) for name in _INSIDE if isinstance(schema.get(name), Mapping)]
    inside += [(None, each) for name in _LISTS_INSIDE for each in _sequence(schema.get(name))]
    inside += [(None, each) for name in _NAMED_INSIDE for each in as_schema(schema.get(name)).values()]
    for name, each in inside:
        yield name, resolved(each, root)
        yield from _below(each, root, seen)


def _seen_before(declared: object, seen: set[str]) -> bool:
    """References may loop, or fan out without end."""
    place = as_schema(declared).get("$ref")
    if not isinstance(place, str):
        return False
    known = place in seen
    seen.add(place)
    return known


def _at(place: str, root: Schema) -> Schema | None:
    """Only places inside the document: nothing is ever loaded."""
    if not place.startswith("#/"):
        return root if place == "#" else None
    node: object = root
    for step in place[2:].split("/"):
        name = step.replace("~1", "/").replace("~0", "~")
        if not isinstance(node, Mapping) or name not in node:
            return None
        node = cast("Mapping[str, object]", node)[name]
    return as_schema(node)


def as_schema(value: object) -> Schema:
    return cast("Schema", value) if isinstance(value, Mapping) else {}


def _sequence(value: object) -> Sequence[Any]:
    return cast("Sequence[Any]", value) if isinstance(value, list | tuple) else ()
