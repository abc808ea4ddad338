"""Runbooks are parsed strictly; conditions hold only when records show it; nonsense breaks nothing, and fast."""

import re
import time
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gaby.mind import FoundPassage, PastCall, ToolCard
from gaby.mind.declarations import ToolDeclaration
from gaby.mind.ownership import Ownership
from gaby.mind.records import RecordView
from gaby.mind.runbooks import (
    ConditionResult,
    EvaluationContext,
    Runbook,
    evaluate,
    is_runbook,
    parse_runbook,
    runbooks,
)
from gaby.mind.runbooks.conditions import alternatives
from gaby.mind.runbooks.consents import consents_wanted
from gaby.mind.runbooks.draft import draft_runbook
from gaby.mind.runbooks.field_refs import FieldRef
from gaby.mind.runbooks.model import ConstantValue, RequesterAddress, ResultField, TicketIdValue, TicketValue
from gaby.runbooks.trial import tried_condition
from tests.mind.strategies import hostile_texts

pytestmark = pytest.mark.promise("L15")

NOW = datetime(2030, 3, 4, 9, 0, tzinfo=UTC)
ADA = "ada@acme.example"
TOOLS = frozenset({"find_user", "list_disks", "get_host", "unlock_user", "restart", "add_note"})
USER = {"users": [{"id": "u1", "email": ADA, "state": "locked", "locked_at": "2030-03-04T07:00:00Z", "tries": 7}]}
DISKS = {
    "host": {"name": "web-1", "state": "up", "zone": "b"},
    "disks": [
        {"id": "d1", "name": "data", "used": 97, "size": 100, "state": "full", "mounted": True, "note": None},
        {"id": "d2", "name": "log", "used": 10, "size": 100, "state": "ok", "mounted": False, "note": ""},
    ],
    "zones": ["a", "b"],
    "alerts": [],
}


def card(name: str, **declared: Any) -> ToolCard:
    return ToolCard(f"ops.{name}", "", {"type": "object"}, declares=ToolDeclaration(**declared))


CARDS = (card("find_user", owner={"users[]": "email"}), card("list_disks"), card("get_host"))


def scene(*results: tuple[str, Mapping[str, Any], Any]) -> EvaluationContext:
    calls = [
        PastCall(place, f"ops.{tool}", arguments, "done", "read", result)
        for place, (tool, arguments, result) in enumerate(results, 1)
    ]
    view = RecordView(calls)
    return EvaluationContext(view, Ownership(view, ADA, CARDS), ADA, NOW, cards=CARDS, calls=calls)


SCENE = scene(("find_user", {"email": ADA}, USER), ("list_disks", {}, DISKS))


def evaluated(condition: str, at: EvaluationContext = SCENE) -> ConditionResult:
    return evaluate(alternatives(condition), at)


def holds(condition: str, at: EvaluationContext = SCENE) -> bool | None:
    return evaluated(condition, at).holds


def read(text: str) -> Runbook:
    return parse_runbook(text, TOOLS, "doc:book/a.md#L1-L9", "A")


def errors(text: str) -> list[tuple[int, str]]:
    return [(each.line, each.why) for each in read(text).errors]


@pytest.mark.parametrize(
    "condition",
    [
        "`locked_at` is set",
        "the user's `state` is `locked`",
        "`users.state` is `locked`",
        "`state` of the user is `locked` or `blocked`",
        "`tries` is more than 5",
        "`tries` is at least 7 and `tries` is at most 7",
        "`locked_at` is more than 1 hour ago",
        "`locked_at` is newer than 3 hours",
        "`locked_at` is in the past",
        "`email` is the requester's address",
        "a disk's `state` is `full` and its `used` is above 90",
        "a disk whose `mounted` is `false`",
        "a disk's `note` is empty",
        "the host's `zone` is in `zones`",
        "the disk's `used` is below the disk's `size`",
        "a disk's `name` mentions `dat`",
        "at least 2 disks have `size` 100",
        "two disks have the same `size`",
        "no disk has `state` `broken`",
        "there are no alerts",
        "only 1 disk has `state` `full`",
        "`state` is `nothing` or if `tries` is 7",
    ],
)
def test_conditions_hold_when_the_records_show_it(condition: str) -> None:
    assert holds(condition) is True


@pytest.mark.parametrize(
    "condition",
    [
        "`locked_at` is empty",
        "the user's `state` is not `locked`",
        "the user's `state` is `full`",
        "`tries` is less than 5",
        "`locked_at` is older than 3 hours",
        "`locked_at` is in the future",
        "a disk's `state` is `full` and its `used` is below 50",
        "a disk's `name` mentions the host's `name`",
        "the host's `name` is in `zones`",
        "two disks have the same `name`",
        "more than 2 disks have `size` 100",
        "no disk has `state` `full`",
    ],
)
def test_conditions_do_not_hold_when_the_records_show_otherwise(condition: str) -> None:
    assert holds(condition) is False


@pytest.mark.parametrize(
    ("condition", "why"),
    [
        ("`colour` is `red`", "no answer of `find_user`, `list_disks` has `colour`"),
        ("the user's `state` is `locked` and `colour` is set", "has `colour`"),
        ("`state` is `locked`", "stands in several answers"),
        ("`email` is more than 5", "cannot be compared"),
        ("a disk's `name` is older than 3 days", "cannot be compared"),
        ("no rockets have `state` `broken`", "several answers"),
        ("a disk's `tries` is more than 5", "has `tries` of “disk”"),
        ("no disk has `locked_at` `never`", "has `locked_at` of “disk”"),
    ],
)
def test_what_cannot_be_evaluated_is_not_known_and_says_why(condition: str, why: str) -> None:
    condition_result = evaluated(condition)
    assert condition_result.holds is None
    assert why in condition_result.why


def test_a_field_of_a_thing_that_was_not_read_is_not_taken_from_another_thing() -> None:
    """The only `state` that was read is that of the user."""
    at = scene(("find_user", {"email": ADA}, USER))
    assert holds("the user's `state` is `locked`", at) is True
    for condition in ("no disk has `state` `broken`", "a disk has `state` `locked`"):
        assert holds(condition, at) is None
    assert holds("the person's `state` is `locked`", at) is True, "no tool is called by that word"
    assert holds("a disk's `used` is above 90 and `locked_at` is set") is True, "a clause that names no thing"


@pytest.mark.parametrize(
    "said", ["no disk has `state` `full`", "a disk has `state` `lost`", "no disk has `state` `ok`"]
)
def test_a_trial_shows_only_values_of_the_things_that_a_condition_names(said: str) -> None:
    ((condition,),) = alternatives(said)
    assert tried_condition(condition, SCENE).values == ["state: full", "state: ok"]


def test_no_is_an_answer_even_where_another_part_is_not_known() -> None:
    assert holds("the user's `state` is `open` and `colour` is set") is False


def test_a_tool_that_failed_is_named_as_the_reason() -> None:
    failed = PastCall(1, "ops.list_disks", {}, "failed", "read", None, "connection refused")
    view = RecordView([failed])
    at = EvaluationContext(view, Ownership(view, ADA, CARDS), ADA, NOW, cards=CARDS, calls=[failed])
    assert evaluated("a disk's `state` is `full`", at).why == (
        "`state` was not seen, because `list_disks` was failed: connection refused"
    )


def test_a_schema_says_which_fields_a_row_has_that_is_empty_or_not_there() -> None:
    row = {"type": "object", "properties": {"state": {"type": "string"}, "note": {"type": ["string", "null"]}}}
    schema = {"type": "object", "properties": {"jobs": {"type": "array", "items": {"$ref": "#/$defs/Job"}}}}
    jobs = card("list_disks", output_schema={**schema, "$defs": {"Job": row}})
    cases: tuple[tuple[Any, str, bool | None], ...] = (
        ({"jobs": []}, "a job's `state` is `stuck`", False),
        ({"jobs": []}, "no job has `state` `stuck`", True),
        ({"jobs": [{"state": "stuck"}]}, "a job's `note` is empty", True),
        ({"jobs": [{"state": "stuck"}]}, "a job's `owner` is empty", None),
    )
    for result, condition, expected in cases:
        calls = [PastCall(1, "ops.list_disks", {}, "done", "read", result)]
        view = RecordView(calls)
        at = EvaluationContext(view, Ownership(view, ADA, [jobs]), ADA, NOW, cards=[jobs], calls=calls)
        assert holds(condition, at) is expected, condition


def test_whose_a_row_is_comes_from_its_declared_owner_alone() -> None:
    others = {"users": [{"id": "u2", "email": "bob@acme.example", "state": "locked"}]}
    condition_result = evaluated("the user's `state` is `locked`", scene(("find_user", {"email": ADA}, others)))
    assert (condition_result.holds, condition_result.why) == (
        None,
        "`find_user` gave 1 row, and none belongs to the requester",
    )
    assert holds("nobody has the requester's address", scene(("find_user", {"email": ADA}, others))) is True
    # Nothing is declared of disks, so they are everybody's, whatever ids and addresses stand in them or were asked for.
    disk = {"disks": [{"id": "4B", "contact": "bob@acme.example", "state": "full"}]}
    assert holds("a disk's `state` is `full`", scene(("list_disks", {"ward": "4B"}, disk))) is True


def test_an_owner_argument_leads_from_the_requesters_row_to_what_is_theirs() -> None:
    users = card("find_user", owner={"people[]": "contact.email"})
    logins = card("list_logins", owner_argument="user_id")
    people = {"people": [{"id": "u1", "contact": {"email": ADA.upper()}, "jobs": [{"kind": "x"}]}]}

    def whose(user_id: str) -> list[str]:
        calls = [
            PastCall(1, "ops.find_user", {"email": ADA}, "done", "read", people),
            PastCall(2, "ops.list_logins", {"user_id": user_id}, "done", "read", {"logins": [{"ok": False}]}),
        ]
        view = RecordView(calls)
        return [Ownership(view, ADA, [users, logins]).whose(record) for record in view.records]

    assert set(whose("people-7")) == {"own", "other"}
    declared = card("list_logins", owner_argument="person_id")
    calls = [
        PastCall(
            1,
            "ops.find_user",
            {"email": ADA},
            "done",
            "read",
            {"people": [{"person_id": "p1", "contact": {"email": ADA}}]},
        ),
        PastCall(2, "ops.list_logins", {"person_id": "p1"}, "done", "read", {"logins": [{"ok": False}]}),
    ]
    view = RecordView(calls)
    assert {Ownership(view, ADA, [users, declared]).whose(record) for record in view.records} == {"own"}


def test_a_row_of_the_requester_that_nobody_looked_up_by_address_does_not_make_them_known() -> None:
    tickets = card("get_ticket", owner={"ticket": "requester"})
    calls = [PastCall(1, "ops.get_ticket", {"id": "t1"}, "done", "read", {"ticket": {"requester": ADA}})]
    view = RecordView(calls)
    assert not Ownership(view, ADA, [tickets]).is_known


def test_a_newer_answer_to_the_same_call_replaces_the_older_one() -> None:
    unlocked = {"users": [{**USER["users"][0], "state": "active", "locked_at": None}]}
    again = scene(("find_user", {"email": ADA}, USER), ("find_user", {"email": ADA}, unlocked))
    assert holds("`locked_at` is set", again) is False


def test_results_that_are_text_are_understood_as_far_as_they_go() -> None:
    assert holds("`state` is `locked`", scene(("get_host", {}, "name: web-1\nstate: locked\nzone: b"))) is True
    assert holds("`state` is `locked`", scene(("get_host", {}, '{"state": "locked"}'))) is True


RUNBOOK = """# Locked out

For people who cannot sign in.

1. Find the user with `find_user`, `email`: the requester's address.
2. Look at `list_disks` (`mounted` = `true`) for each host whose `state` is `up`.

If `state` is `locked`: Too many tries locked the account.
- Do `unlock_user`.
- Only after a colleague has agreed.
- It takes a minute.
- Tell the requester: You were locked out at `locked_at`. It was a mistake.
- Then tell the requester: You are unlocked. Try again.
- Ask the requester to use their new password.
- Hand it to the access team with `add_note`.

Otherwise hand it to second level.
"""


def test_a_runbook_says_what_to_look_at_and_what_to_do_when() -> None:
    runbook = read(RUNBOOK)
    assert runbook.errors == ()
    find, disks = runbook.steps
    assert (find.tool, dict(find.given), find.line) == ("find_user", {"email": RequesterAddress()}, 5)
    assert (disks.tool, dict(disks.given)) == ("list_disks", {"mounted": ConstantValue("true")})
    assert disks.of is not None
    assert disks.of.each
    locked, rest = runbook.branches
    assert locked.cause == "Too many tries locked the account."
    assert [(each.tool, each.hands_over) for each in locked.wanted] == [("unlock_user", False), ("add_note", True)]
    assert "has agreed" in locked.wanted[0].consent
    assert [each.text for each in locked.told][1] == "It was a mistake."
    assert [each.later for each in locked.told] == [False, False, True, True]
    assert not locked.wanted[1].consent
    assert len(locked.asked) == len(locked.handed) == 1
    assert locked.slow
    assert rest.conditions == ()


@pytest.mark.parametrize(
    ("said", "source"),
    [
        ("`x`: `payments`", ConstantValue("payments")),
        ("`x` 5", ConstantValue("5")),
        ("`x`: the requester's e-mail address", RequesterAddress()),
        ("`x`: the requester's domain", RequesterAddress(only_domain=True)),
        ("`x`: this ticket", TicketIdValue()),
        ("`x`: the order number in the ticket", TicketValue("order number")),
        ("`x`: the order number in the ticket, matching `ORD-[0-9]{6}`", TicketValue("order number", "ORD-[0-9]{6}")),
    ],
)
def test_where_a_value_comes_from_is_written_behind_the_tool(said: str, source: object) -> None:
    (step,) = read(f"1. Look at it with `list_disks`, {said}.\n\nIf `a` is set: It is. Hand it to x.").steps
    assert step.given == (("x", source),)


def test_a_field_of_an_earlier_result_is_written_with_what_it_is_of() -> None:
    for said in ("`printer_id` of the printer", "the printer's `printer_id`", "`printer_id` of `get_host`"):
        (step,) = read(f"1. Look with `list_disks`, `x`: {said}.\n\nIf `a` is set: It is. Hand it to x.").steps
        ((name, source),) = step.given
        assert name == "x"
        assert isinstance(source, ResultField)
        assert source.ref.name == "printer_id"


@pytest.mark.parametrize(
    "said",
    [
        "`x`: `id` of the disk, `limit`: 5, for the disk whose `state` is `full`",
        "for the disk whose `state` is `full`, `x`: `id` of the disk, `limit`: 5",
        "`x`: `id` of the disk, for the disk whose `state` is `full`, `limit`: 5",
        "for the disk whose `state` is `full` (`x`: `id` of the disk, `limit`: 5)",
    ],
)
def test_arguments_stand_before_or_behind_the_things_that_a_call_is_for(said: str) -> None:
    runbook = read(f"1. Look with `list_disks`, {said}.\n\nIf `a` is set: It is. Hand it to x.")
    assert runbook.errors == ()
    (step,) = runbook.steps
    assert dict(step.given) == {"x": ResultField(FieldRef("id", frozenset({"disk"}))), "limit": ConstantValue("5")}
    assert step.of is not None
    assert (step.of.words, [each.words for each in step.of.tests]) == ("disk", ["`state` is `full`"])


@pytest.mark.parametrize(
    ("said", "why"),
    [
        ("for each disk, `x`: 5, for each host", "not understood behind the arguments"),
        ("`x`: 5, for each disk, `x`: 6", "given twice"),
        ("for each disk, `x`: 5, gently", "not understood behind the arguments"),
        ("for each disk, `x`: whichever you like", "says not where the value comes from"),
    ],
)
def test_what_stands_behind_the_things_is_read_as_strictly(said: str, why: str) -> None:
    ((_, found),) = errors(f"1. Look with `list_disks`, {said}.\n\nIf `a` is set: It is. Hand it to x.")
    assert why in found


PROSE = """# Printer is stuck

Labels do not come out. Ask on which floor it is. If the light is red, open the lid. It is often paper.

The rest is in the wiki. Find them with `find_user`.

## If `state` is `locked`

Somebody has to come.
"""


def test_a_draft_has_a_line_for_every_sentence_behind_the_first() -> None:
    drafted = draft_runbook(PROSE, TOOLS)
    assert "# Printer is stuck\n\nLabels do not come out.\n\n" in drafted
    assert "1. Find them with `find_user`.\n" in drafted
    open_lines = [line for line in drafted.splitlines() if "TODO:" in line]
    for sentence in (
        "Ask on which floor it is.",
        "If the light is red, open the lid.",
        "It is often paper.",
        "The rest is in the wiki.",
        "Somebody has to come.",
    ):
        assert f"- TODO: {sentence}" in open_lines
    assert "If `state` is `locked`: TODO: the cause, in a sentence." in open_lines
    found = [why for _, why in errors(drafted) if why == "this is still to be written"]
    assert len(found) == len(open_lines), "each is reported"


def test_a_page_that_begins_with_what_to_do_has_no_introduction() -> None:
    drafted = draft_runbook("# Printer\n\nFirst check the light. Labels do not come out.\n", TOOLS)
    assert "TODO: for whom it is" in drafted
    assert "- TODO: First check the light.\n- TODO: Labels do not come out.\n" in drafted


def test_the_guide_for_writers_says_only_what_is_true() -> None:
    guide = (Path(__file__).parents[2] / "docs/how-to/write-a-runbook.md").read_text(encoding="utf-8")
    example = guide.partition("```markdown\n")[2].partition("```")[0]
    runbook = parse_runbook(example, frozenset({"search_users", "list_logins", "unlock_user"}))
    assert (runbook.errors, runbook.declared, len(runbook.symptoms)) == ((), True, 3)
    assert (len(runbook.steps), len(runbook.branches), len(runbook.branches[0].told)) == (2, 2, 2)
    table = guide.partition("## Conditions")[2].partition("## What then")[0]
    said = re.findall(r"`` (.+?) ``", table)
    assert len(said) > 15
    for condition in said:
        assert alternatives(condition if not condition.startswith("is ") else f"`field` {condition}"), condition


def test_a_page_is_a_runbook_when_it_says_so_or_is_understood_as_a_whole() -> None:
    assert is_runbook(RUNBOOK, TOOLS)
    assert not is_runbook(f"{RUNBOOK}\nGood luck to everybody.", TOOLS)
    assert is_runbook(f"---\nrunbook: true\n---\n{RUNBOOK}\nGood luck to everybody.", TOOLS)
    assert not is_runbook(f"---\nrunbook: false\n---\n{RUNBOOK}", TOOLS)
    assert not is_runbook(RUNBOOK, frozenset())
    assert not is_runbook("# Prices\n\nA seat costs `9 EUR`. If you pay yearly, it is 8 EUR.", TOOLS)
    passage = FoundPassage("doc:a#L1-L9", "A", RUNBOOK)
    assert runbooks([passage], TOOLS) == []


def test_symptoms_stand_in_the_front_matter_in_any_language() -> None:
    for listed in (
        "symptoms: [locked out, 'komme nicht rein']",
        "symptoms:\n  - locked out\n  - komme nicht rein # de",
    ):
        runbook = read(f"---\ntitle: X\nrunbook: true\n{listed}\n---\n{RUNBOOK}")
        assert runbook.symptoms == ("locked out", "komme nicht rein")
        assert runbook.errors == ()
    assert errors(f"---\nrunbook: perhaps\n---\n{RUNBOOK}") == [(2, "`runbook` is neither true nor false")]


def test_a_condition_inside_of_another_needs_both_and_comes_first() -> None:
    runbook = read(
        "## If `state` is `locked`\n\nThe account is locked. Do `unlock_user`.\n\n"
        "- If `tries` is more than 5: Somebody guesses.\n  - Hand it to the security team.\n"
    )
    inner, outer = runbook.branches
    assert runbook.errors == ()
    assert (inner.cause, outer.cause) == ("Somebody guesses.", "The account is locked.")
    assert len(inner.conditions[0]) == 2


ABOVE = "1. Find them with `find_user`.\n\nIf `state` is `locked`: It is locked.\n- Do `unlock_user`.\n"


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("- Restart the machine.", "not understood"),
        ("- Do `fly_away`.", "no tool `fly_away`"),
        ("- Hand it to the shift with `fly_away`.", "no tool `fly_away`"),
        ("- Do not call `restart`.", "not clear whether"),
        ("- If you dare, do `restart`.", "names no field"),
        ("- Unless they object, look at it with `restart`.", "“Unless” before `restart`"),
        ("- Do `restart`, gently.", "not understood behind the tool"),
        ("- Do `restart`, `host`: whichever you like.", "says not where the value comes from"),
        ("- Do `restart` and `unlock_user`.", "names several"),
        ("- Do `restart` for each host that is broken.", "names no field"),
        ("- Do `restart`, `host`: `a`, `host`: `b`.", "given twice"),
        ("- TODO: ask Bob.", "still to be written"),
        ("- Tell the payments team about it.", "not understood"),
        ("\nIf `state` feels strange to you: Odd.\n- Do `restart`.", "not understood"),
        ("\nIf `state` is locked: Odd.\n- Do `restart`.", "not understood behind the field"),
        ("\nIf the moon is full: Odd.\n- Do `restart`.", "names no field"),
        ("\nIf `state is locked: Odd.\n- Do `restart`.", "backtick is not closed"),
        ("\nIf `state` is `open` unless `tries` is 3: Odd.\n- Do `restart`.", "not understood"),
        ("\nIf `state` is `open`: Restart the machine.", "nothing is to be done"),
        ("\n```\nkubectl delete pod\n```", "block of code"),
    ],
)
def test_a_sentence_that_is_not_understood_is_an_error_with_its_line(line: str, why: str) -> None:
    found = errors(f"{ABOVE}{line}\n")
    assert [said for _, said in found if why in said], found
    number = 5 + line.startswith("\n")
    assert {number} <= {where for where, _ in found}


def test_a_remark_for_colleagues_is_written_as_one() -> None:
    runbook = read(f"{ABOVE}- Note for colleagues: restart the machine, and do not use `restart`.\n")
    assert runbook.errors == ()
    assert [each.text for each in runbook.branches[0].details] == ["restart the machine, and do not use `restart`."]


def test_consents_are_found_on_any_page_also_on_one_that_is_no_runbook() -> None:
    page = "# Hints\n\nWhen all else fails, `restart` helps. A colleague has to agree first, before you do it.\n"
    assert list(consents_wanted([FoundPassage("doc:a", "A", page)], ["ops.restart", "ops.find_user"])) == [
        "ops.restart"
    ]
    assert consents_wanted([FoundPassage("doc:a", "A", page, trusted=False)], ["ops.restart"]) == {}


def test_a_consent_holds_for_every_tool_of_that_name() -> None:
    page = FoundPassage("doc:a", "A", "# Hints\n\n`restart_all` helps. A colleague has to agree first.\n")
    assert set(consents_wanted([page], ["ops.restart_all", "archive.restart_all"])) == {
        "ops.restart_all",
        "archive.restart_all",
    }
    bare = FoundPassage("doc:a", "A", "# Hints\n\nRun ops.restart_all. A colleague has to agree first.\n")
    assert set(consents_wanted([bare], ["ops.restart_all", "archive.restart_all"])) == {"ops.restart_all"}


@pytest.mark.parametrize(
    "text",
    [
        "If " + "`a` is set and " * 20_000,
        "If " + "a " * 500_000 + "`b` is set: x",
        "- " * 100_000,
        "\n".join("  " * depth + "- If `a` is set: x" for depth in range(1500)),
        "---\n" + "a: b\n" * 100_000,
        "---\nsymptoms: [" + "'a', " * 5000,
        "`" * 1_000_000,
        "1. Look " + "with " * 300 + "`find_user`" + ", `a`: `b`" * 300,
        "If " + "at least 3 " * 150 + "`a` is set: x",
        "\x00" * 1_000_000,
        "> " * 500_000,
        "If `a` is `" + "x" * 1_000_000 + "`: y",
        "- Ask the " + "a " * 900 + "to go.",
    ],
    ids=range(13),
)
def test_hostile_pages_are_read_in_no_time(text: str) -> None:
    start = time.perf_counter()
    runbook = parse_runbook(text, TOOLS)
    consents_wanted([FoundPassage("doc:a", "A", text)], ["ops.restart"])
    is_runbook(text, TOOLS)
    assert time.perf_counter() - start < 2
    assert runbook.errors


PIECES = (
    "# ", "## If ", "If ", "- ", "  - ", "1. ", "Otherwise ", "`state`", "`find_user`", "`unlock_user`", "`", "``",
    "is ",
    "is set", "is not ", "more than 5", " and ", " or if ", ": ", ", ", ".", "\n", "\n\n", "```\n",
    "Tell the requester: ",
    "Ask the requester to ", "Hand it to the x team", "for each user whose ", "the highest `tries`", "the same `state`",
    "at least 3 users ", "no ", "---\n", "> ", "|a|b|\n", "requester's address", "\x00", "é", "**", "_", "(", "[x](y)",
)  # fmt: skip
markdown = st.lists(st.sampled_from(PIECES), max_size=60).map("".join)


@given(st.lists(st.one_of(markdown, hostile_texts), max_size=3))
def test_hostile_markdown_is_read_without_harm(texts: list[str]) -> None:
    found = runbooks(
        [FoundPassage(f"doc:{place}#L1", "T", text, runbook=True) for place, text in enumerate(texts)], TOOLS
    )
    for runbook in found:
        assert {each.tool for each in runbook.steps} <= TOOLS
        for branch in runbook.branches:
            evaluate(branch.conditions, SCENE)


json_values = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=20), st.just(ADA)),
    lambda inner: st.one_of(
        st.lists(inner, max_size=5),
        st.dictionaries(st.sampled_from(["state", "id", "user_id", "email", "tries", "", "é"]), inner, max_size=5),
    ),
    max_leaves=25,
)
CONDITIONS = [
    alternatives(each)
    for each in (
        "`state` is `locked`",
        "two users have the same `id`",
        "no user has `tries` 3",
        "`tries` is above the user's `id`",
        "`state` is older than 1 day",
    )
]


@given(json_values, st.dictionaries(st.text(max_size=5), json_values, max_size=3))
def test_hostile_json_is_held_against_conditions_without_harm(result: Any, arguments: dict[str, Any]) -> None:
    at = scene(("find_user", arguments, result))
    for groups in CONDITIONS:
        assert evaluate(groups, at).holds in {True, False, None}


def test_fields_of_one_thing_are_not_gathered_from_two_of_them() -> None:
    listed = {"incidents": [{"id": "i1", "regions": ["us"], "parts": ["mail"]}]}
    single = {"incident": {"id": "i2", "regions": ["eu"], "parts": ["login"]}}
    at = scene(("list_disks", {}, listed), ("get_host", {}, single))
    assert holds("the incident's `regions` mentions `us` and the incident's `parts` mentions `login`", at) is False
    assert holds("the incident's `regions` mentions `eu` and the incident's `parts` mentions `login`", at) is True
