"""An operator's manifest is read with suspicion, and what is wrong with it is said."""

import pytest

from gaby.mcp import read_definitions
from gaby.tools.errors import ManifestInvalid
from gaby.tools.manifests import parse_manifest, read_manifests
from gaby_connectors.sdk.manifest import SERVER_META, TOOL_META

SCHEMA = {"type": "object", "properties": {"who": {"type": "string"}}}


@pytest.mark.promise("M3")
@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("tools: {}", "errors"),
        ("manifest_version: 1.0.0\ntools: {a: {scope: both}}", "errors"),
        ("manifest_version: 1.0.0\ntools: {a: {scope: read, colour: red}}", "errors"),
        ("manifest_version: 1.0.0\ntools: {a: {scope: read, dangerous: true}}", "errors"),
        ("manifest_version: 1.0.0\ntools: {a: {scope: write, steering: [x], content: [x]}}", "errors"),
        ("manifest_version: 1.0.0\ntools: {a: {scope: write, own_creations: [x]}}", "errors"),
        ("manifest_version: 1.0.0\ntools: {a: {scope: write, harmless_values: {x: [{}]}}}", "errors"),
        ("a: &a [1]\nb: [*a, *a]", "aliases"),
        ("]", "not YAML"),
        ("!!python/object/apply:os.system ['true']", "not YAML"),
        ("[" * 3000, "not YAML"),
        ("x" * 300_000, "at most"),
    ],
)
def test_a_manifest_that_cannot_be_used_is_refused_with_the_place(text: str, complaint: str) -> None:
    with pytest.raises(ManifestInvalid) as refused:
        parse_manifest(text)
    assert complaint in refused.value.message or complaint in refused.value.details


@pytest.mark.promise("M3")
def test_a_manifest_speaks_only_of_tools_and_arguments_that_exist() -> None:
    shown = read_definitions([{"name": "find", "inputSchema": SCHEMA}, {"name": "drop", "inputSchema": SCHEMA}])
    with pytest.raises(ManifestInvalid, match="no tool other"):
        parse_manifest("manifest_version: 1.0.0\ntools: {other: {scope: read}}", shown)
    misspelt = "manifest_version: 1.0.0\ntools: {find: {scope: read, lookups: [whom]}}"
    with pytest.raises(ManifestInvalid, match="no argument whom"):
        parse_manifest(misspelt, shown)
    written = parse_manifest(misspelt)
    manifests = read_manifests(shown, written.model_dump(mode="json"))
    assert manifests.problems == ("find: it has no argument whom",)
    assert manifests.missing == ("find", "drop")
    assert manifests.unsafe


@pytest.mark.promise("M3", "S3")
def test_a_connectors_own_manifest_counts_only_if_it_declares_that_it_has_one() -> None:
    tool = {"name": "find", "inputSchema": SCHEMA, "_meta": {TOOL_META: {"scope": "read"}}}
    declared = read_definitions([tool], experimental={SERVER_META: {"version": "1.0.0"}})
    assert not read_manifests(declared, None).unsafe
    assert read_manifests(read_definitions([tool]), None).unsafe


@pytest.mark.promise("M3", "S3")
def test_one_invalid_manifest_leaves_its_tool_without_one_and_is_named() -> None:
    good = {"name": "find", "inputSchema": SCHEMA, "_meta": {TOOL_META: {"scope": "read"}}}
    bad = {"name": "drop", "inputSchema": SCHEMA, "_meta": {TOOL_META: {"scope": "write", "colour": "red"}}}
    manifests = read_manifests(read_definitions([good, bad], experimental={SERVER_META: {"version": "1.0.0"}}), None)
    assert (list(manifests.tools), manifests.missing, manifests.unsafe) == (["find"], ("drop",), False)
    assert manifests.problems[0].startswith("drop: colour: ")


@pytest.mark.promise("M3")
def test_an_operators_word_comes_before_the_connectors() -> None:
    tool = {"name": "find", "inputSchema": SCHEMA, "_meta": {TOOL_META: {"scope": "read"}}}
    shown = read_definitions([tool], experimental={SERVER_META: {"version": "1.0.0"}})
    written = parse_manifest("manifest_version: 2.0.0\ntools: {find: {scope: write, steering: [who]}}", shown)
    assert read_manifests(shown, written.model_dump(mode="json")).tools["find"].scope == "write"
