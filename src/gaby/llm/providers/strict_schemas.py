"""JSON schemas as vendors take them when answers must fit: closed objects, everything required, few keywords."""

from collections.abc import Mapping
from typing import Any, cast
from urllib.parse import unquote

Schema = Mapping[str, Any]

_DEEPEST = 60
_TYPES = ("string", "number", "integer", "boolean", "null", "object", "array")


class SchemaNotStrict(ValueError):
    """The schema says something that cannot be demanded of a vendor."""


def plain(value: Any) -> Any:
    """The same as dicts and lists, which JSON encoders know, and which nobody else holds."""
    if isinstance(value, Mapping):
        return {str(key): plain(each) for key, each in cast("Mapping[Any, Any]", value).items()}
    if isinstance(value, list | tuple):
        return [plain(each) for each in cast("list[Any]", value)]
    return value


def strict_schema(schema: Schema) -> dict[str, Any]:
    """The schema as strict modes demand it. It asks for everything that the original asks for, except lengths, ranges,
    patterns and other fine print, which is checked when the answer is here. Raises `SchemaNotStrict` where the original
    leaves open what may come: a free-form object, a list of anything, a value of any type."""
    return _StrictConverter(schema).whole()


class _StrictConverter:
    def __init__(self, root: Schema) -> None:
        self._root = root
        self._names: dict[str, str] = {}
        """The definitions that are referred to, by their place in the original."""
        self._definitions: dict[str, Any] = {}

    def whole(self) -> dict[str, Any]:
        converted = self._convert(self._resolved(self._root), 0)
        if converted.get("type") != "object":
            raise SchemaNotStrict("The answer must be an object.")
        self._make_definitions()
        return {**converted, "$defs": self._definitions} if self._definitions else converted

    def _make_definitions(self) -> None:
        waiting = dict(self._names)
        while waiting:
            for place, name in waiting.items():
                self._definitions[name] = self._convert(self._resolved(self._at(place)), 0)
            waiting = {place: name for place, name in self._names.items() if name not in self._definitions}

    def _convert(self, schema: object, depth: int) -> dict[str, Any]:
        if not isinstance(schema, Mapping):
            raise SchemaNotStrict("A schema that is only true or false leaves everything open.")
        if depth > _DEEPEST:
            raise SchemaNotStrict("The schema is nested too deeply.")
        merged = self._merged(cast("Schema", schema), depth)
        if "$ref" in merged:
            return {"$ref": self._reference(merged["$ref"])}
        words = {key: merged[key] for key in ("title", "description") if isinstance(merged.get(key), str)}
        return {**words, **self._content(merged, depth)}

    def _content(self, schema: Schema, depth: int) -> dict[str, Any]:
        choices = schema.get("anyOf", schema.get("oneOf"))
        if isinstance(choices, list | tuple) and choices:
            return {"anyOf": [self._convert(each, depth + 1) for each in cast("list[Any]", choices)]}
        if "enum" in schema or "const" in schema:
            return _literals(schema)
        kinds = _kinds(schema)
        if len(kinds) > 1:
            return {"anyOf": [self._of_kind(kind, schema, depth + 1) for kind in kinds]}
        return self._of_kind(kinds[0], schema, depth)

    def _of_kind(self, kind: str, schema: Schema, depth: int) -> dict[str, Any]:
        if kind == "object":
            return self._object(schema, depth)
        if kind == "array":
            if "items" not in schema or schema.get("prefixItems"):
                raise SchemaNotStrict("A list must say what is in it, the same for every place.")
            return {"type": "array", "items": self._convert(schema["items"], depth + 1)}
        return {"type": kind}

    def _object(self, schema: Schema, depth: int) -> dict[str, Any]:
        rest = schema.get("additionalProperties")
        if rest not in (None, True, False) or schema.get("patternProperties"):
            raise SchemaNotStrict("An object must name all its properties; use a list of pairs for free ones.")
        properties = schema.get("properties", {} if rest is False else None)
        if not isinstance(properties, Mapping) or (rest is True and not properties):
            raise SchemaNotStrict("An object must name all its properties; use a list of pairs for free ones.")
        converted = {str(name): self._convert(each, depth + 1) for name, each in cast("Schema", properties).items()}
        return {"type": "object", "properties": converted, "required": list(converted), "additionalProperties": False}

    def _merged(self, schema: Schema, depth: int) -> Schema:
        """Parts of an `allOf` become one. References among them are replaced by what they refer to."""
        parts = schema.get("allOf")
        if not isinstance(parts, list | tuple) or not parts:
            return schema
        if depth > _DEEPEST:
            raise SchemaNotStrict("The schema is nested too deeply.")
        merged = {key: value for key, value in schema.items() if key != "allOf"}
        for part in cast("list[Any]", parts):
            other = self._merged(self._resolved(part), depth + 1)
            both = {**_properties(other), **_properties(merged)}
            merged = {**other, **merged, **({"properties": both} if both else {})}
        return merged

    def _resolved(self, schema: object) -> Schema:
        """Follows references until something else is there."""
        seen: set[str] = set()
        while isinstance(schema, Mapping) and "$ref" in schema:
            place = _place(cast("Schema", schema)["$ref"])
            if place in seen:
                raise SchemaNotStrict("A reference leads back to itself.")
            seen.add(place)
            schema = self._at(place)
        if not isinstance(schema, Mapping):
            raise SchemaNotStrict("A part of it is no schema.")
        return cast("Schema", schema)

    def _reference(self, ref: object) -> str:
        place = _place(ref)
        self._at(place)
        if not place:
            return "#"
        used_names = set(self._names.values())
        last = "".join(each if each.isalnum() and each.isascii() else "_" for each in place.rpartition("/")[2])
        candidates = (last if not number else f"{last}_{number}" for number in range(len(used_names) + 1))
        name = self._names.setdefault(place, next(each for each in candidates if each not in used_names))
        return f"#/$defs/{name}"

    def _at(self, place: str) -> object:
        node: object = self._root
        for part in place.split("/")[1:]:
            node = _inside(node, unquote(part).replace("~1", "/").replace("~0", "~"))
        return node


def _inside(node: object, step: str) -> object:
    named = dict(cast("Mapping[Any, Any]", node)) if isinstance(node, Mapping) else {}
    if isinstance(node, list | tuple):
        named = {str(index): each for index, each in enumerate(cast("list[Any]", node))}
    if step not in named:
        raise SchemaNotStrict("A reference leads nowhere.")
    return named[step]


def _place(ref: object) -> str:
    if not isinstance(ref, str) or not (ref == "#" or ref.startswith("#/")):
        raise SchemaNotStrict("A reference must stay inside its schema.")
    return ref[1:]


def _properties(schema: Schema) -> Schema:
    properties = schema.get("properties")
    return cast("Schema", properties) if isinstance(properties, Mapping) else {}


def _kinds(schema: Schema) -> list[str]:
    said = schema.get("type", "object" if "properties" in schema else "array" if "items" in schema else None)
    kinds = [said] if isinstance(said, str) else list(cast("list[Any]", said)) if isinstance(said, list | tuple) else []
    if not kinds or any(kind not in _TYPES for kind in kinds):
        raise SchemaNotStrict("A value must say of what type it is.")
    return list(dict.fromkeys(kinds))


def _literals(schema: Schema) -> dict[str, Any]:
    """The allowed values with their types, which some vendors demand beside them."""
    given = schema["enum"] if "enum" in schema else [schema["const"]]
    values = list(cast("list[Any]", given)) if isinstance(given, list | tuple) else []
    kinds = list(dict.fromkeys(_kind_of(value) for value in values))
    if not kinds:
        raise SchemaNotStrict("A list of allowed values must hold texts, numbers, true, false or null.")
    options: list[dict[str, Any]] = [
        {"type": kind, "enum": [value for value in values if _kind_of(value) == kind]} for kind in kinds
    ]
    return options[0] if len(options) == 1 else {"anyOf": options}


def _kind_of(value: object) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return "boolean"
        case str():
            return "string"
        case int():
            return "integer"
        case float():
            return "number"
        case _:
            raise SchemaNotStrict("A list of allowed values must hold texts, numbers, true, false or null.")
