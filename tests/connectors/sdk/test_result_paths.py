"""Paths of a manifest are compared with what a tool declares that it returns."""

import pytest

from gaby_connectors.sdk.manifest import Audience, ResultLabel, ToolManifest
from gaby_connectors.sdk.result_paths import PathFinding, declared_paths, find_path

ORDER = {
    "type": "object",
    "properties": {"id": {"type": "string"}, "customer": {"$ref": "#/$defs/Customer"}, "extra": {"type": "object"}},
}
SCHEMA = {
    "type": "object",
    "properties": {
        "orders": {"type": "array", "items": {"$ref": "#/$defs/Order"}},
        "next": {"anyOf": [{"type": "null"}, {"$ref": "#/$defs/Order"}]},
        "by_name": {"type": "object", "additionalProperties": {"$ref": "#/$defs/Customer"}},
        "loop": {"$ref": "#/$defs/Loop"},
        "open": {},
        "names": {"type": "array"},
    },
    "$defs": {
        "Order": ORDER,
        "Customer": {"type": "object", "properties": {"email": {"type": "string"}}},
        "Loop": {"anyOf": [{"$ref": "#/$defs/Loop"}, {"properties": {"again": {"$ref": "#/$defs/Loop"}}}]},
    },
}


@pytest.mark.promise("M3", "S16")
@pytest.mark.parametrize(
    ("path", "finding"),
    [
        ("orders", "found"),
        ("orders[].id", "found"),
        ("orders[].customer.email", "found"),
        ("orders[].customer.mail", "absent"),
        ("orders.id", "absent"),
        ("orders[].id[]", "absent"),
        ("[].id", "absent"),
        ("next.id", "found"),
        ("next.number", "absent"),
        ("by_name.ada.email", "found"),
        ("*", "found"),
        ("orders[].*", "found"),
        ("orders[].extra.anything", "unknown"),
        ("open.x", "unknown"),
        ("names[]", "unknown"),
        ("loop.again.again.again", "found"),
        ("loop.other", "absent"),
        (".".join(["loop", *["again"] * 60]), "unknown"),
    ],
)
def test_a_path_is_there_or_not_or_nobody_can_say(path: str, finding: PathFinding) -> None:
    assert find_path(SCHEMA, path) == finding


def test_without_a_schema_nobody_can_say() -> None:
    assert find_path(None, "orders[].id") == "unknown"
    assert find_path({"$ref": "#/nowhere"}, "id") == "absent"
    assert find_path({"$ref": "#"}, "id") == "absent"


def test_alternatives_of_alternatives_do_not_multiply() -> None:
    names = [f"a{number}" for number in range(40)]
    inside = {"anyOf": [{"$ref": f"#/$defs/{name}"} for name in names]}
    looping = {"anyOf": [inside] * 40, "properties": {"x": inside}}
    schema = {"$defs": dict.fromkeys(names, looping), **inside}
    assert find_path(schema, ".".join(["x"] * 10)) == "found"
    assert find_path(schema, "y") == "absent"


def test_every_path_of_a_manifest_is_listed_with_its_field() -> None:
    manifest = ToolManifest(
        scope="read",
        results={"a": ResultLabel.SYSTEM},
        result_kinds={"b": "order"},
        readers={"c": Audience.PUBLIC},
        redact=("d",),
        owner={"e[]": "customer.email"},
    )
    assert list(declared_paths(manifest)) == [
        ("results", "a", "a"),
        ("result_kinds", "b", "b"),
        ("readers", "c", "c"),
        ("redact", 0, "d"),
        ("owner", "e[]", "e[]"),
        ("owner", "e[]", "e[].customer.email"),
    ]
