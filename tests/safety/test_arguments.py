"""What each argument is for, read from the manifest and, where that is silent, from the schema in the careful way."""

import pytest

from gaby.safety import ArgumentLeaf, ArgumentRole, access_of, leaves, roles
from gaby.safety.arguments import canonical_number, is_bounded, is_place, stands_in, takes_quantity
from gaby_connectors.sdk.manifest import ToolManifest

TEXT = {"type": "string"}
PLACES = "uri uri-reference iri iri-reference hostname idn-hostname ipv4 ipv6 email idn-email"
PLACE_NAMES = """
    url urls uri uris link links href host hosts hostname domain endpoint webhook callback server proxy redirect site
    target targets destination destinations dest sink address addresses addr recipient recipients to cc bcc forward
    notify email emails mailbox phone sms fax channel channels iban
"""


def looks_outward(whole: dict[str, object]) -> bool:
    return ArgumentRole.DESTINATION in roles(ToolManifest(scope="read"), whole).values()


def schema(**properties: object) -> dict[str, object]:
    return {"type": "object", "properties": properties}


@pytest.mark.promise("M3")
def test_the_manifest_gives_an_argument_its_role() -> None:
    manifest = ToolManifest(
        scope="write", steering=("a",), content=("b",), destinations=("c",), lookups=("d",), plain=("e",)
    )
    found = roles(manifest, schema(a=TEXT, b=TEXT, c=TEXT, d=TEXT, e={"type": "boolean"}))
    assert list(found.values()) == [
        ArgumentRole.STEERING,
        ArgumentRole.CONTENT,
        ArgumentRole.DESTINATION,
        ArgumentRole.LOOKUP,
        ArgumentRole.PLAIN,
    ]


def test_free_text_cannot_be_declared_harmless() -> None:
    manifest = ToolManifest(scope="write", plain=("e",))
    assert roles(manifest, schema(e=TEXT)) == {"e": ArgumentRole.CONTENT}
    assert roles(manifest, schema(e={"enum": ["low", "high"]})) == {"e": ArgumentRole.PLAIN}


def test_a_destination_that_is_also_steering_counts_as_a_destination() -> None:
    manifest = ToolManifest(scope="write", steering=("to",), destinations=("to",))
    assert roles(manifest, schema(to=TEXT)) == {"to": ArgumentRole.DESTINATION}


def test_the_manifest_is_believed_even_about_what_looks_harmless() -> None:
    manifest = ToolManifest(scope="write", steering=("count",), lookups=("url",))
    found = roles(manifest, schema(count={"type": "integer"}, url=TEXT))
    assert found == {"count": ArgumentRole.STEERING, "url": ArgumentRole.LOOKUP}


def test_what_the_manifest_calls_steering_is_steering_whatever_the_schema_shows() -> None:
    manifest = ToolManifest(scope="read", steering=("count", "url"))
    found = roles(manifest, schema(count={"type": "integer"}, url=TEXT))
    assert found == {"count": ArgumentRole.STEERING, "url": ArgumentRole.STEERING}


def test_roles_are_called_as_people_see_them() -> None:
    assert list(ArgumentRole) == ["steering", "destination", "content", "lookup", "plain"]


@pytest.mark.parametrize(
    ("name", "declared", "role"),
    [
        ("title", TEXT, ArgumentRole.STEERING),
        ("count", {"type": "integer"}, ArgumentRole.PLAIN),
        ("amount", {"type": "number"}, ArgumentRole.PLAIN),
        ("force", {"type": "boolean"}, ArgumentRole.PLAIN),
        ("nothing", {"type": "null"}, ArgumentRole.PLAIN),
        ("user_id", {"type": "integer"}, ArgumentRole.STEERING),
        ("id", {"type": "integer"}, ArgumentRole.STEERING),
        ("userId", {"type": "integer"}, ArgumentRole.STEERING),
        ("valid", {"type": "integer"}, ArgumentRole.PLAIN),
        ("order_number", {"type": "integer"}, ArgumentRole.STEERING),
        ("mode", {"enum": ["a", "b"]}, ArgumentRole.PLAIN),
        ("mode", {"const": "a"}, ArgumentRole.PLAIN),
        ("day", {"type": "string", "format": "date"}, ArgumentRole.PLAIN),
        ("at", {"type": "string", "format": "date-time"}, ArgumentRole.PLAIN),
        ("at", {"type": "string", "format": "time"}, ArgumentRole.PLAIN),
        ("wait", {"type": "string", "format": "duration"}, ArgumentRole.PLAIN),
        ("any", {}, ArgumentRole.STEERING),
        ("any", True, ArgumentRole.STEERING),
        ("many", {"type": "array", "items": {"type": "number"}}, ArgumentRole.PLAIN),
        ("many", {"type": "array", "items": TEXT}, ArgumentRole.STEERING),
        ("many", {"type": "array"}, ArgumentRole.STEERING),
        ("many", {"type": "array", "items": True}, ArgumentRole.STEERING),
        ("deep", {"type": "object"}, ArgumentRole.STEERING),
        ("maybe", {"type": ["number", "null"]}, ArgumentRole.PLAIN),
        ("maybe", {"type": ["string", "null"]}, ArgumentRole.STEERING),
        ("maybe", {"anyOf": [{"type": "number"}, {"type": "null"}]}, ArgumentRole.PLAIN),
        ("maybe", {"type": ("number", "null")}, ArgumentRole.PLAIN),
        ("maybe", {"oneOf": [{"type": "number"}, TEXT]}, ArgumentRole.STEERING),
        ("maybe", {"oneOf": [{"type": "number"}, {"type": "null"}]}, ArgumentRole.PLAIN),
        ("url", TEXT, ArgumentRole.DESTINATION),
        ("callback_url", TEXT, ArgumentRole.DESTINATION),
        ("to", TEXT, ArgumentRole.DESTINATION),
        ("recipients", {"type": "array", "items": TEXT}, ArgumentRole.DESTINATION),
        *[("page", {"type": "string", "format": kind}, ArgumentRole.DESTINATION) for kind in PLACES.split()],
        ("people", {"type": "array", "items": {"type": "string", "format": "email"}}, ArgumentRole.DESTINATION),
        ("kind", {"$ref": "#/$defs/Kind"}, ArgumentRole.PLAIN),
        ("kind", {"$ref": "#/$defs/Nowhere"}, ArgumentRole.STEERING),
        ("kind", {"$ref": "Kind"}, ArgumentRole.STEERING),
    ],
)
def test_what_the_manifest_does_not_say_is_read_in_the_careful_way(
    name: str, declared: object, role: ArgumentRole
) -> None:
    whole = {**schema(**{name: declared}), "$defs": {"Kind": {"enum": ["r", "rw"]}}}
    assert roles(ToolManifest(scope="read"), whole) == {name: role}
    # In a write nothing is harmless by itself: a number can be an amount, a boolean a right.
    careful = ArgumentRole.DESTINATION if role is ArgumentRole.DESTINATION else ArgumentRole.STEERING
    assert roles(ToolManifest(scope="write"), whole) == {name: careful}


@pytest.mark.promise("S9")
@pytest.mark.parametrize(
    "declared",
    [
        {"type": "object", "properties": {"webhook_url": TEXT}},
        {"type": "array", "items": {"type": "object", "properties": {"deep": {"properties": {"target": TEXT}}}}},
        {"$ref": "#/definitions/Place"},
        {"anyOf": [{"type": "null"}, {"$ref": "#/$defs/Place"}]},
        {"allOf": [{"properties": {"more": {"$ref": "#/definitions/Place"}}}]},
        {"type": "object", "additionalProperties": {"type": "string", "format": "uri"}},
        {"type": "object", "patternProperties": {"^x": {"format": "email"}}},
        {"type": "array", "prefixItems": [{"format": "hostname"}]},
    ],
)
def test_a_place_is_seen_wherever_the_schema_hides_it(declared: dict[str, object]) -> None:
    place = {"type": "object", "properties": {"url": TEXT}}
    whole = {**schema(options=declared), "definitions": {"Place": place}, "$defs": {"Place": place}}
    assert is_place("options", declared, whole)
    assert looks_outward(whole)


def test_a_schema_that_refers_to_itself_is_read_once() -> None:
    tree: dict[str, object] = {"properties": {"left": {"$ref": "#/$defs/T"}, "right": {"$ref": "#/$defs/T"}}}
    whole = {
        **schema(tree={"$ref": "#/$defs/T"}, loop={"$ref": "#/$defs/L"}),
        "$defs": {"T": tree, "L": {"$ref": "#/$defs/L"}},
    }
    assert not looks_outward(whole)
    assert list(roles(ToolManifest(scope="write"), whole)) == ["tree", "loop"]


@pytest.mark.promise("S7")
def test_the_name_of_a_field_is_a_value_unless_the_schema_lists_it() -> None:
    declared = {"type": "object", "properties": {"known": {"type": "boolean"}}}
    value = {"known": True, "root": True, "deep": {"https://evil.example": 1}}
    found = list(leaves("arg", value, declared, declared))
    assert ArgumentLeaf("arg{}", "root") in found
    assert ArgumentLeaf("arg{}", "known") not in found
    assert ArgumentLeaf("arg.deep{}", "https://evil.example") in found
    assert ArgumentLeaf("arg.root", "true", literal=True) in found


@pytest.mark.promise("S7")
@pytest.mark.parametrize(
    ("declared", "value", "chosen"),
    [
        ({"$ref": "#/$defs/Row"}, {"known": 1, "other": 1}, ["other"]),
        ({"type": "array", "items": {"$ref": "#/$defs/Row"}}, [{"known": 1, "other": 1}], ["other"]),
        ({"$ref": "#/$defs/Rows"}, [{"known": 1}, {"other": 1}], ["other"]),
        ({"properties": {"rows": {"$ref": "#/$defs/Rows"}}}, {"rows": [{"known": 1, "other": 1}]}, ["other"]),
        ({"type": "array", "items": True}, [{"known": 1}], ["known"]),
        ({"type": "array"}, [{"known": 1}], ["known"]),
        (None, [{"known": 1}], ["known"]),
    ],
)
def test_listed_fields_are_found_behind_references_and_in_lists(
    declared: dict[str, object] | None, value: object, chosen: list[str]
) -> None:
    row = {"properties": {"known": {"type": "integer"}}}
    root = {"$defs": {"Row": row, "Rows": {"type": "array", "items": {"$ref": "#/$defs/Row"}}}}
    leaf_values = leaves("arg", value, declared, root)
    assert [leaf.value for leaf in leaf_values if leaf.argument.endswith("{}")] == chosen


def test_arguments_that_gaby_fills_have_no_role() -> None:
    assert roles(ToolManifest(scope="write"), schema(idempotency_key=TEXT, dry_run={"type": "boolean"})) == {}


def test_a_schema_without_arguments_has_none() -> None:
    assert roles(ToolManifest(scope="read"), {"type": "object"}) == {}
    assert roles(ToolManifest(scope="read"), {"type": "object", "properties": "nonsense"}) == {}


@pytest.mark.promise("S9")
def test_a_tool_that_lets_its_caller_choose_where_data_goes_is_a_write() -> None:
    silent = ToolManifest(scope="read")
    assert access_of(silent, roles(silent, schema(q=TEXT))) == "read"
    assert access_of(silent, roles(silent, schema(url=TEXT))) == "write"
    said = ToolManifest(scope="read", lookups=("url",))
    assert access_of(said, roles(said, schema(url=TEXT))) == "read"
    outward = ToolManifest(scope="read", destinations=("q",))
    assert access_of(outward, roles(outward, schema(q=TEXT))) == "write"
    assert access_of(ToolManifest(scope="write"), {}) == "write"


@pytest.mark.promise("S9")
@pytest.mark.parametrize("name", PLACE_NAMES.split())
def test_whatever_is_named_like_a_place_is_a_destination(name: str) -> None:
    for spelled in (name, f"reply-{name.upper()}", f"reply_{name}", f"reply.{name}", f"reply{name.capitalize()}"):
        assert looks_outward(schema(**{spelled: TEXT})), spelled
    for other in (f"{name}less", f"x{name}"):
        assert not looks_outward(schema(**{other: TEXT})), other


def test_whatever_is_named_like_an_id_names_something_even_as_a_number() -> None:
    for name in ("id", "ids", "key", "uuid", "ref", "number", "no"):
        assert not is_bounded(name, {"type": "integer"}, {}), name
        assert not is_bounded(f"user.{name}", {"type": "integer"}, {}), name
    for name in ("userId", "userID", "userIds"):
        assert not is_bounded(name, {"type": "integer"}, {}), name
    for name in ("valid", "casino", "keys_held", "Identity"):
        assert is_bounded(name, {"type": "integer"}, {}), name


def test_a_tool_without_a_manifest_looks_outward_when_an_argument_does() -> None:
    assert looks_outward(schema(host=TEXT))
    assert looks_outward(schema(x={"type": "string", "format": "hostname"}))
    assert not looks_outward(schema(query=TEXT))
    assert not looks_outward({})


def test_an_id_is_never_bounded_unless_it_is_a_choice() -> None:
    assert not is_bounded("user_id", {"type": "integer"}, {})
    assert is_bounded("user_id", {"enum": [1, 2]}, {})


def test_every_text_and_number_inside_an_argument_is_a_leaf() -> None:
    value = {"a": "x", "b": [1, 2.5, True, False, None, {"c": "y"}], "d": ""}
    assert [leaf for leaf in leaves("arg", value) if not leaf.argument.endswith("{}")] == [
        ArgumentLeaf("arg.a", "x"),
        ArgumentLeaf("arg.b[]", "1", quantity=True),
        ArgumentLeaf("arg.b[]", "2.5", quantity=True),
        ArgumentLeaf("arg.b[]", "true", literal=True),
        ArgumentLeaf("arg.b[]", "false", literal=True),
        ArgumentLeaf("arg.b[]", "null", literal=True),
        ArgumentLeaf("arg.b[].c", "y"),
        ArgumentLeaf("arg.d", ""),
    ]


def test_a_number_that_names_something_is_no_quantity() -> None:
    assert not ArgumentLeaf("amount", "seven").quantity
    assert not ArgumentLeaf("answer", "true").literal
    assert list(leaves("user_id", 7)) == [ArgumentLeaf("user_id", "7", quantity=False)]
    assert list(leaves("user_ids", [7])) == [ArgumentLeaf("user_ids[]", "7", quantity=False)]
    assert list(leaves("amount", 7)) == [ArgumentLeaf("amount", "7", quantity=True)]


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (10, "10"),
        (10.0, "10"),
        (10.5, "10.5"),
        (-3.0, "-3"),
        (0.1, "0.1"),
        (999999999999999.0, "999999999999999"),
        (1e15, "1000000000000000.0"),
        (1e300, "1e+300"),
        (float("inf"), "inf"),
        (float("nan"), "nan"),
    ],
)
def test_equal_numbers_are_spelled_equally(number: float, text: str) -> None:
    assert canonical_number(number) == text


@pytest.mark.parametrize(
    ("name", "declared", "expected"),
    [
        ("amount", {"type": "number"}, True),
        ("amount", {"type": "integer"}, True),
        ("amount", {"type": ["integer", "null"]}, True),
        ("amount", {"type": ["string", "null"]}, False),
        ("amount", {"type": "string"}, False),
        ("amount", {}, False),
        ("amount", {"type": None}, False),
        ("amount", {"anyOf": [{"type": "string"}, {"type": "number"}]}, True),
        ("amount", {"oneOf": [{"type": "string"}, {"type": "null"}]}, False),
        ("amount", {"$ref": "#/$defs/money"}, True),
        ("order_id", {"type": "integer"}, False),
        ("order_id", {"anyOf": [{"type": "integer"}]}, False),
    ],
)
def test_a_quantity_is_a_number_that_names_nothing(name: str, declared: dict[str, object], expected: bool) -> None:
    assert takes_quantity(name, declared, {"$defs": {"money": {"type": "number"}}}) is expected


@pytest.mark.parametrize(
    ("place", "expected"),
    [
        ("lines", True),
        ("lines[0].price", True),
        ("lines.total", True),
        ("lines{price}", True),
        ("line", False),
        ("lines_total", False),
        ("other.lines", False),
    ],
)
def test_a_value_stands_in_its_argument_and_in_no_other_with_a_like_name(place: str, expected: bool) -> None:
    assert stands_in(place, "lines") is expected


def test_a_value_chooses_something_unless_somebody_says_otherwise() -> None:
    assert ArgumentLeaf("amount", "5").chooses
