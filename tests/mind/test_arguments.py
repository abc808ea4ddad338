"""Which arguments of a tool the values of a text could fill, and which values may stand in them."""

from typing import Any

import pytest
from hypothesis import given

from gaby.mind.arguments.feasibility import unfilled
from gaby.mind.arguments.slots import slots_of
from gaby.mind.arguments.validation import fits
from gaby.mind.entities import extract
from tests.mind.strategies import hostile_texts, schemas

pytestmark = pytest.mark.promise("G2", "L4")

STRING = {"type": "string"}
EMAIL = {"type": "string", "format": "email"}


def schema(name: str, declared: dict[str, Any]) -> dict[str, Any]:
    return {"type": "object", "properties": {name: declared}, "required": [name], "$defs": {"Mail": EMAIL}}


@pytest.mark.parametrize(
    ("text", "name", "declared"),
    [
        ("mail ada@acme.example", "email", EMAIL),
        ("mail ada@acme.example", "email", {"anyOf": [EMAIL, {"type": "null"}]}),
        ("mail ada@acme.example", "mail", {"$ref": "#/$defs/Mail"}),
        ("invoice 88213", "invoice_id", STRING),
        ("it is INV-2041", "invoice_id", STRING),
        ("status 503", "status_code", {"type": "integer"}),
        ("48 hours back", "hours", {"type": "integer"}),
        ("refund 20 EUR", "amount", {"type": "number"}),
        ("nothing here", "query", STRING),
        ("nothing here", "severity", {"enum": ["info", "critical"]}),
        ("nothing here", "size", {"type": "integer", "default": 50}),
    ],
)
def test_a_value_suits_a_parameter_by_its_name_format_prefix_or_unit(
    text: str, name: str, declared: dict[str, Any]
) -> None:
    assert unfilled(schema(name, declared), extract(text)) == ()


@pytest.mark.parametrize(
    ("text", "name", "declared"),
    [
        ("nothing here", "email", EMAIL),
        ("order ORD-77", "user_id", STRING),
        ("it is about ORD-77", "user_id", STRING),
        ("about #4711", "user_id", STRING),
        ("invoice 88213", "order_id", STRING),
        ("refund 20 EUR", "amount_cents", {"type": "integer"}),
        ("for 2 hours", "minutes", {"type": "integer"}),
    ],
)
def test_a_value_of_something_else_suits_none(text: str, name: str, declared: dict[str, Any]) -> None:
    assert unfilled(schema(name, declared), extract(text)) == (name,)


@pytest.mark.parametrize(
    ("declared", "value", "may"),
    [
        (EMAIL, "ada@acme.example", True),
        (EMAIL, "ada", False),
        (EMAIL, "[email:1-k7qd2m]", True),
        ({"$ref": "#/$defs/Mail"}, "ada", False),
        ({"type": "string", "pattern": r"^usr_\d{3,}$"}, "usr_001", True),
        ({"type": "number", "minimum": 50}, 20, False),
        ({"type": "nonsense"}, 20, False),
    ],
)
def test_a_value_fits_when_the_schema_takes_it_and_a_placeholder_by_more_than_its_form(
    declared: dict[str, Any], value: object, may: bool
) -> None:
    wanted = schema("argument", declared)
    ((slot,),) = slots_of(wanted, wanted)
    assert fits(slot, value) is may


def test_a_reference_is_followed_inside_of_the_schema_only() -> None:
    outside = schema("mail", {"$ref": "https://evil.example/schema.json"})
    assert list(slots_of(outside, outside)) == [[]]


@given(wanted=schemas, text=hostile_texts)
def test_any_schema_and_any_text_are_looked_at_without_complaint(wanted: dict[str, Any], text: str) -> None:
    entities = extract(text)
    open_ones = unfilled(wanted, entities)
    assert set(open_ones) <= set(wanted.get("required", ()))
    assert unfilled(wanted, entities) == open_ones
