"""Which tools are taken for reads by their names and descriptions, measured on tools that many people use."""

from collections.abc import Iterator

import pytest

from gaby.safety import guess
from gaby.safety.manifest_guess import reading_doubts
from tests.safety.known_tools import READS, WRITES, KnownTool


def doubts(tool: KnownTool) -> Iterator[str]:
    schema = {"properties": {argument: {"type": "string"} for argument in tool.arguments.split()}}
    return reading_doubts(
        tool.name, schema, read_only_hint=True, description=tool.description, lookups=["channel", "email"]
    )


@pytest.mark.promise("S16")
@pytest.mark.parametrize("tool", WRITES, ids=lambda tool: f"{tool.server}.{tool.name}")
def test_no_known_write_is_taken_for_a_read_though_the_server_claims_it(tool: KnownTool) -> None:
    assert [*doubts(tool)] != []


@pytest.mark.promise("S16")
def test_most_known_reads_are_still_taken_for_reads() -> None:
    doubted = {f"{tool.server}.{tool.name}": [*doubts(tool)] for tool in READS if [*doubts(tool)]}
    assert len(READS) >= 60
    assert len(doubted) <= 0.15 * len(READS), doubted


@pytest.mark.promise("S16")
@pytest.mark.parametrize(
    ("name", "description", "doubt"),
    [
        ("check_in_bike", "Get the bike.", "`in` in its name makes it another verb than one of reading"),
        ("get_paid", "Gets the amount.", "`paid` in its name makes it another verb than one of reading"),
        ("list_all", "", "it has no description"),
        ("list_all", "Listet offene Bestellungen eines Kunden.", "the language of its description is not understood"),
        ("get_bike", "Hand a bike over.", "its description does not begin by saying what is read: `hand a bike over`"),
        ("get_\u0443", "Get the bike.", "its name has letters that no verb here has"),
    ],
)
def test_each_doubt_is_told_in_words(name: str, description: str, doubt: str) -> None:
    assert [*reading_doubts(name, {}, read_only_hint=None, description=description)] == [doubt]


@pytest.mark.promise("S3", "S16")
@pytest.mark.parametrize("name", ["check_in_parcel", "checkOutBike", "get_rid_of", "read_off_meter", "get_paid"])
def test_a_verb_that_a_particle_changes_is_no_read_without_a_manifest_either(name: str) -> None:
    assert guess(name, {}, read_only_hint=True).scope == "write"


@pytest.mark.promise("S16")
@pytest.mark.parametrize(
    ("name", "description"),
    [
        ("search_in_files", "Search in the files of a project."),
        ("list_merge_requests", "List merge requests of a project."),
        ("get_feed", "Look up the entries of a feed."),
        ("get_issues", "Returns the issues assigned to the user."),
        ("get_order", "Use this tool to get the details of an order. Use when a number is known."),
        ("check_status", "Check the status of a service."),
    ],
)
def test_ordinary_sentences_about_reading_raise_no_doubt(name: str, description: str) -> None:
    assert [*reading_doubts(name, {}, read_only_hint=None, description=description)] == []
