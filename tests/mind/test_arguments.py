"""Arguments come out of the text or the schema, never out of nothing, and always fit the schema."""

from typing import Any, cast

import jsonschema_rs
import pytest
from hypothesis import given

from gaby.mind.arguments import Filled, fill
from gaby.mind.entities import extract
from tests.mind.strategies import hostile_texts, schemas

pytestmark = pytest.mark.promise("G2", "L4")

STRING = {"type": "string"}
EMAIL = {"type": "string", "format": "email"}


def schema(required: tuple[str, ...] = (), **properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": list(required), "additionalProperties": False}


def filled(text: str, wanted: dict[str, Any]) -> Filled:
    return fill(wanted, extract(text), text)


@pytest.mark.parametrize(
    ("text", "name", "declared", "value"),
    [
        ("mail ada@acme.example", "email", EMAIL, "ada@acme.example"),
        ("see usr_001 or INV-7", "user_id", {"type": "string", "pattern": r"^usr_\d{3,}$"}, "usr_001"),
        ("about B-20871", "bill", {"type": "string", "description": "A bill, such as B-11."}, "B-20871"),
        ("invoice 88213", "invoice_id", STRING, "88213"),
        ("order 88213", "orderNumber", {"type": "integer"}, 88213),
        ("since 12 March 2026", "since", {"type": "string", "format": "date"}, "2026-03-12"),
        ("on 2026-03-12T10:14:05Z", "at_time", {"type": "string", "format": "date-time"}, "2026-03-12T10:14:05Z"),
        ("refund 1.234,56 EUR", "amount", {"type": "number"}, 1234.56),
        ("refund $20", "currency", {"type": "string", "enum": ["EUR", "USD"]}, "USD"),
        ("status 503", "status_code", {"type": "integer"}, 503),
        ("48 hours back", "hours", {"type": "integer", "maximum": 72}, 48),
        ("severity critical", "severity", {"enum": ["info", "critical"]}, "critical"),
        ("region: eu-west-1", "region", STRING, "eu-west-1"),
        ("the queue billing-dlq is full", "queue", STRING, "billing-dlq"),
        ('the group "Site leads"', "group_name", STRING, "Site leads"),
        ("port 5432 is closed", "port", {"type": "integer"}, 5432),
        ("ask Ingrid Solberg", "full_name", STRING, "Ingrid Solberg"),
        ("from lou@birch.example", "domain", STRING, "birch.example"),
        ("user jsmith cannot", "username", STRING, "jsmith"),
        ("mail ada@acme.example", "email", {"anyOf": [EMAIL, {"type": "null"}]}, "ada@acme.example"),
        ("mail ada@acme.example", "email", {"type": ["string", "null"]}, "ada@acme.example"),
        (
            "a@acme.example, b@acme.example",
            "to",
            {"type": "array", "items": EMAIL},
            ["a@acme.example", "b@acme.example"],
        ),
        ("unlock [email:1-k7qd2m]", "email", EMAIL, "[email:1-k7qd2m]"),
    ],
)
def test_a_parameter_is_filled_by_its_name_format_pattern_list_type_or_example(
    text: str, name: str, declared: dict[str, Any], value: object
) -> None:
    result = filled(text, schema((name,), **{name: declared}))
    assert result.arguments == {name: value}
    assert result.missing == ()


@pytest.mark.parametrize(
    ("text", "name", "declared"),
    [
        ("nothing here", "email", EMAIL),
        ("order ORD-77", "user_id", STRING),
        ("it is about ORD-77", "user_id", STRING),
        ("about #4711", "user_id", STRING),
        ("invoice 88213", "order_id", STRING),
        ("on 03/04/2026", "date", {"type": "string", "format": "date"}),
        ("refund 20 EUR", "amount_cents", {"type": "integer"}),
        ("refund 20 EUR", "amount", {"type": "number", "minimum": 50}),
        ("for 2 hours", "minutes", {"type": "integer"}),
        ("the battery is low", "priority", {"enum": ["low", "high"]}),
        ("from team to business", "plan", {"enum": ["team", "business"]}),
        ("run a report", "sql", {"type": "string", "description": "A SQL statement."}),
        ("tell them", "message", STRING),
        ("I cannot open it", "only_open", {"type": "boolean"}),
        ("ada@acme.example", "emails", {"type": "array", "items": EMAIL, "minItems": 2}),
        ("password: hunter2x-7", "query", STRING),
    ],
)
def test_what_the_text_does_not_say_is_missing_and_not_guessed(text: str, name: str, declared: dict[str, Any]) -> None:
    result = filled(text, schema((name,), **{name: declared}))
    assert result.arguments == {}
    assert result.missing == (name,)


def test_a_span_of_time_keeps_its_ends_apart() -> None:
    day = {"type": "string", "format": "date"}
    result = filled("between 2026-03-01 and 2026-03-05", schema(("start", "end"), end=day, start=day))
    assert result.arguments == {"end": "2026-03-05", "start": "2026-03-01"}


def test_a_value_that_does_not_fit_makes_room_for_one_that_does() -> None:
    short = {"type": "string", "format": "email", "maxLength": 12}
    assert filled("a.very.long.name@acme.example or a@b.example", schema(("email",), email=short)).arguments == {
        "email": "a@b.example"
    }


def test_one_value_is_not_given_to_two_parameters() -> None:
    result = filled("mail ada@acme.example", schema(("from_email", "to_email"), from_email=EMAIL, to_email=EMAIL))
    assert len(result.arguments) == len(result.missing) == 1


def test_an_amount_and_its_currency_stand_in_the_same_place() -> None:
    result = filled("charged 249.00 USD", schema(("amount", "currency"), amount={"type": "number"}, currency=STRING))
    assert result.arguments == {"amount": 249.0, "currency": "USD"}
    assert {origin.quote for origin in result.origins} == {"249.00 USD"}


def test_what_is_optional_is_filled_only_when_it_is_plain() -> None:
    wanted = schema((), customer=STRING, limit={"type": "integer", "default": 20}, query=STRING)
    assert filled("it is all very slow", wanted).arguments == {}


def test_a_nested_object_is_filled_whole_or_not_at_all() -> None:
    inner = {"type": "object", "properties": {"email": EMAIL, "phone": STRING}, "required": ["email"]}
    wanted = schema(("contact",), contact=inner)
    assert filled("ada@acme.example", wanted).arguments == {"contact": {"email": "ada@acme.example"}}
    result = filled("+44 20 7946 0958", wanted)
    assert (result.arguments, result.missing) == ({}, ("contact.email",))


def test_defaults_and_constants_are_the_schemas_own_words() -> None:
    wanted = schema(("format", "size"), format={"const": "json"}, size={"type": "integer", "default": 50})
    result = filled("please", wanted)
    assert result.arguments == {"format": "json", "size": 50}
    assert {(origin.argument, origin.source) for origin in result.origins} == {("format", "schema"), ("size", "schema")}


def test_one_of_several_parameters_is_enough_where_the_schema_says_so() -> None:
    wanted = {
        "type": "object",
        "properties": {"email": EMAIL, "id": STRING},
        "anyOf": [{"required": ["email"]}, {"required": ["id"]}],
    }
    assert filled("ada@acme.example", wanted) == Filled(
        {"email": "ada@acme.example"}, (), filled("ada@acme.example", wanted).origins
    )
    assert filled("nobody", wanted).missing == ("email or id",)


def test_yes_and_no_are_heard() -> None:
    flags = {"include_closed": {"type": "boolean"}, "archived": {"type": "boolean"}}
    assert filled("including closed ones, not archived", schema((), **flags)).arguments == {
        "include_closed": True,
        "archived": False,
    }


def test_what_to_search_for_is_the_most_telling_value_or_else_the_sentence() -> None:
    wanted = schema(("query",), query={"type": "string", "minLength": 2, "maxLength": 60})
    assert filled("Adding a till fails with LF-409 since today.", wanted).arguments == {"query": "LF-409"}
    assert filled("Hello,\nthe export is empty.\nThanks", wanted).arguments == {"query": "the export is empty."}


def test_a_reference_is_followed_inside_of_the_schema_only() -> None:
    inside = schema(("mail",), mail={"$ref": "#/$defs/Mail"}) | {"$defs": {"Mail": EMAIL}}
    assert filled("ada@acme.example", inside).arguments == {"mail": "ada@acme.example"}
    outside = schema(("mail",), mail={"$ref": "https://evil.example/schema.json"})
    assert filled("ada@acme.example", outside).missing == ("mail",)


def test_arguments_that_do_not_go_together_are_given_up_the_needless_first() -> None:
    wanted = schema(("email",), email=EMAIL, host=STRING) | {"maxProperties": 1}
    assert filled("ada@acme.example on host db-01", wanted).arguments == {"email": "ada@acme.example"}


def without_required(value: Any) -> Any:
    """The schema for the filled part: nothing has to be there any more."""
    if isinstance(value, dict):
        items = cast("dict[str, Any]", value).items()
        return {key: without_required(inner) for key, inner in items if key not in {"required", "default"}}
    return [without_required(inner) for inner in cast("list[Any]", value)] if isinstance(value, list) else value


@given(wanted=schemas, text=hostile_texts)
def test_whatever_the_schema_and_the_text_what_is_filled_is_valid_and_has_an_origin(
    wanted: dict[str, Any], text: str
) -> None:
    result = fill(wanted, extract(text), text)
    if result.arguments:
        assert jsonschema_rs.validator_for(without_required(wanted), validate_formats=False).is_valid(result.arguments)
    assert {origin.argument.partition(".")[0] for origin in result.origins} == set(result.arguments)
    for origin in result.origins:
        assert origin.source == "schema" or text[origin.start : origin.end] == origin.quote != ""
    tops = {name for name in wanted.get("required", ()) if name not in result.arguments}
    assert {name.partition(".")[0] for name in result.missing} == tops
    assert fill(wanted, extract(text), text) == result
