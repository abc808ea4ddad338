"""What a connector vouches for in its results, and what belongs to the requester."""

from collections.abc import Iterable
from typing import Any

import pytest

from gaby.safety import Label, Leaf, Ledger, ResultContext, learn_result
from gaby_connectors.sdk.manifest import ToolManifest

pytestmark = pytest.mark.promise("S7")
ADA, BOB = "ada@acme.example", "bob@globex.example"
ACCOUNTS = {
    "accounts": [
        {"id": "a-1", "owner": ADA, "name": "Ada", "tags": ["t-1"], "deep": {"key": "k-1"}},
        {"id": "a-2", "owner": BOB, "name": "Bob", "tags": ["t-2"], "deep": {"key": "k-2"}},
    ],
    "total": 2,
}


def learned(result: Any, *, principals: Iterable[str] = (), chosen_outside: bool = False, **manifest: Any) -> Ledger:
    ledger = Ledger()
    declared = ToolManifest.model_validate({"scope": "read", **manifest})
    context = ResultContext("desk", "a result", declared, frozenset(principals), chosen_outside)
    learn_result(ledger, result, context)
    return ledger


def label(ledger: Ledger, value: str, kind: str | None = None) -> Label | None:
    origins = ledger.trace(Leaf("x", value), "desk", kind).origins
    return Label(origins[0].label) if origins else None


def test_only_what_the_manifest_vouches_for_is_believed() -> None:
    ledger = learned(ACCOUNTS, results={"accounts[].id": "system", "accounts[].name": "external"})
    assert [label(ledger, value) for value in ("a-1", "a-2", "Ada", ADA, "t-1", "k-1", "2")] == [
        Label.SYSTEM,
        Label.SYSTEM,
        *[None] * 5,
    ]


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("accounts[].deep.key", "k-1"),
        ("accounts[].*.key", "k-1"),
        ("accounts[].tags[]", "t-1"),
        ("total", "2"),
        ("*", "2"),
        ("accounts[].*", "a-1"),
    ],
)
def test_paths_reach_into_lists_and_objects(path: str, value: str) -> None:
    assert label(learned(ACCOUNTS, results={path: "system"}), value) is Label.SYSTEM


@pytest.mark.parametrize("path", ["accounts", "accounts[]", "accounts[].tags", "accounts.id", "id", "accounts[].id.x"])
def test_a_path_that_does_not_lead_to_the_value_vouches_for_nothing(path: str) -> None:
    assert label(learned(ACCOUNTS, results={path: "system"}), "a-1") is None


def test_a_list_or_a_value_at_the_top_can_be_labelled_too() -> None:
    assert label(learned([{"id": "a-1"}], results={"[].id": "system"}), "a-1") is Label.SYSTEM


def test_external_beats_system() -> None:
    ledger = learned(ACCOUNTS, results={"accounts[].*": "system", "accounts[].name": "external"})
    assert label(ledger, "a-1") is Label.SYSTEM
    assert label(ledger, "Ada") is None


def test_a_vouched_for_value_has_the_kind_that_the_manifest_gives_it() -> None:
    ledger = learned(ACCOUNTS, results={"accounts[].id": "system"}, result_kinds={"accounts[].id": "account"})
    assert label(ledger, "a-1", "account") is Label.SYSTEM
    assert label(ledger, "a-1") is None


def test_each_path_has_its_own_kind_or_none() -> None:
    ledger = learned(
        ACCOUNTS,
        results={"accounts[].*": "system", "accounts[].deep.key": "system"},
        result_kinds={"accounts[].id": "account", "accounts[].deep.key": "key"},
    )
    assert label(ledger, "k-1", "key") is Label.SYSTEM
    assert label(ledger, "k-1", "account") is None
    assert label(ledger, "Ada") is Label.SYSTEM
    assert label(ledger, "Ada", "account") is None


@pytest.mark.promise("S8")
def test_what_content_had_looked_up_is_not_vouched_for() -> None:
    assert label(learned(ACCOUNTS, results={"accounts[].id": "system"}, chosen_outside=True), "a-1") is None


@pytest.mark.promise("S8")
@pytest.mark.parametrize("chosen_outside", [True, False])
def test_the_requesters_own_row_is_theirs_however_it_was_found_and_nobody_elses_is(chosen_outside: bool) -> None:
    ledger = learned(
        ACCOUNTS,
        principals={ADA},
        chosen_outside=chosen_outside,
        results={"accounts[].*": "system", "accounts[].name": "external", "total": "system"},
        owner={"accounts[]": "owner"},
    )
    assert label(ledger, "a-1") is Label.PRINCIPAL
    assert label(ledger, "Ada") is None
    assert label(ledger, "a-2") is None
    assert label(ledger, "2") is (None if chosen_outside else Label.SYSTEM)


@pytest.mark.promise("S8")
def test_whose_a_row_is_matters_only_when_somebody_asks() -> None:
    results, owner = {"accounts[].id": "system"}, {"accounts[]": "owner"}
    assert label(learned(ACCOUNTS, results=results, owner=owner), "a-2") is Label.SYSTEM
    assert label(learned(ACCOUNTS, chosen_outside=True, results=results, owner=owner), "a-2") is None


@pytest.mark.parametrize("owner", [None, 7, ["ada@acme.example"], "", "ada@acme.example.evil.example"])
def test_an_owner_that_is_not_the_requesters_name_is_somebody_else(owner: Any) -> None:
    rows = {"rows": [{"id": "r-1", "owner": owner}]}
    found = learned(rows, principals={ADA}, results={"rows[].id": "system"}, owner={"rows[]": "owner"})
    assert label(found, "r-1") is None


def test_the_requesters_name_is_known_in_any_case_and_with_spaces_around_it() -> None:
    rows = {"rows": [{"id": "r-1", "owner": " ADA@acme.example "}]}
    found = learned(rows, principals={ADA}, results={"rows[].id": "system"}, owner={"rows[]": "owner"})
    assert label(found, "r-1") is Label.PRINCIPAL


def test_an_owner_covers_everything_below_the_row() -> None:
    found = learned(
        ACCOUNTS, principals={ADA}, results={"accounts[].deep.key": "system"}, owner={"accounts[]": "owner"}
    )
    assert label(found, "k-1") is Label.PRINCIPAL
    assert label(found, "k-2") is None


def test_what_a_call_has_made_belongs_to_whoever_had_it_made() -> None:
    for outside in (True, False):
        ledger = learned({"id": "new-1"}, scope="write", results={"id": "created"}, chosen_outside=outside)
        trace = ledger.trace(Leaf("x", "new-1"), "another connector")
        assert [origin.label for origin in trace.origins] == [Label.OPERATOR]


def test_numbers_are_values_too_and_true_or_nothing_are_not() -> None:
    ledger = learned({"a": 7, "b": True, "c": None, "d": 2.0}, results={"*": "system"})
    assert label(ledger, "7") is Label.SYSTEM
    assert label(ledger, "2") is Label.SYSTEM
    assert label(ledger, "True") is None
    assert label(ledger, "None") is None


def test_values_forty_levels_down_are_the_last_to_be_seen() -> None:
    def nested(levels: int) -> Ledger:
        found: Any = "bottom"
        for _ in range(levels):
            found = [found]
        return learned(found, results={".".join(["*"] * levels): "system"})

    assert label(nested(40), "bottom") is Label.SYSTEM
    assert label(nested(41), "bottom") is None


def test_the_fifty_thousandth_value_is_the_last_to_be_seen() -> None:
    ledger = learned({"v": [*["same"] * 49_999, "last", "beyond"]}, results={"v[]": "system"})
    assert label(ledger, "last") is Label.SYSTEM
    assert label(ledger, "beyond") is None


@pytest.mark.parametrize("result", [None, "text", 7, True, [], {}])
def test_a_result_without_structure_teaches_nothing(result: Any) -> None:
    assert learned(result, results={"*": "system"}).trace(Leaf("x", "text"), "desk").origins == ()
