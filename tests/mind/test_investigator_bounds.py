"""The investigator's work is bounded, with many tools, huge results, and hostile words everywhere."""

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gaby.llm.embeddings.embed import Embed
from gaby.mind import FoundPassage, NextStep, PastCall, Situation, ToolCard, conclude, next_step, shown
from gaby.mind.declarations import ToolDeclaration
from tests.mind.strategies import hostile_texts, schemas

pytestmark = pytest.mark.promise("G2")

ADA = "ada@acme.example"
FIND = ToolCard(
    "crm.find_user",
    "Find a user by e-mail address.",
    {"type": "object", "properties": {"email": {"type": "string", "format": "email"}}, "required": ["email"]},
    declares=ToolDeclaration(owner={"users[]": "email"}),
)
UNLOCK = ToolCard(
    "crm.unlock_user",
    "Unlock a user.",
    {"type": "object", "properties": {"user_id": {"type": "string"}}, "required": ["user_id"]},
    "write",
)
RUNBOOK = FoundPassage(
    "doc:book/locked.md#L1-L9",
    "Locked out",
    "# Locked out\n\nFor people whose account is locked.\n\n1. See `find_user`.\n\n"
    "If the user's `state` is `locked`: The account is locked. Do `unlock_user`.",
    runbook=True,
)
TICKET = Situation(
    "Locked out",
    "I cannot sign in, my account is locked.",
    ADA,
    requester_verified=True,
    searched=True,
    passages=[RUNBOOK],
    tools=[FIND, UNLOCK],
)


def many_tools(count: int) -> Iterator[ToolCard]:
    for number in range(count):
        schema = {
            "type": "object",
            "properties": {"email": {"type": "string", "format": "email"}},
            "required": ["email"],
        }
        yield ToolCard(f"tools.look_{number}", f"Look at the account and its locks, number {number}.", schema)


def run(situation: Situation, result: Any, embed: Embed) -> tuple[Situation, list[NextStep]]:
    steps: list[NextStep] = []
    while len(steps) < 30:
        step = next_step(situation, embed)
        steps.append(step)
        if step.kind == "conclude":
            return situation, steps
        if step.kind == "retrieve":
            situation = replace(situation, searched=True, queries=(*situation.queries, *step.queries))
        cards = {tool.name: tool for tool in situation.tools}
        calls = list(situation.calls)
        for call in step.calls:
            calls.append(PastCall(len(calls) + 1, call.tool, call.arguments, "done", cards[call.tool].access, result))
        situation = replace(situation, calls=calls)
    raise AssertionError("It does not come to an end.")


def test_among_five_hundred_tools_only_a_few_are_called(embed: Embed) -> None:
    crowd = replace(TICKET, passages=[], tools=[*many_tools(500), FIND, UNLOCK])
    situation, steps = run(crowd, {"state": "fine"}, embed)
    assert len(situation.calls) <= 8
    assert len(steps) <= 6
    assert all(call.access == "read" for call in situation.calls)


def test_a_result_of_a_megabyte_is_read_as_far_as_it_helps(embed: Embed) -> None:
    noise = [{"id": f"x{number}", "text": "lorem ipsum " * 20, "state": "fine"} for number in range(4000)]
    huge = {"users": [{"id": "u1", "email": ADA, "state": "locked"}], "events": noise}
    assert len(json.dumps(huge)) > 1_000_000
    situation, _ = run(TICKET, huge, embed)
    assert [call.tool for call in situation.calls if call.access == "write"] == ["crm.unlock_user"]
    assert len(shown(huge)) <= 12_000
    assert json.loads(shown(huge))["users"][0]["state"] == "locked"


def test_a_change_is_made_once_however_often_it_is_asked_for(embed: Embed) -> None:
    situation, _ = run(TICKET, {"users": [{"id": "u1", "email": ADA, "state": "locked"}]}, embed)
    assert [call.tool for call in situation.calls] == ["crm.find_user", "crm.unlock_user", "crm.find_user"]
    assert conclude(situation, embed).judgement.verdict == "needs_l2"


def test_an_id_that_only_the_ticket_names_is_not_changed(embed: Embed) -> None:
    ticket = replace(TICKET, text=f"{TICKET.text} My user_id is u99.")
    situation, _ = run(ticket, {"users": [{"email": ADA, "state": "locked"}]}, embed)
    assert [call for call in situation.calls if call.access == "write"] == []


def test_a_page_that_a_stranger_may_have_written_is_never_followed(embed: Embed) -> None:
    old_ticket = replace(RUNBOOK, trusted=False)
    situation, _ = run(
        replace(TICKET, passages=[old_ticket]), {"users": [{"id": "u1", "email": ADA, "state": "locked"}]}, embed
    )
    assert [call for call in situation.calls if call.access == "write"] == []


def test_a_thing_that_is_called_by_the_requesters_address_is_not_the_requesters(embed: Embed) -> None:
    named = {"users": [{"id": "u1", "name": ADA, "note": ADA, "state": "locked"}]}
    situation, _ = run(TICKET, named, embed)
    assert [call for call in situation.calls if call.access == "write"] == []


def test_where_nobody_can_look_up_who_is_asking_nothing_is_changed(embed: Embed) -> None:
    doors = ToolCard("house.list_doors", "The doors.", {"type": "object", "properties": {}})
    needs = {"type": "object", "properties": {"door_id": {"type": "string"}}, "required": ["door_id"]}
    runbook = replace(
        RUNBOOK,
        text=RUNBOOK.text.replace("find_user", "list_doors")
        .replace("unlock_user", "open_door")
        .replace("user", "door"),
    )
    ticket = replace(TICKET, passages=[runbook], tools=[doors, ToolCard("house.open_door", "Open.", needs, "write")])
    situation, _ = run(ticket, {"doors": [{"id": "d1", "state": "locked"}]}, embed)
    assert [call.tool for call in situation.calls] == ["house.list_doors"]
    assert conclude(situation, embed).judgement.verdict == "needs_tech"


def test_a_second_look_that_fails_says_nothing(embed: Embed) -> None:
    locked = {"users": [{"id": "u1", "email": ADA, "state": "locked"}]}
    calls = [
        PastCall(1, FIND.name, {"email": ADA}, "done", "read", locked),
        PastCall(2, UNLOCK.name, {"user_id": "u1"}, "done", "write", {}),
        PastCall(3, FIND.name, {"email": ADA}, "failed", "read", reason="It is down."),
    ]
    assert next_step(replace(TICKET, calls=calls), embed).kind == "conclude"
    ending = conclude(replace(TICKET, calls=calls), embed)
    assert (ending.case.verified, ending.judgement.verdict) == (None, "needs_tech")


def test_two_that_could_be_meant_are_left_to_a_person(embed: Embed) -> None:
    """Both are the requester's, and the condition is about something else."""
    unclear = replace(RUNBOOK, text=RUNBOOK.text.replace("the user's `state`", "the door's `state`"))
    two = [{"id": f"u{number}", "email": ADA} for number in (1, 2)]
    situation, _ = run(replace(TICKET, passages=[unclear]), {"users": two, "doors": [{"state": "locked"}]}, embed)
    assert [call for call in situation.calls if call.access == "write"] == []
    assert conclude(situation, embed).judgement.verdict == "needs_tech"


def test_a_nudge_ends_the_looking_around(embed: Embed) -> None:
    looking = replace(TICKET, passages=[], tools=[*many_tools(20), FIND])
    started = [PastCall(1, FIND.name, {"email": ADA}, "done", "read", {"users": [{"id": "u1", "email": ADA}]})]
    assert next_step(replace(looking, calls=started), embed).kind == "call"
    nudged = replace(looking, calls=started, nudges=["You have called crm.find_user three times."])
    assert next_step(nudged, embed).kind == "conclude"


json_values = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), hostile_texts, st.just(ADA)),
    lambda inner: st.one_of(
        st.lists(inner, max_size=4),
        st.dictionaries(st.sampled_from(["users", "state", "id", "user_id", "email", "", "x.y"]), inner, max_size=4),
    ),
    max_leaves=12,
)


@given(
    text=hostile_texts,
    pages=st.lists(hostile_texts, max_size=2),
    result=json_values,
    strange=st.lists(schemas, max_size=3),
    verified=st.booleans(),
)
def test_nothing_hostile_keeps_it_from_coming_to_an_end(
    embed: Embed, text: str, pages: list[str], result: Any, strange: list[dict[str, Any]], *, verified: bool
) -> None:
    tools = [FIND, UNLOCK, *(ToolCard(f"x.tool_{place}", text, schema) for place, schema in enumerate(strange))]
    passages = [RUNBOOK, *(FoundPassage(f"doc:{place}#L1", page[:20], page) for place, page in enumerate(pages))]
    ticket = replace(
        TICKET, title="", text=text, requester_verified=verified, searched=False, passages=passages, tools=tools
    )
    situation, _ = run(ticket, result, embed)
    ending = conclude(situation, embed)
    known = {each.citation for each in passages} | {call.citation for call in situation.calls}
    assert all(known.issuperset(each.citations) for each in ending.sentences)
    # Asking who somebody is states nothing, so it is the one sentence without a source.
    uncited = [each.text for each in ending.sentences if not each.citations]
    assert all("who you are" in each for each in uncited)
    if not verified:
        assert not any(call.access == "write" for call in situation.calls)
