"""Schemas of tools: what is declared behind references, alternatives and conditions is found, and nothing is loaded."""

import pytest

from gaby.safety.schemas import options_of, properties_of, resolved, schemas_below

pytestmark = pytest.mark.promise("S9")
TEXT = {"type": "string"}
INSIDE = "items additionalProperties contains not if then else unevaluatedProperties"
LISTS_INSIDE = "allOf anyOf oneOf prefixItems"
NAMED_INSIDE = "properties patternProperties dependentSchemas"


@pytest.mark.parametrize(
    "declared",
    [
        *[{name: TEXT} for name in INSIDE.split()],
        *[{name: [TEXT]} for name in LISTS_INSIDE.split()],
        *[{name: (TEXT,)} for name in LISTS_INSIDE.split()],
        *[{name: {"x": TEXT}} for name in NAMED_INSIDE.split()],
    ],
)
def test_a_schema_is_found_below_every_keyword_that_can_hold_one(declared: dict[str, object]) -> None:
    assert [below for _, below in schemas_below(declared, {})] == [TEXT]
    assert [below for _, below in schemas_below({"items": declared}, {})] == [declared, TEXT]


@pytest.mark.parametrize("keyword", ["title", "default", "examples", "enum", "const"])
def test_below_a_keyword_that_holds_values_there_is_no_schema(keyword: str) -> None:
    assert list(schemas_below({keyword: {"x": TEXT}}, {})) == []


@pytest.mark.parametrize("keyword", ["allOf", "anyOf", "oneOf"])
def test_the_fields_of_an_object_come_from_all_its_alternatives(keyword: str) -> None:
    whole = {"properties": {"a": TEXT}, keyword: [{"properties": {"b": TEXT}}, {"properties": {"c": TEXT}}]}
    assert properties_of(whole, whole) == {"a": TEXT, "b": TEXT, "c": TEXT}


def test_a_field_of_the_object_itself_counts_before_one_of_an_alternative() -> None:
    whole = {"properties": {"a": TEXT}, "allOf": [{"properties": {"a": {"type": "integer"}}}]}
    assert properties_of(whole, whole) == {"a": TEXT}


def test_alternatives_of_a_value_are_its_options() -> None:
    assert options_of({"anyOf": [TEXT], "oneOf": [{"type": "null"}], "allOf": [{"type": "object"}]}) == [
        TEXT,
        {"type": "null"},
    ]


DOCUMENT = {
    "$defs": {
        "Kind": {"enum": ["r", "rw"], "title": "a kind"},
        "of/file~s": TEXT,
        "of~1file": {"type": "integer"},
        "Again": {"$ref": "#/$defs/Kind"},
        "Loop": {"$ref": "#/$defs/Loop"},
    }
}


@pytest.mark.parametrize(
    ("place", "found"),
    [
        ("#/$defs/Kind", DOCUMENT["$defs"]["Kind"]),
        ("#/$defs/Again", DOCUMENT["$defs"]["Kind"]),
        ("#/$defs/of~1file~0s", TEXT),
        ("#/$defs/of~01file", {"type": "integer"}),
        ("#", DOCUMENT),
        ("#/$defs/Nothing", {}),
        ("#/$defs/Kind/title/a", {}),
        ("#/$defs/Kind/enum/r", {}),
        ("#/$defs/Loop", {}),
        ("Kind", {}),
        ("https://evil.example/schema.json", {}),
        ("https://evil.example/#/$defs/Kind", {}),
        ("", {}),
    ],
)
def test_a_reference_leads_to_a_place_inside_the_document_or_to_nothing(place: str, found: object) -> None:
    assert resolved({"$ref": place}, DOCUMENT) == found


def test_what_stands_beside_a_reference_holds_as_well() -> None:
    assert resolved({"$ref": "#/$defs/Kind", "title": "another", "format": "uri"}, DOCUMENT) == {
        "enum": ["r", "rw"],
        "title": "another",
        "format": "uri",
    }


def test_eleven_references_in_a_row_are_followed_and_no_more() -> None:
    chain: dict[str, object] = {str(number): {"$ref": f"#/$defs/{number + 1}"} for number in range(12)}
    document = {"$defs": {**chain, "12": TEXT}}
    assert resolved({"$ref": "#/$defs/2"}, document) == TEXT
    assert resolved({"$ref": "#/$defs/1"}, document) == {}


def test_alternatives_that_refer_to_each_other_are_read_once() -> None:
    document = {
        "$defs": {
            "A": {"properties": {"a": TEXT}, "anyOf": [{"$ref": "#/$defs/B"}]},
            "B": {"properties": {"b": TEXT}, "anyOf": [{"$ref": "#/$defs/A"}]},
        }
    }
    assert properties_of({"$ref": "#/$defs/A"}, document) == {"a": TEXT, "b": TEXT}
    assert [name for name, _ in schemas_below({"$ref": "#/$defs/A"}, document)] == ["a", None, "b", None]
