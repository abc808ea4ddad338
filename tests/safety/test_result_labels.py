"""What a connector vouches for in its results, whose it is, and who may be told."""

from collections.abc import Iterable
from typing import Any

import pytest

from gaby.safety import (
    ArgumentLeaf,
    Label,
    ProvenanceLedger,
    Reader,
    ResultContext,
    ValueUse,
    learn_result,
    readable_part,
    values_to_redact,
)
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


KINDS = ("account", "account_name", "owner", "tag", "deep", "total", "thing", None)


def context_of(
    *,
    principals: Iterable[str] | None = None,
    chosen_outside: bool = False,
    owned: bool = False,
    **manifest: Any,
) -> ResultContext:
    declared = ToolManifest.model_validate({"scope": "read", **manifest})
    whose = None if principals is None else frozenset(principals)
    return ResultContext("desk", "a result", declared, whose, chosen_outside, owned)


def learned(result: Any, **context: Any) -> ProvenanceLedger:
    ledger = ProvenanceLedger()
    learn_result(ledger, result, context_of(**context))
    return ledger


def nested(levels: int, value: Any = "bottom") -> Any:
    """The value inside so many lists."""
    for _ in range(levels):
        value = [value]
    return value


def label(ledger: ProvenanceLedger, value: str, *kinds: str | None) -> Label | None:
    """What the value is worth as a thing of one of these kinds; of any that the rows here have, if none is given."""
    found = [ledger.trace(ArgumentLeaf("x", value), ValueUse("desk", kind)).origins for kind in kinds or KINDS]
    return next((Label(origins[0].label) for origins in found if origins), None)


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
    assert label(learned([{"thing_id": "a-1"}], results={"[].thing_id": "system"}), "a-1") is Label.SYSTEM


def test_external_beats_system() -> None:
    ledger = learned(ACCOUNTS, results={"accounts[].*": "system", "accounts[].name": "external"})
    assert label(ledger, "a-1") is Label.SYSTEM
    assert label(ledger, "Ada") is None


def test_a_vouched_for_value_has_the_kind_that_the_manifest_gives_it() -> None:
    ledger = learned(ACCOUNTS, results={"accounts[].id": "system"}, result_kinds={"accounts[].id": "customer"})
    assert label(ledger, "a-1", "customer") is Label.SYSTEM
    assert label(ledger, "a-1", "account") is None
    assert label(ledger, "a-1", None) is None


def test_each_path_has_its_own_kind_which_is_read_from_its_name_if_the_manifest_is_silent() -> None:
    ledger = learned(
        ACCOUNTS,
        results={"accounts[].*": "system", "accounts[].deep.key": "system"},
        result_kinds={"accounts[].id": "account", "accounts[].deep.key": "key"},
    )
    assert label(ledger, "k-1", "key") is Label.SYSTEM
    assert label(ledger, "k-1", "account") is None
    assert label(ledger, "Ada", "account_name") is Label.SYSTEM
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
    assert label(ledger, "2", "total") is (None if chosen_outside else Label.SYSTEM)


@pytest.mark.promise("S8")
def test_whose_a_row_is_matters_only_when_somebody_asks() -> None:
    results, owner = {"accounts[].id": "system"}, {"accounts[]": "owner"}
    assert label(learned(ACCOUNTS, results=results, owner=owner), "a-2") is Label.SYSTEM
    assert label(learned(ACCOUNTS, chosen_outside=True, results=results, owner=owner), "a-2") is None


@pytest.mark.parametrize("owner", [None, 7, ["ada@acme.example"], "", "ada@acme.example.evil.example"])
def test_an_owner_that_is_not_the_requesters_name_is_somebody_else(owner: Any) -> None:
    rows = {"things": [{"id": "r-1", "owner": owner}]}
    found = learned(rows, principals={ADA}, results={"things[].id": "system"}, owner={"things[]": "owner"})
    assert label(found, "r-1") is None


def test_the_requesters_name_is_known_in_any_case_and_with_spaces_around_it() -> None:
    rows = {"things": [{"id": "r-1", "owner": " ADA@acme.example "}]}
    found = learned(rows, principals={ADA}, results={"things[].id": "system"}, owner={"things[]": "owner"})
    assert label(found, "r-1") is Label.PRINCIPAL


def test_an_owner_covers_everything_below_the_row() -> None:
    found = learned(
        ACCOUNTS, principals={ADA}, results={"accounts[].deep.key": "system"}, owner={"accounts[]": "owner"}
    )
    assert label(found, "k-1") is Label.PRINCIPAL
    assert label(found, "k-2") is None


def test_what_a_call_has_made_belongs_to_whoever_had_it_made() -> None:
    for outside in (True, False):
        result = {"thing_id": "new-1"}
        ledger = learned(result, scope="write", results={"thing_id": "created"}, chosen_outside=outside)
        assert label(ledger, "new-1", "thing") is Label.CREATED
        # The number of a note that was just made is no account, and nothing in another system.
        assert label(ledger, "new-1", "account") is None
        assert ledger.trace(ArgumentLeaf("x", "new-1"), ValueUse("another connector", "thing")).origins == ()


def test_numbers_are_values_too_and_true_or_nothing_are_not() -> None:
    ledger = learned({"a": 7, "b": True, "c": None, "d": 2.0}, results={"*": "system"})
    assert label(ledger, "7", "a") is Label.SYSTEM
    assert label(ledger, "2", "d") is Label.SYSTEM
    assert label(ledger, "true", "b") is None
    assert label(ledger, "null", "c") is None


def test_values_forty_levels_down_are_the_last_to_be_seen() -> None:
    def found(levels: int) -> Label | None:
        path = ".".join(["*"] * levels)
        return label(learned(nested(levels), results={path: "system"}, result_kinds={path: "thing"}), "bottom")

    assert found(40) is Label.SYSTEM
    assert found(41) is None


@pytest.mark.promise("S14")
def test_values_more_than_forty_levels_down_are_for_the_staff() -> None:
    everybody = context_of(audience="public")
    assert readable_part(nested(40), everybody, STRANGER) == nested(40)
    assert readable_part(nested(41), everybody, STRANGER) is None
    assert not closed_to(STRANGER, nested(40), audience="public")
    assert closed_to(STRANGER, nested(41), audience="public")


def test_the_fifty_thousandth_value_is_the_last_to_be_seen() -> None:
    values = {"things": [*["same"] * 49_999, "last", "beyond"]}
    ledger = learned(values, results={"things[]": "system"}, audience="public")
    assert label(ledger, "last") is Label.SYSTEM
    assert label(ledger, "beyond") is None
    # What was not looked at is for the staff.
    assert [each.source for each in ledger.reading.unreadable(Reader("stranger"))] == ["a result"]


@pytest.mark.parametrize("result", [None, "text", 7, True, [], {}])
def test_a_result_without_structure_teaches_nothing(result: Any) -> None:
    assert label(learned(result, results={"*": "system"}), "text") is None


MINE, OTHERS, STRANGER, STAFF = (
    Reader("verified", ADA),
    Reader("verified", BOB),
    Reader("stranger", ADA),
    Reader("staff"),
)
OWNED: dict[str, Any] = {"results": {}, "owner": {"accounts[]": "owner"}}


def closed_to(reader: Reader, result: Any, **context: Any) -> bool:
    return bool(learned(result, **context).reading.unreadable(reader))


@pytest.mark.promise("S14")
def test_what_nobody_speaks_of_is_for_the_staff() -> None:
    assert not closed_to(STAFF, ACCOUNTS)
    assert all(closed_to(reader, ACCOUNTS) for reader in (MINE, OTHERS, STRANGER))


@pytest.mark.promise("S14")
def test_the_audience_of_a_tool_and_of_single_fields_decides_who_may_be_told() -> None:
    incident = {"incidents": [{"title": "Mail is slow", "internal": "db-7 is full"}]}
    assert not closed_to(STRANGER, incident, audience="public")
    assert not closed_to(OTHERS, incident, audience="customers")
    assert closed_to(STRANGER, incident, audience="customers")
    mixed: dict[str, Any] = {"audience": "public", "readers": {"incidents[].internal": "staff"}}
    assert closed_to(STRANGER, incident, **mixed)
    assert readable_part(incident, context_of(**mixed), STRANGER) == {"incidents": [{"title": "Mail is slow"}]}
    assert readable_part(incident, context_of(**mixed), STAFF) == incident


@pytest.mark.promise("S14")
def test_the_longest_rule_decides_about_everything_below_it() -> None:
    rules: dict[str, Any] = {"readers": {"accounts[]": "public", "accounts[].deep": "staff"}}
    part = readable_part(ACCOUNTS, context_of(**rules), STRANGER)
    assert part == {
        "accounts": [
            {"id": "a-1", "owner": ADA, "name": "Ada", "tags": ["t-1"]},
            {"id": "a-2", "owner": BOB, "name": "Bob", "tags": ["t-2"]},
        ]
    }


@pytest.mark.promise("S14")
def test_a_row_is_its_owners_and_nobody_elses_whatever_the_tool_is_for() -> None:
    for audience in ("staff", "customers", "public"):
        context = context_of(principals={ADA}, audience=audience, **OWNED)
        part = readable_part(ACCOUNTS, context, MINE)
        assert [row["id"] for row in part["accounts"]] == ["a-1"], audience
        assert readable_part(ACCOUNTS, context, STRANGER) == ({"total": 2} if audience == "public" else None)
        assert closed_to(MINE, ACCOUNTS, principals={ADA}, audience=audience, **OWNED)
    own = {"accounts": ACCOUNTS["accounts"][:1]} if isinstance(ACCOUNTS["accounts"], list) else {}
    assert not closed_to(MINE, own, principals={ADA}, **OWNED)
    assert closed_to(OTHERS, own, principals={BOB}, **OWNED)


@pytest.mark.promise("S14")
def test_whoever_is_named_by_the_argument_owns_all_of_the_result() -> None:
    logins = {"logins": [{"at": "today", "ok": True}]}
    assert not closed_to(MINE, logins, principals={ADA}, owned=True)
    assert closed_to(OTHERS, logins, principals={ADA}, owned=True)
    assert closed_to(MINE, logins, principals={ADA}, owned=False)
    assert closed_to(STRANGER, logins, principals=(), owned=True)
    found = learned(logins, principals={ADA}, owned=True, results={"logins[].at": "system"})
    assert label(found, "today", "at") is Label.PRINCIPAL


@pytest.mark.promise("S14")
def test_a_result_is_nobodys_unless_an_argument_names_its_owner_and_somebody_was_verified() -> None:
    logins, results = {"logins": [{"at": "today"}]}, {"logins[].at": "system"}
    for nobody in (None, ()):
        assert label(learned(logins, principals=nobody, owned=True, results=results), "today", "at") is Label.SYSTEM
        assert readable_part("yours", context_of(principals=nobody, owned=True), MINE) is None
    assert readable_part("yours", context_of(principals={ADA}), MINE) is None
    silent = ResultContext("desk", "a result", ToolManifest(scope="read"), frozenset({ADA}), chosen_outside=False)
    assert readable_part("yours", silent, MINE) is None
    assert readable_part(logins, silent, MINE) is None


@pytest.mark.promise("S14")
def test_a_rule_may_open_a_field_of_an_owned_row_to_others() -> None:
    context = context_of(principals={ADA}, owner={"accounts[]": "owner"}, readers={"accounts[].name": "public"})
    assert readable_part(ACCOUNTS, context, STRANGER) == {"accounts": [{"name": "Ada"}, {"name": "Bob"}]}


@pytest.mark.promise("S14")
def test_a_list_at_the_top_is_told_in_part() -> None:
    rows, context = [{"title": "Mail", "internal": "db-7"}], context_of(readers={"[].title": "public"})
    assert readable_part(rows, context, STRANGER) == [{"title": "Mail"}]
    assert readable_part(rows, context_of(), STRANGER) is None


@pytest.mark.promise("S14")
def test_a_field_whose_own_name_has_a_dot_can_name_the_owner() -> None:
    rows = {"things": [{"id": "r-1", "customer.email": ADA, "customer": {"email": BOB}}]}
    found = learned(rows, principals={ADA}, results={"things[].id": "system"}, owner={"things[]": "customer.email"})
    assert label(found, "r-1") is Label.PRINCIPAL


@pytest.mark.promise("S14")
def test_an_owner_may_stand_deeper_in_the_row() -> None:
    rows = {"things": [{"id": "r-1", "customer": {"email": ADA}}]}
    context: dict[str, Any] = {
        "results": {"things[].id": "system"},
        "owner": {"things[]": "customer.email"},
        "principals": {ADA},
    }
    assert label(learned(rows, **context), "r-1") is Label.PRINCIPAL
    assert not closed_to(MINE, rows, **context)


@pytest.mark.promise("S14")
def test_a_text_without_structure_has_the_audience_of_its_tool() -> None:
    assert readable_part("open till six", context_of(audience="public"), STRANGER) == "open till six"
    assert readable_part("db-7 is full", context_of(), STRANGER) is None
    assert readable_part("yours", context_of(principals={ADA}, owned=True), MINE) == "yours"
    assert readable_part("yours", context_of(principals={ADA}, owned=True, audience="public"), STRANGER) is None


KEYS: list[Any] = [
    {"rows": {"VICTIM-99": {}}},
    {"rows": {"VICTIM-99": []}},
    {"VICTIM-99": {}},
    {"rows": {"VICTIM-99": True}},
    {"rows": {"VICTIM-99": None}},
    {"rows": [[], {"VICTIM-99": {}}]},
    {"found": []},
]


@pytest.mark.promise("S14")
@pytest.mark.parametrize("result", KEYS)
def test_a_key_without_a_value_is_told_as_little_as_a_value(result: Any) -> None:
    context = context_of(principals=[ADA])
    ledger = ProvenanceLedger()
    learn_result(ledger, result, context)
    reader = Reader("verified", ADA)
    assert [each.source for each in ledger.reading.unreadable(reader)] == ["a result"]
    assert "VICTIM" not in str(readable_part(result, context, reader))


@pytest.mark.promise("S14")
@pytest.mark.parametrize(
    "manifest",
    [
        {"results": {"rows[].id": "system"}},
        {"results": {"rows": "system"}},
        {"owner": {"rows[]": "email"}},
        {"readers": {"rows[].id": "staff"}},
        {"result_kinds": {"rows[].id": "thing"}},
    ],
)
@pytest.mark.parametrize("result", [{"rows": []}, {"rows": {}}, {}])
def test_what_the_manifest_names_tells_nothing_while_it_is_empty(manifest: dict[str, Any], result: Any) -> None:
    assert not closed_to(MINE, result, principals=[ADA], **manifest)
    assert readable_part(result, context_of(principals=[ADA], **manifest), MINE) == result


@pytest.mark.promise("S14")
@pytest.mark.parametrize("result", [{}, []])
@pytest.mark.parametrize("results", [{}, {"*": "system"}])
def test_an_empty_result_tells_nothing_whatever_the_manifest_says(result: Any, results: dict[str, str]) -> None:
    assert not closed_to(MINE, result, principals=[ADA], results=results)
    assert readable_part(result, context_of(principals=[ADA], results=results), MINE) == result


@pytest.mark.promise("S14")
@pytest.mark.parametrize(
    "path", ["rows", "found.id", "found[].id", "rows.*", "rows.*.id", "rows[].id", "*.*.id", "other.VICTIM-99.id"]
)
def test_a_key_that_the_manifest_does_not_name_is_a_value(path: str) -> None:
    context: dict[str, Any] = {"principals": [ADA], "results": {path: "system"}}
    contents: tuple[Any, ...] = ({}, [], {"id": "r-1"}, True)
    for inside in contents:
        result = {"rows": {"VICTIM-99": inside}}
        disclosures = learned(result, **context).reading.disclosures("There is a VICTIM-99.", MINE)
        assert [each.value for each in disclosures] == ["VICTIM-99"]
        assert closed_to(MINE, result, **context)
        assert readable_part(result, context_of(**context), MINE) is None


@pytest.mark.promise("S14")
@pytest.mark.parametrize("path", ["rows.ROW-99", "rows.ROW-99.id", "*.ROW-99.id"])
def test_a_key_that_the_manifest_names_is_no_value(path: str) -> None:
    reading = learned({"rows": {"ROW-99": {"id": "r-1"}}}, results={path: "system"}).reading
    assert [each.value for each in reading.disclosures("There is a ROW-99 with r-1.", MINE)] == ["r-1"]


@pytest.mark.promise("S14")
@pytest.mark.parametrize(
    ("name", "is_value"),
    [
        ("note", False),
        ("last_note", False),
        ("lastNote", False),
        ("note2", False),
        ("note22", True),
        ("note-2", True),
        ("2022", True),
        ("ada@acme.example", True),
        ("Ada Byron", True),
    ],
)
def test_a_key_that_is_no_name_of_a_field_is_a_value(name: str, is_value: bool) -> None:
    reading = learned({"rows": {name: {"id": "r-1"}}}).reading
    assert [each.value for each in reading.disclosures(f"There is: {name}", MINE)] == ([name] if is_value else [])


@pytest.mark.promise("S14")
def test_an_object_has_the_readers_of_what_is_inside_it() -> None:
    incident = {"incident": {"title": "Mail is slow"}}
    context: dict[str, Any] = {"readers": {"*.title": "public"}}
    assert not closed_to(STRANGER, incident, **context)
    assert readable_part(incident, context_of(**context), STRANGER) == incident


@pytest.mark.promise("S14")
@pytest.mark.parametrize("result", [{"found": []}, {"found": {}}])
def test_that_nothing_was_found_is_told_to_whoever_could_be_told_what_was_found(result: Any) -> None:
    assert readable_part(result, context_of(audience="public"), STRANGER) == result
    assert readable_part(result, context_of(audience="customers"), STRANGER) is None


CONTACT = {"rows": [{"id": "r-1", "contact": {"name": "Ada", "age": 36, "known": True, "since": None}}, {"id": "r-2"}]}


@pytest.mark.promise("S5")
@pytest.mark.parametrize(
    ("redact", "values"),
    [
        ((), []),
        (("contact",), ["Ada", "36"]),
        (("rows[].contact",), ["Ada", "36"]),
        (("contact.name",), ["Ada"]),
        (("other.name",), []),
        (("rows[].id",), ["r-1", "r-2"]),
        (("rows.1.id",), ["r-2"]),
        (("id", "contact.age"), ["r-1", "36", "r-2"]),
    ],
)
def test_what_stands_at_or_below_a_personal_place_is_redacted(redact: tuple[str, ...], values: list[str]) -> None:
    assert values_to_redact(CONTACT, ToolManifest(scope="read", redact=redact)) == values


@pytest.mark.promise("S5")
def test_personal_values_forty_levels_down_are_the_last_to_be_seen() -> None:
    manifest = ToolManifest(scope="read", redact=("name",))
    assert values_to_redact({"name": nested(39)}, manifest) == ["bottom"]
    assert values_to_redact({"name": nested(40)}, manifest) == []


def test_what_a_rehearsal_says_would_exist_is_read_and_not_believed() -> None:
    ledger = ProvenanceLedger()
    learn_result(ledger, ACCOUNTS, context_of(results={"accounts[].id": "system"}), vouches=False)
    assert label(ledger, "a-1") is None
    assert ledger.reading.unreadable(Reader("verified", ADA)) != []
