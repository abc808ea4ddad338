"""Every rule catches a connector that breaks it, and lets an honest one pass."""

import os
import sys
from pathlib import Path

import pytest

from gaby_connectors.contract import SampleArguments, StdioTarget, check, load_samples
from gaby_connectors.contract.samples import LargeResultSample, sample_arguments
from gaby_connectors.sdk.errors import NotConfigured

pytestmark = pytest.mark.promise("M5")
BROKEN = {
    "dead": ("initialize", "does not start"),
    "slow": ("initialize", "more than 0.7 s"),
    "wordless": ("tools_listed", "healthcheck has no description"),
    "unlabelled": ("manifest_present", "get_item has no manifest"),
    "unversioned": ("manifest_present", "version is None"),
    "mistaken": ("manifest_valid", "rename_item does not take user_id"),
    "misdirected": ("readers_declared", "get_item: its results have no number, of which results speaks"),
    "harmless": ("dangerous_flagged", "deleteItem looks destructive"),
    "hinted": ("dangerous_flagged", "rename_item looks destructive"),
    "keyless": ("write_arguments", "does not take idempotency_key"),
    "hiding": ("plain_text", "healthcheck holds U+200B"),
    "rambling": ("plain_text", "characters long"),
    "unhealthy": ("healthcheck", "no tool healthcheck"),
    "listing": ("results_are_objects", "gives no object"),
    "shrugging": ("bad_arguments", "accepts"),
    "crashing": ("bad_arguments", "an argument it does not have"),
    "pretending": ("dry_run", "get_item reads differently after dry runs"),
    "wavering": ("dry_run", "two dry runs give different answers"),
    "forgetful": ("idempotent_retry", "a second effect, seen in get_item"),
    "hasty": ("idempotent_retry", "remembered its dry run as done"),
    "verbose": ("large_results", "gave 195 KB"),
    "secretive": ("large_results", "does not say that it was truncated"),
    "parrot": ("no_secret_echoed", "repeats a secret from its arguments"),
    "indiscreet": ("no_secret_echoed", "healthcheck tells a secret of the configuration"),
    "logging": ("no_secret_logged", "1 secrets were logged"),
    "chatty": ("clean_stdout", "lines are no JSON-RPC"),
    "fragile": ("survives_garbage", "it is gone afterwards"),
    "agreeable": ("survives_garbage", "unknown method is answered with a result"),
    "stubborn": ("stops", "after its input closed"),
}
ITEM = {"item_id": "item_1"}
SAMPLES = SampleArguments(tools={"get_item": ITEM, "rename_item": {**ITEM, "name": "A chair"}})


def connector(name: str) -> StdioTarget:
    module = f"tests.connectors.contract.broken.{name}"
    return StdioTarget([sys.executable, "-m", module], {**os.environ, "SHOP_TOKEN": "shop-token-2718"})


async def test_an_honest_connector_keeps_every_promise() -> None:
    card = await check(connector("plain"), samples=SAMPLES, writes=True, start_within=20)
    assert {finding.rule: finding.verdict for finding in card.findings if finding.verdict != "pass"} == {
        "large_results": "not applicable"
    }
    assert card.passed
    assert card.server == "Plain 1.0.0"
    told = "2 reads: 0 for anybody, 0 for customers, 0 for owners, 2 for staff alone"
    assert card.finding("readers_declared").detail == told
    assert len({finding.rule for finding in card.findings}) == len(card.findings) == 19


@pytest.mark.parametrize("name", BROKEN)
async def test_a_broken_promise_is_found_and_told_how_to_mend(name: str) -> None:
    rule, told = BROKEN[name]
    large = LargeResultSample(tool="get_item", arguments=ITEM) if name == "secretive" else None
    samples = SAMPLES.model_copy(update={"large": large})
    card = await check(
        connector(name),
        samples=samples,
        writes=True,
        start_within=0.7 if name == "slow" else 20,
        stop_within=1 if name == "stubborn" else 20,
        # The reads and secrets are tried for the rules that look at what was said.
        only={rule, "results_are_objects", "no_secret_echoed"},
    )
    rule_result = card.finding(rule)
    assert rule_result.verdict == "fail"
    assert told in rule_result.detail
    assert rule_result.fix
    assert not card.passed


def test_every_connector_of_the_collection_is_tried() -> None:
    folder = Path(__file__).parent / "broken"
    assert {path.stem for path in folder.glob("*.py")} - {"__init__", "plain"} == set(BROKEN)


async def test_a_server_that_dies_is_examined_further_with_a_new_one() -> None:
    card = await check(connector("crashing"), samples=SAMPLES, only={"bad_arguments", "healthcheck", "dry_run"})
    assert [(finding.rule, finding.verdict) for finding in card.findings] == [
        ("healthcheck", "pass"),
        ("bad_arguments", "fail"),
        ("dry_run", "pass"),
    ]


async def test_nothing_is_really_written_unless_the_author_says_so() -> None:
    card = await check(connector("plain"), samples=SAMPLES, only={"idempotent_retry", "dry_run"})
    assert card.finding("dry_run").verdict == "pass"
    assert card.finding("idempotent_retry").verdict == "not applicable"
    assert "--writes" in card.finding("idempotent_retry").detail


async def test_a_command_that_does_not_exist_is_a_failure_and_not_an_accident() -> None:
    card = await check(StdioTarget(["/no/such/program"]))
    assert card.finding("initialize").verdict == "fail"
    assert card.finding("stops").verdict == "not applicable"
    assert not card.passed


@pytest.mark.parametrize("text", ["", "[]", '{"tools": 5}', '{"surprise": {}}'])
def test_a_file_that_holds_no_samples_is_refused_with_an_example(tmp_path: Path, text: str) -> None:
    path = tmp_path / "samples.json"
    path.write_text(text)
    with pytest.raises(NotConfigured, match='"tools"'):
        load_samples(path)
    with pytest.raises(NotConfigured, match="cannot be read"):
        load_samples(tmp_path / "none")


def test_arguments_are_made_up_only_where_that_is_honest() -> None:
    properties = {
        "text": {"type": "string", "minLength": 10},
        "count": {"type": "integer", "minimum": 3},
        "kind": {"enum": ["a", "b"]},
        "dry_run": {"type": "boolean"},
    }
    made = sample_arguments({"properties": properties, "required": ["text", "count", "kind", "dry_run"]})
    assert made == {"text": "exampleeee", "count": 3, "kind": "a"}
    assert sample_arguments({"properties": {"id": {"type": "string", "pattern": "^x$"}}, "required": ["id"]}) is None
