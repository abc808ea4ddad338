"""Schemas for strict modes: closed, all required, with nothing that vendors do not know, and no broader than before."""

import copy
from typing import Any

import jsonschema_rs
import pytest
from hypothesis import given
from pydantic import BaseModel, Field

from gaby.llm.providers.strict_schemas import SchemaNotStrict, plain, strict_schema
from tests.llm.providers.strategies import FINE_PRINT, closed_schemas, hostile_schemas, values
from tests.support.models.schemas import objection

pytestmark = pytest.mark.promise("G1")


class Claim(BaseModel):
    text: str = Field(min_length=1, max_length=300, description="One sentence.")
    source: str | None = None
    weight: float = Field(default=0.5, ge=0, le=1)
    tags: list[str] = Field(default_factory=list[str], max_length=5)


class Tree(BaseModel):
    claim: Claim
    children: list["Tree"] = Field(default_factory=list["Tree"])
    kind: str = Field(default="leaf", pattern="^[a-z]+$")


def test_fine_print_goes_and_everything_is_required() -> None:
    made = strict_schema(Claim.model_json_schema())
    assert objection(made) is None
    assert made["required"] == ["text", "source", "weight", "tags"]
    assert made["properties"]["text"] == {"type": "string", "title": "Text", "description": "One sentence."}
    assert made["properties"]["source"]["anyOf"] == [{"type": "string"}, {"type": "null"}]


def test_schemas_that_contain_themselves_stay_so() -> None:
    made = strict_schema(Tree.model_json_schema())
    assert objection(made) is None
    assert made["properties"]["children"]["items"] == {"$ref": "#/$defs/Tree"}
    example: dict[str, Any] = {
        "claim": {"text": "x", "source": None, "weight": 1, "tags": []},
        "children": [],
        "kind": "leaf",
    }
    assert jsonschema_rs.is_valid(made, {**example, "children": [example]})
    assert not jsonschema_rs.is_valid(made, {**example, "children": [{}]})


def test_parts_are_merged_and_references_among_them_resolved() -> None:
    schema = {
        "$ref": "#/definitions/Whole",
        "definitions": {
            "Base": {"type": "object", "properties": {"id": {"type": "integer"}}},
            "Whole": {"allOf": [{"$ref": "#/definitions/Base"}, {"properties": {"name": {"type": "string"}}}]},
        },
    }
    made = strict_schema(schema)
    assert objection(made) is None
    assert sorted(made["required"]) == ["id", "name"]


def test_values_of_several_types_are_told_apart() -> None:
    schema = {
        "type": "object",
        "properties": {
            "a": {"type": ["string", "null"], "maxLength": 3},
            "b": {"enum": ["x", 1, None, True]},
            "c": {"const": "only"},
            "d": {"oneOf": [{"type": "string"}, {"type": "array", "items": {"type": "integer"}}]},
        },
    }
    made = strict_schema(schema)
    assert objection(made) is None
    assert made["properties"]["a"] == {"anyOf": [{"type": "string"}, {"type": "null"}]}
    assert made["properties"]["c"] == {"type": "string", "enum": ["only"]}


OPEN: dict[str, Any] = {
    "anything": {},
    "true": True,
    "a free object": {"type": "object"},
    "an object of free names": {"type": "object", "additionalProperties": {"type": "string"}},
    "names by a pattern": {"type": "object", "properties": {}, "patternProperties": {"^x": {"type": "string"}}},
    "a list of anything": {"type": "array"},
    "a tuple": {"type": "array", "prefixItems": [{"type": "string"}], "items": {"type": "string"}},
    "no choice": {"enum": []},
    "objects as values": {"enum": [{"a": 1}]},
    "an unknown type": {"type": "date"},
    "another server": {"$ref": "https://schemas.example/verdict.json"},
    "a file": {"$ref": "file:///etc/passwd"},
    "nowhere": {"$ref": "#/$defs/Missing"},
    "no schema": {"$ref": "#/properties/x/title"},
    "itself": {"$ref": "#/properties/x"},
    "a circle of parts": {"allOf": [{"$ref": "#/properties/x"}]},
}


@pytest.mark.parametrize("what", OPEN)
def test_what_leaves_open_what_may_come_cannot_be_demanded(what: str) -> None:
    schema = {"type": "object", "properties": {"x": OPEN[what], "y": {"type": "string", "title": "no schema"}}}
    with pytest.raises(SchemaNotStrict):
        strict_schema(schema)


@pytest.mark.parametrize(
    "root", [{"type": "string"}, {"type": "array", "items": {"type": "string"}}, {}, {"$ref": "#"}]
)
def test_an_answer_is_an_object(root: dict[str, Any]) -> None:
    with pytest.raises(SchemaNotStrict):
        strict_schema(root)


def test_depth_has_an_end() -> None:
    schema: dict[str, Any] = {"type": "string"}
    for _ in range(5000):
        schema = {"type": "object", "properties": {"x": schema}}
    with pytest.raises(SchemaNotStrict, match="deeply"):
        strict_schema(schema)


@given(closed_schemas())
def test_every_schema_that_can_be_demanded_is_accepted_and_left_alone(schema: dict[str, Any]) -> None:
    before = copy.deepcopy(schema)
    made = strict_schema(schema)
    assert schema == before
    assert objection(made) is None
    jsonschema_rs.validator_for(made)


def without_fine_print(schema: Any) -> Any:
    if isinstance(schema, list):
        return [without_fine_print(each) for each in plain(schema)]
    if not isinstance(schema, dict):
        return schema
    return {key: without_fine_print(value) for key, value in plain(schema).items() if key not in FINE_PRINT}


@given(closed_schemas(), values)
def test_what_fits_the_strict_schema_fits_the_original(schema: dict[str, Any], value: Any) -> None:
    if jsonschema_rs.is_valid(strict_schema(schema), value):
        assert jsonschema_rs.is_valid(without_fine_print(schema), value)


@given(hostile_schemas)
def test_no_schema_is_too_hostile(schema: dict[str, Any]) -> None:
    try:
        made = strict_schema(schema)
    except SchemaNotStrict:
        return
    assert objection(made) is None
