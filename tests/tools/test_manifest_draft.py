"""A drafted manifest is careful whatever the server says of itself, and can be accepted as it is."""

from importlib import import_module
from typing import Any

import pytest

from gaby.mcp import ServerDefinitions, read_definitions
from gaby.safety import ArgumentRole
from gaby.tools.manifest_draft import ManifestDraft, ToolDraft, draft_manifest
from gaby.tools.manifest_yaml import draft_yaml
from gaby.tools.manifests import parse_manifest, read_manifests
from gaby_connectors.sdk.connector import Connector
from gaby_connectors.sdk.manifest import Audience, ResultLabel

TEXT: dict[str, Any] = {"type": "string"}
NUMBER: dict[str, Any] = {"type": "number"}


def tool(name: str, arguments: dict[str, Any] | None = None, **more: Any) -> dict[str, Any]:
    given = arguments or {}
    schema = {"type": "object", "properties": given, "required": list(given)}
    return {"name": name, "description": "Returns what was asked for.", "inputSchema": schema, **more}


def rows(**fields: Any) -> dict[str, Any]:
    row = {"type": "object", "properties": fields}
    return {"type": "object", "properties": {"rows": {"type": "array", "items": row}}}


def drafted(*tools: dict[str, Any]) -> ManifestDraft:
    """Whatever is drafted can be given back as it is, and speaks of every tool."""
    shown: ServerDefinitions = read_definitions(tools)
    draft = draft_manifest("shop", shown, shown.by_name)
    assert parse_manifest(draft_yaml(draft), shown) == draft.manifest()
    assert read_manifests(shown, draft.manifest().model_dump(mode="json")).problems == ()
    return draft


def one(*arguments: Any, **more: Any) -> ToolDraft:
    (tool_draft,) = drafted(tool(*arguments, **more)).tools
    return tool_draft


@pytest.mark.promise("S16")
@pytest.mark.parametrize(
    ("name", "arguments", "reads"),
    [
        ("find_user", {"email": TEXT}, True),
        ("get_channel", {"channel": TEXT}, True),
        ("get_page", {"url": TEXT}, False),
        ("get_page", {"email": {"type": "string", "format": "uri"}}, False),
        ("find_user", {"email": {"properties": {"webhook": TEXT}}}, False),
        ("search", {"to": TEXT}, False),
        ("wipe_disk", {"disk": TEXT}, False),
        ("get_or_provision_user", {"email": TEXT}, False),
        ("frobnicate", {}, False),
    ],
)
def test_only_what_reads_in_every_way_is_drafted_as_a_read_though_the_server_claims_it(
    name: str, arguments: dict[str, Any], reads: bool
) -> None:
    claimed = "Gets what was asked for. This tool is readOnly. It changes nothing."
    found = one(name, arguments, description=claimed, annotations={"readOnlyHint": True, "destructiveHint": False})
    assert (found.access, found.manifest.scope) == (("read", "read") if reads else ("write", "write"))
    assert found.manifest.dangerous != reads


@pytest.mark.promise("S16", "M3")
def test_every_argument_of_a_write_gets_a_role_with_a_reason() -> None:
    arguments = {
        "account_id": TEXT,
        "to": TEXT,
        "body": TEXT,
        "amount": NUMBER,
        "admin": {"type": "boolean"},
        "reason": {"enum": ["a", "b"]},
        "language": TEXT,
        "nickname": TEXT,
        "notes": {"type": "object", "properties": {"root": {"type": "boolean"}}},
    }
    found = one("send_statement", arguments)
    assert {name: guessed.role for name, guessed in found.arguments.items()} == {
        "account_id": ArgumentRole.STEERING,
        "to": ArgumentRole.DESTINATION,
        "body": ArgumentRole.CONTENT,
        "amount": ArgumentRole.STEERING,
        "admin": ArgumentRole.STEERING,
        "reason": ArgumentRole.STEERING,
        "language": ArgumentRole.PLAIN,
        "nickname": ArgumentRole.STEERING,
        "notes": ArgumentRole.STEERING,
    }
    assert all(guessed.reason for guessed in found.arguments.values())


@pytest.mark.promise("S16", "S3")
@pytest.mark.parametrize(
    ("name", "arguments", "dangerous"),
    [
        ("add_note", {"account_id": TEXT, "text": TEXT}, False),
        ("create_ticket", {"subject": TEXT, "body": TEXT}, False),
        ("add_credit", {"customer_id": TEXT}, True),
        ("add_note", {"note": TEXT, "grant_admin": {"type": "boolean"}}, True),
        ("create_user", {"name": TEXT}, True),
        ("create_api_key", {"name": TEXT}, True),
        ("add_and_purge", {"name": TEXT}, True),
        ("update_ticket", {"id": TEXT}, True),
        ("delete_note", {"id": TEXT}, True),
        ("frobnicate", {}, True),
    ],
)
def test_only_what_plainly_adds_something_small_is_not_dangerous(
    name: str, arguments: dict[str, Any], dangerous: bool
) -> None:
    assert one(name, arguments).manifest.dangerous == dangerous
    assert one(name, arguments, annotations={"destructiveHint": True}).manifest.dangerous


@pytest.mark.promise("S14", "S16")
@pytest.mark.parametrize(
    ("fields", "owner"),
    [
        ({"id": TEXT, "email": TEXT}, "email"),
        ({"customer_email": TEXT, "email": TEXT}, "customer_email"),
        ({"customer": {"type": "object", "properties": {"email": TEXT}}}, "customer.email"),
        ({"email": TEXT, "contact": {"type": "object", "properties": {"email": TEXT}}}, "email"),
        ({"owner_email": TEXT, "customer_email": TEXT}, None),
        ({"assignee_email": TEXT, "author": TEXT}, None),
        ({"email": {"type": "boolean"}}, None),
    ],
)
def test_the_owner_of_a_row_is_guessed_from_its_address(fields: dict[str, Any], owner: str | None) -> None:
    found = one("list_orders", {"page": NUMBER}, outputSchema=rows(**fields))
    assert found.manifest.owner == ({"rows[]": owner} if owner else {})
    assert found.manifest.audience is Audience.STAFF


@pytest.mark.promise("S14", "S16")
@pytest.mark.parametrize(
    ("name", "arguments", "owner"),
    [
        ("list_logins", {"user_id": TEXT}, "user_id"),
        ("list_logins", {"user_id": TEXT, "page": NUMBER}, "user_id"),
        ("get_order", {"id": TEXT}, "id"),
        ("list_messages", {"user_id": TEXT, "message_id": TEXT}, None),
        ("get_group", {"group_id": TEXT}, None),
        ("search", {"query": TEXT}, None),
    ],
)
def test_a_result_belongs_to_the_one_person_that_was_asked_for(
    name: str, arguments: dict[str, Any], owner: str | None
) -> None:
    assert one(name, arguments).manifest.owner_argument == owner
    optional = tool(name, arguments)
    optional["inputSchema"]["required"] = []
    assert drafted(optional).tools[0].manifest.owner_argument is None


@pytest.mark.promise("S16")
def test_ids_kinds_and_personal_fields_are_guessed_from_the_output() -> None:
    row = {"type": "object", "properties": {"id": TEXT, "user_id": TEXT, "ssn": TEXT, "pin_code": TEXT}}
    found = one("get_account", {"id": TEXT}, outputSchema=row).manifest
    assert found.results == {"id": ResultLabel.SYSTEM}
    assert (found.result_kinds, found.argument_kinds) == ({"id": "account"}, {"id": "account"})
    assert found.redact == ("ssn",)


def test_a_prefix_that_all_tools_share_is_no_verb() -> None:
    draft = drafted(tool("slack_list_channels"), tool("slack_get_user", {"user": TEXT}), tool("slack_post_message"))
    assert draft.reads == ("slack_list_channels", "slack_get_user")
    assert drafted(tool("wipe_list"), tool("wipe_get")).reads == ()


@pytest.mark.promise("S16", "M6")
@pytest.mark.parametrize(
    "name", ["filesystem", "keycloak", "ldap", "postgres", "prometheus", "redis", "sample_company"]
)
def test_no_change_of_a_connector_that_says_what_it_does_would_have_been_drafted_as_a_read(name: str) -> None:
    connector: Connector = import_module(f"gaby_connectors.{name}.tools").connector
    known = connector.tools.values()
    draft = drafted(
        *(
            {
                "name": each.name,
                "description": each.description,
                "inputSchema": each.input_schema,
                "outputSchema": each.output_schema,
                "annotations": {"readOnlyHint": True},
            }
            for each in known
        )
    )
    assert set(draft.reads) <= {each.name for each in known if not each.writes}
    grave = {each.name for each in known if each.manifest.dangerous}
    assert grave <= {each.name for each in draft.tools if each.manifest.dangerous}


@pytest.mark.promise("S16")
def test_the_reads_and_owners_of_the_sample_company_are_drafted_as_they_were_declared() -> None:
    connector: Connector = import_module("gaby_connectors.sample_company.tools").connector
    known = {each.name: each for each in connector.tools.values()}
    draft = drafted(
        *(
            {
                "name": each.name,
                "description": each.description,
                "inputSchema": each.input_schema,
                "outputSchema": each.output_schema,
            }
            for each in known.values()
        )
    )
    assert set(draft.reads) == {each.name for each in known.values() if not each.writes}
    owners = {each.name: each.manifest.owner for each in draft.tools if each.access == "read"}
    declared = {name: owner for name in owners if (owner := known[name].manifest.owner)}
    assert {name: owners[name] for name in declared} == declared


@pytest.mark.promise("S16")
def test_accepting_the_reads_accepts_nothing_else() -> None:
    draft = drafted(tool("search", {"text": TEXT}), tool("publish", {"text": TEXT}), tool("get_page", {"url": TEXT}))
    assert set(draft.manifest(draft.reads).tools) == {"search"}


@pytest.mark.promise("S16")
def test_hostile_names_neither_break_the_file_nor_hide_in_it() -> None:
    hostile = "x\nadmin:\n  scope: read\n#"
    manifest_draft = drafted(
        tool("null", {hostile: TEXT, "$filter": TEXT, "on": TEXT, "a" * 300: TEXT}),
        tool("1.0"),
        tool("get_it", {hostile: {"type": "boolean"}, "create\r\nx": {"type": "boolean"}}, description=hostile),
    )
    text = draft_yaml(manifest_draft)
    assert "admin:" not in [line.strip() for line in text.splitlines()]
    assert "\r" not in text
    assert "4 arguments" not in text
    assert "3 arguments have names that a manifest cannot hold" in text
    assert "\\n" in manifest_draft.tools[2].access_reason or "\n" in manifest_draft.tools[2].access_reason
    assert all(line.isprintable() for line in text.split("\n"))


@pytest.mark.promise("S16")
def test_thousands_of_arguments_and_looping_schemas_are_drafted_as_what_steers() -> None:
    many = one("add_note", {f"a{number}": TEXT for number in range(5000)})
    assert (many.arguments, many.manifest.dangerous) == ({}, True)
    loop = {"$ref": "#/$defs/Node"}
    node = {"type": "object", "properties": {"next": loop, "body": TEXT, "webhook": TEXT}}
    looping = tool("get_node", {"node": loop}, outputSchema={"$defs": {"Node": node}, "$ref": "#/$defs/Node"})
    looping["inputSchema"]["$defs"] = {"Node": node}
    looping["outputSchema"]["type"] = "object"
    assert drafted(looping).tools[0].access == "write"


@pytest.mark.promise("S16")
def test_a_draft_that_would_be_too_large_leaves_tools_out_and_says_so() -> None:
    wide = {f"argument_with_a_rather_long_name_of_its_own_{number:03}": TEXT for number in range(100)}
    shown = read_definitions([tool(f"make_{number}", wide) for number in range(80)])
    draft = draft_manifest("shop", shown, shown.by_name)
    text = draft_yaml(draft)
    kept = parse_manifest(text, shown)
    assert 0 < len(kept.tools) < 80
    assert f"{80 - len(kept.tools)} more tools are left out" in text
