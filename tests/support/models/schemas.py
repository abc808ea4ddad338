"""Whether a JSON schema is one that strict modes accept, found out independently of the code that makes them."""

from typing import Any, cast

_COMMON = {"title", "description"}
_ALLOWED = {
    "object": {"type", "properties", "required", "additionalProperties"},
    "array": {"type", "items"},
    **{kind: {"type", "enum"} for kind in ("string", "number", "integer", "boolean", "null")},
}


def objection(schema: Any) -> str | None:
    """What a vendor would say against it."""
    if not isinstance(schema, dict):
        return "schema must be a JSON Schema of 'type: \"object\"'"
    root = cast("dict[str, Any]", schema)
    if root.get("type") != "object":
        return "schema must be a JSON Schema of 'type: \"object\"'"
    defs: dict[str, Any] = root.get("$defs", {})
    parts = [_node({key: value for key, value in root.items() if key != "$defs"}, defs)]
    return next((found for found in [*parts, *(_node(each, defs) for each in defs.values())] if found), None)


def _node(schema: Any, defs: dict[str, Any]) -> str | None:
    if not isinstance(schema, dict):
        return f"{schema!r} is not of type 'object'"
    node = cast("dict[str, Any]", schema)
    if "$ref" in node:
        return _reference(node, defs)
    if "anyOf" in node:
        return _extra(node, {"anyOf"}) or _first(node["anyOf"], defs)
    kind = node.get("type")
    if kind not in _ALLOWED:
        return "schema must have a 'type' key"
    found = _extra(node, _ALLOWED[kind])
    if found is None and kind == "object":
        found = _object(node, defs)
    if found is None and kind == "array":
        found = _node(node.get("items"), defs)
    return found


def _object(node: dict[str, Any], defs: dict[str, Any]) -> str | None:
    if node.get("additionalProperties") is not False:
        return "'additionalProperties' is required to be supplied and to be false"
    properties: dict[str, Any] = node.get("properties", {})
    if sorted(node.get("required", [])) != sorted(properties):
        return "'required' is required to be supplied and to be an array including every key in properties"
    return _first(list(properties.values()), defs)


def _reference(node: dict[str, Any], defs: dict[str, Any]) -> str | None:
    if set(node) != {"$ref"}:
        return "$ref cannot have keywords beside it"
    name = str(node["$ref"]).removeprefix("#/$defs/")
    return None if node["$ref"] == "#" or name in defs else f"reference to {node['$ref']!r} cannot be resolved"


def _extra(node: dict[str, Any], allowed: set[str]) -> str | None:
    unknown = sorted(set(node) - allowed - _COMMON)
    return f"property '{unknown[0]}' is not supported" if unknown else None


def _first(schemas: list[Any], defs: dict[str, Any]) -> str | None:
    return next((found for each in schemas if (found := _node(each, defs))), None)
