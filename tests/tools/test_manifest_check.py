"""Every error of a manifest is named at once, with its line, its place, and what was probably meant."""

import pytest

from gaby.mcp import read_definitions
from gaby.tools.errors import ManifestInvalid
from gaby.tools.manifest_check import check_manifest

TEXT = {"type": "string"}
ORDERS = {
    "type": "object",
    "properties": {"orders": {"type": "array", "items": {"properties": {"id": TEXT, "email": TEXT}}}},
}
SHOWN = read_definitions(
    [
        {
            "name": "find_orders",
            "inputSchema": {"type": "object", "properties": {"email": TEXT, "limit": {"type": "integer"}}},
            "outputSchema": ORDERS,
        },
        {
            "name": "refund",
            "inputSchema": {
                "type": "object",
                "allOf": [{"$ref": "#/$defs/Refund"}],
                "$defs": {"Refund": {"properties": {"order_id": TEXT}}},
            },
        },
    ]
)
WRONG = """\
manifest_version: one
tools:
  find_orders:
    scope: read
    lookups: [limit, emial]
    results:
      orders[].id: system
      orders[].number: system
    owner: {"orders[]": mail}
    redact:
      - orders[].email
      - phone
    owner_argument: user
  refnd: {scope: write}
  refund:
    scope: write
    dangeruos: true
    steering: [order_id]
    content: [order_id]
    steering: [order_id]
"""


def errors_of(text: str) -> list[tuple[int, str, str]]:
    with pytest.raises(ManifestInvalid) as refused:
        check_manifest(text, SHOWN)
    return [(each["line"], each["where"], each["message"]) for each in refused.value.details["errors"]]


@pytest.mark.promise("M3", "S16")
def test_every_error_is_named_with_its_line_and_what_was_meant() -> None:
    found = errors_of(WRONG)
    assert [(line, where) for line, where, _ in found] == [
        (1, "manifest_version"),
        (5, "tools.find_orders.lookups.1"),
        (8, "tools.find_orders.results.orders[].number"),
        (9, "tools.find_orders.owner.orders[]"),
        (12, "tools.find_orders.redact.1"),
        (13, "tools.find_orders.owner_argument"),
        (14, "tools.refnd"),
        (17, "tools.refund.dangeruos"),
        (20, ""),
    ]
    told = {where: message for _, where, message in found}
    assert told["tools.find_orders.lookups.1"].endswith("did you mean email?")
    assert told["tools.refnd"].endswith("did you mean refund?")
    assert told["tools.refund.dangeruos"].endswith("did you mean dangerous?")
    assert told[""] == "`steering` is written twice; only one of them would count"


@pytest.mark.promise("M3", "S16")
def test_a_path_names_only_arguments_that_the_tool_has() -> None:
    text = "manifest_version: 1.0.0\ntools:\n  refund:\n    scope: write\n    path: orders/{%s}/refund\n"
    message = "it has no argument order; did you mean order_id?"
    assert errors_of(text % "order") == [(5, "tools.refund.path", message)]
    assert check_manifest(text % "order_id", SHOWN).manifest.tools["refund"].path == "orders/{order_id}/refund"


def test_the_message_of_the_error_lists_all_of_them() -> None:
    with pytest.raises(ManifestInvalid) as refused:
        check_manifest(WRONG, SHOWN)
    assert refused.value.message.count("\n  line ") == 9
    assert "line 14: tools.refnd: the connector has no tool refnd" in refused.value.message


@pytest.mark.promise("M3")
def test_an_argument_behind_a_reference_is_known() -> None:
    checked = check_manifest("manifest_version: 1.0.0\ntools: {refund: {scope: write, steering: [order_id]}}", SHOWN)
    assert checked.unchecked == ()


@pytest.mark.promise("M3")
def test_what_the_server_does_not_declare_is_said_to_be_unchecked() -> None:
    text = "manifest_version: 1.0.0\ntools: {refund: {scope: write, results: {id: created}}}"
    (told,) = check_manifest(text, SHOWN).unchecked
    assert told.startswith("refund: ")
    assert told.endswith("could check id.")


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("", "valid dictionary"),
        ("tools: [1, 2]", "valid dictionary"),
        ("manifest_version: 1.0.0\ntools: {1: {scope: read}}", "line 2"),
        ("manifest_version: 1.0.0\ntools: {find_orders: null}", "line 2"),
        ("manifest_version: 1.0.0\ntools:\n  ? [a, b]\n  : {scope: read}", "not YAML"),
        ("a: b\n  c: d", "line 2"),
        ('manifest_version: 1.0.0\ntools: {"\\e[31m": {scope: read}}', "\\x1b[31m"),
        ("- a\n- b\n--- \n- c", "not YAML"),
        ("a: !!timestamp 99999-99-99", "not YAML"),
    ],
)
def test_hostile_files_are_refused_in_words(text: str, complaint: str) -> None:
    with pytest.raises(ManifestInvalid) as refused:
        check_manifest(text, SHOWN)
    assert complaint in refused.value.message
    assert "\x1b" not in refused.value.message
