"""What each argument is for, read from the manifest and, where that is silent, from the schema in the careful way."""

import pytest

from gaby.safety import Leaf, Role, lane, leaves, roles
from gaby.safety.arguments import canonical_number, is_bounded, is_place
from gaby_connectors.sdk.manifest import ToolManifest

TEXT = {"type": "string"}
PLACES = "uri uri-reference iri iri-reference hostname idn-hostname ipv4 ipv6 email idn-email"
PLACE_NAMES = """
    url urls uri uris link links href host hosts hostname domain endpoint webhook callback server proxy redirect site
    target targets destination destinations dest sink address addresses addr recipient recipients to cc bcc forward
    notify email emails mailbox phone sms fax channel channels iban
"""


def looks_outward(whole: dict[str, object]) -> bool:
    return Role.DESTINATION in roles(ToolManifest(scope="read"), whole).values()


def schema(**properties: object) -> dict[str, object]:
    return {"type": "object", "properties": properties}


@pytest.mark.promise("M3")
def test_the_manifest_gives_an_argument_its_role() -> None:
    manifest = ToolManifest(
        scope="write", steering=("a",), content=("b",), destinations=("c",), lookups=("d",), plain=("e",)
    )
    found = roles(manifest, schema(a=TEXT, b=TEXT, c=TEXT, d=TEXT, e={"type": "boolean"}))
    assert list(found.values()) == [Role.STEERING, Role.CONTENT, Role.DESTINATION, Role.LOOKUP, Role.PLAIN]


def test_free_text_cannot_be_declared_harmless() -> None:
    manifest = ToolManifest(scope="write", plain=("e",))
    assert roles(manifest, schema(e=TEXT)) == {"e": Role.CONTENT}
    assert roles(manifest, schema(e={"enum": ["low", "high"]})) == {"e": Role.PLAIN}


def test_a_destination_that_is_also_steering_counts_as_a_destination() -> None:
    manifest = ToolManifest(scope="write", steering=("to",), destinations=("to",))
    assert roles(manifest, schema(to=TEXT)) == {"to": Role.DESTINATION}


def test_the_manifest_is_believed_even_about_what_looks_harmless() -> None:
    manifest = ToolManifest(scope="write", steering=("count",), lookups=("url",))
    found = roles(manifest, schema(count={"type": "integer"}, url=TEXT))
    assert found == {"count": Role.STEERING, "url": Role.LOOKUP}


def test_what_the_manifest_calls_steering_is_steering_whatever_the_schema_shows() -> None:
    manifest = ToolManifest(scope="read", steering=("count", "url"))
    found = roles(manifest, schema(count={"type": "integer"}, url=TEXT))
    assert found == {"count": Role.STEERING, "url": Role.STEERING}


def test_roles_are_called_as_people_see_them() -> None:
    assert list(Role) == ["steering", "destination", "content", "lookup", "plain"]


@pytest.mark.parametrize(
    ("name", "declared", "role"),
    [
        ("title", TEXT, Role.STEERING),
        ("count", {"type": "integer"}, Role.PLAIN),
        ("amount", {"type": "number"}, Role.PLAIN),
        ("force", {"type": "boolean"}, Role.PLAIN),
        ("nothing", {"type": "null"}, Role.PLAIN),
        ("user_id", {"type": "integer"}, Role.STEERING),
        ("id", {"type": "integer"}, Role.STEERING),
        ("userId", {"type": "integer"}, Role.STEERING),
        ("valid", {"type": "integer"}, Role.PLAIN),
        ("order_number", {"type": "integer"}, Role.STEERING),
        ("mode", {"enum": ["a", "b"]}, Role.PLAIN),
        ("mode", {"const": "a"}, Role.PLAIN),
        ("day", {"type": "string", "format": "date"}, Role.PLAIN),
        ("at", {"type": "string", "format": "date-time"}, Role.PLAIN),
        ("at", {"type": "string", "format": "time"}, Role.PLAIN),
        ("wait", {"type": "string", "format": "duration"}, Role.PLAIN),
        ("any", {}, Role.STEERING),
        ("any", True, Role.STEERING),
        ("many", {"type": "array", "items": {"type": "number"}}, Role.PLAIN),
        ("many", {"type": "array", "items": TEXT}, Role.STEERING),
        ("many", {"type": "array"}, Role.STEERING),
        ("many", {"type": "array", "items": True}, Role.STEERING),
        ("deep", {"type": "object"}, Role.STEERING),
        ("maybe", {"type": ["number", "null"]}, Role.PLAIN),
        ("maybe", {"type": ["string", "null"]}, Role.STEERING),
        ("maybe", {"anyOf": [{"type": "number"}, {"type": "null"}]}, Role.PLAIN),
        ("maybe", {"type": ("number", "null")}, Role.PLAIN),
        ("maybe", {"oneOf": [{"type": "number"}, TEXT]}, Role.STEERING),
        ("maybe", {"oneOf": [{"type": "number"}, {"type": "null"}]}, Role.PLAIN),
        ("url", TEXT, Role.DESTINATION),
        ("callback_url", TEXT, Role.DESTINATION),
        ("to", TEXT, Role.DESTINATION),
        ("recipients", {"type": "array", "items": TEXT}, Role.DESTINATION),
        *[("page", {"type": "string", "format": kind}, Role.DESTINATION) for kind in PLACES.split()],
        ("people", {"type": "array", "items": {"type": "string", "format": "email"}}, Role.DESTINATION),
        ("kind", {"$ref": "#/$defs/Kind"}, Role.PLAIN),
        ("kind", {"$ref": "#/$defs/Nowhere"}, Role.STEERING),
        ("kind", {"$ref": "Kind"}, Role.STEERING),
    ],
)
def test_what_the_manifest_does_not_say_is_read_in_the_careful_way(name: str, declared: object, role: Role) -> None:
    whole = {**schema(**{name: declared}), "$defs": {"Kind": {"enum": ["r", "rw"]}}}
    assert roles(ToolManifest(scope="read"), whole) == {name: role}
    # In a write nothing is harmless by itself: a number can be an amount, a boolean a right.
    careful = Role.DESTINATION if role is Role.DESTINATION else Role.STEERING
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
    assert Leaf("arg{}", "root") in found
    assert Leaf("arg{}", "known") not in found
    assert Leaf("arg.deep{}", "https://evil.example") in found
    assert Leaf("arg.root", "true", literal=True) in found


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
    found = leaves("arg", value, declared, root)
    assert [leaf.value for leaf in found if leaf.argument.endswith("{}")] == chosen


def test_arguments_that_gaby_fills_have_no_role() -> None:
    assert roles(ToolManifest(scope="write"), schema(idempotency_key=TEXT, dry_run={"type": "boolean"})) == {}


def test_a_schema_without_arguments_has_none() -> None:
    assert roles(ToolManifest(scope="read"), {"type": "object"}) == {}
    assert roles(ToolManifest(scope="read"), {"type": "object", "properties": "nonsense"}) == {}


@pytest.mark.promise("S9")
def test_a_tool_that_lets_its_caller_choose_where_data_goes_is_a_write() -> None:
    silent = ToolManifest(scope="read")
    assert lane(silent, roles(silent, schema(q=TEXT))) == "read"
    assert lane(silent, roles(silent, schema(url=TEXT))) == "write"
    said = ToolManifest(scope="read", lookups=("url",))
    assert lane(said, roles(said, schema(url=TEXT))) == "read"
    outward = ToolManifest(scope="read", destinations=("q",))
    assert lane(outward, roles(outward, schema(q=TEXT))) == "write"
    assert lane(ToolManifest(scope="write"), {}) == "write"


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
        Leaf("arg.a", "x"),
        Leaf("arg.b[]", "1", quantity=True),
        Leaf("arg.b[]", "2.5", quantity=True),
        Leaf("arg.b[]", "true", literal=True),
        Leaf("arg.b[]", "false", literal=True),
        Leaf("arg.b[]", "null", literal=True),
        Leaf("arg.b[].c", "y"),
        Leaf("arg.d", ""),
    ]


def test_a_number_that_names_something_is_no_quantity() -> None:
    assert not Leaf("amount", "seven").quantity
    assert not Leaf("answer", "true").literal
    assert list(leaves("user_id", 7)) == [Leaf("user_id", "7", quantity=False)]
    assert list(leaves("user_ids", [7])) == [Leaf("user_ids[]", "7", quantity=False)]
    assert list(leaves("amount", 7)) == [Leaf("amount", "7", quantity=True)]


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
