"""Runbooks are read as people write them; conditions hold only when records show it; nonsense breaks nothing."""

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gaby.mind import Found, SeenCall
from gaby.mind.ownership import Ownership
from gaby.mind.records import View
from gaby.mind.runbooks import Runbook, Scene, document_of, runbooks, shown
from gaby.mind.runbooks.conditions import alternatives
from tests.mind.strategies import hostile_texts

pytestmark = pytest.mark.promise("G2", "L4")

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


def scene(*results: tuple[str, Mapping[str, Any], Any]) -> Scene:
    calls = [
        SeenCall(place, f"ops.{tool}", arguments, "done", "read", result)
        for place, (tool, arguments, result) in enumerate(results, 1)
    ]
    view = View(calls)
    return Scene(view, Ownership(view, ADA), ADA, NOW)


SCENE = scene(("find_user", {"email": ADA}, USER), ("list_disks", {}, DISKS))


def holds(condition: str, at: Scene = SCENE) -> bool | None:
    groups = alternatives(condition)
    assert groups is not None, condition
    return shown(groups, at).holds


def read(text: str, *more: str) -> Runbook:
    parts = [
        Found(f"doc:book/a.md#L{10 * place + 1}-L{10 * place + 9}", "A", each)
        for place, each in enumerate((text, *more))
    ]
    (book,) = runbooks(parts, TOOLS)
    return book


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
        "an alert's `level` is `high`",
    ],
)
def test_conditions_do_not_hold_when_the_records_show_otherwise(condition: str) -> None:
    assert holds(condition) is False


@pytest.mark.parametrize("condition", ["`colour` is `red`", "`state` is `locked` and `colour` is set"])
def test_what_nobody_looked_at_is_not_known(condition: str) -> None:
    assert holds(condition) is None


def test_somebody_elses_record_shows_nothing() -> None:
    others = {"users": [{"id": "u2", "email": "bob@acme.example", "state": "locked"}]}
    assert holds("the user's `state` is `locked`", scene(("find_user", {"email": ADA}, others))) is False
    assert holds("nobody has the requester's address", scene(("find_user", {"email": ADA}, others))) is True


def test_a_colleague_of_the_same_account_is_somebody_else() -> None:
    users = {
        "users": [
            {"id": "u1", "account_id": "a1", "email": ADA},
            {"id": "u2", "account_id": "a1", "email": "b@c.example"},
        ]
    }
    view = View([SeenCall(1, "ops.find_user", {"email": ADA}, "done", "read", users)])
    assert [Ownership(view, ADA).whose(record) for record in view.records] == ["own", "other"]


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
    book = read(RUNBOOK)
    find, disks = book.steps
    assert (find.tool, dict(find.given)) == ("find_user", {"email": "@requester"})
    assert (disks.tool, dict(disks.given)) == ("list_disks", {"mounted": "true"})
    assert disks.of is not None
    assert disks.of.each
    locked, rest = book.branches
    assert locked.cause == "Too many tries locked the account."
    assert [(each.tool, each.hands_over) for each in locked.wanted] == [("unlock_user", False), ("add_note", True)]
    assert "has agreed" in locked.wanted[0].consent
    assert [each.text for each in locked.told][1] == "It was a mistake."
    assert [each.later for each in locked.told] == [False, False, True, True]
    assert not locked.wanted[1].consent
    assert len(locked.asked) == len(locked.handed) == 1
    assert locked.slow
    assert rest.conditions == ()


def test_the_guide_for_writers_says_only_what_is_true() -> None:
    guide = (Path(__file__).parents[2] / "docs/how-to/write-a-runbook.md").read_text(encoding="utf-8")
    example = guide.partition("```markdown\n")[2].partition("```")[0]
    (book,) = runbooks([Found("doc:a", "A", example)], frozenset({"search_users", "list_logins", "unlock_user"}))
    assert (len(book.steps), len(book.branches), len(book.branches[0].told)) == (2, 2, 2)
    table = guide.partition("## Conditions")[2].partition("## What then")[0]
    said = re.findall(r"`` (.+?) ``", table)
    assert len(said) > 15
    for condition in said:
        assert alternatives(condition if not condition.startswith("is ") else f"`field` {condition}"), condition


def test_passages_of_one_document_are_one_runbook_in_the_order_of_their_lines() -> None:
    head, tail = RUNBOOK.split("If `state`", 1)
    first, second = (
        Found("doc:book/a.md#L1-L9", "A", head),
        Found("doc:book/a.md#Causes#L10-L20", "A", f"If `state`{tail}"),
    )
    (book,) = runbooks([second, first], TOOLS)
    assert (len(book.steps), len(book.branches)) == (2, 2)
    assert book.citations == (first.citation, second.citation)
    assert book.branches[0].citation == second.citation
    assert document_of(first.citation) == document_of(second.citation)


def test_a_condition_inside_of_another_needs_both_and_comes_first() -> None:
    book = read(
        "## If `state` is `locked`\n\nThe account is locked. Do `unlock_user`.\n\n"
        "- If `tries` is more than 5: Somebody guesses.\n  - Hand it to the security team.\n"
    )
    inner, outer = book.branches
    assert (inner.cause, outer.cause) == ("Somebody guesses.", "The account is locked.")
    assert len(inner.conditions[0]) == 2


@pytest.mark.parametrize(
    "text",
    [
        "If the moon is full, do `unlock_user`.",
        "If `state` feels strange to you: Do `unlock_user`.",
        "When in doubt `restart` it.",
        "```\nIf `state` is `locked`: Do `unlock_user`.\n```",
    ],
)
def test_a_change_under_a_condition_that_nobody_understands_is_never_made(text: str) -> None:
    found = runbooks([Found("doc:a", "A", f"1. See `find_user`.\n\n{text}\n")], TOOLS)
    assert not any(each.tool != "find_user" for book in found for each in book.steps)
    branches = [branch for book in found for branch in book.branches]
    assert not any(shown(branch.conditions, SCENE).holds for branch in branches if branch.conditions)


def test_a_page_that_names_no_tool_is_no_runbook() -> None:
    assert (
        runbooks([Found("doc:a", "Prices", "# Prices\n\nA seat costs `9 EUR`. If you pay yearly, it is 8 EUR.")], TOOLS)
        == []
    )


PIECES = (
    "# ", "## If ", "If ", "- ", "  - ", "1. ", "Otherwise ", "`state`", "`find_user`", "`unlock_user`", "`", "``",
    "is ",
    "is set", "is not ", "more than 5", " and ", " or if ", ": ", ", ", ".", "\n", "\n\n", "```\n",
    "Tell the requester: ",
    "Ask the requester to ", "Hand it to the x team", "for each user whose ", "the highest `tries`", "the same `state`",
    "at least 3 users ", "no ", "---\n", "> ", "|a|b|\n", "requester's address", "\x00", "é", "**", "_", "(", "[x](y)",
)  # fmt: skip
markdown = st.lists(st.sampled_from(PIECES), max_size=60).map("".join)


@settings(max_examples=150, deadline=None)
@given(st.lists(st.one_of(markdown, hostile_texts), max_size=3))
def test_hostile_markdown_is_read_without_harm(texts: list[str]) -> None:
    found = runbooks([Found(f"doc:{place}#L1", "T", text) for place, text in enumerate(texts)], TOOLS)
    for book in found:
        assert {each.tool for each in book.steps} <= TOOLS
        for branch in book.branches:
            shown(branch.conditions, SCENE)


json_values = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=20), st.just(ADA)),
    lambda inner: st.one_of(
        st.lists(inner, max_size=5),
        st.dictionaries(st.sampled_from(["state", "id", "user_id", "email", "tries", "", "é"]), inner, max_size=5),
    ),
    max_leaves=25,
)
CONDITIONS = [
    alternatives(each) or []
    for each in (
        "`state` is `locked`",
        "two users have the same `id`",
        "no user has `tries` 3",
        "`tries` is above the user's `id`",
        "`state` is older than 1 day",
    )
]


@settings(max_examples=150, deadline=None)
@given(json_values, st.dictionaries(st.text(max_size=5), json_values, max_size=3))
def test_hostile_json_is_held_against_conditions_without_harm(result: Any, arguments: dict[str, Any]) -> None:
    at = scene(("find_user", arguments, result))
    for groups in CONDITIONS:
        assert shown(groups, at).holds in {True, False, None}
