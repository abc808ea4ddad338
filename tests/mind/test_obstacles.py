"""A runbook that fits and cannot be followed leads to a person, with the reason; nothing is called in order for it."""

from dataclasses import replace
from typing import Any

import pytest

from gaby.llm.embeddings.embed import Embed
from gaby.mind import FoundPassage, PastCall, RuleConclusion, Situation, ToolCard, conclude, next_step
from gaby.mind.declarations import ToolDeclaration
from gaby.mind.situations import Access

pytestmark = pytest.mark.promise("L15")

TOM = "tom@ward.example"


def tool(name: str, *needed: str, access: Any = "read", **declared: Any) -> ToolCard:
    schema = {
        "type": "object",
        "properties": {each: {"type": "string"} for each in needed},
        "required": list(needed),
    }
    return ToolCard(f"it.{name}", "", schema, access, ToolDeclaration(**declared))


TOOLS = (
    tool("find_person", "email", owner={"people[]": "email"}),
    tool("list_printers", "ward"),
    tool("clear_queue", "printer_id", access="write"),
    tool("get_badge", "badge_id"),
    tool("get_order", "order_number"),
)
PERSON = {"people": [{"person_id": "p1", "email": TOM, "ward": "4B", "badge_id": "b-7"}]}
STUCK = {"printers": [{"printer_id": "LBL-4B-1", "state": "online", "minutes": 47, "jobs": {"waiting": {"count": 23}}}]}
ANSWERS: dict[str, Any] = {
    "it.find_person": PERSON,
    "it.list_printers": STUCK,
    "it.clear_queue": {"done": "cleared"},
    "it.get_badge": {"badge_id": "b-7", "valid_until": "2020-01-01T00:00:00Z"},
    "it.get_order": {"state": "lost"},
}
PRINTER = """---
runbook: true
symptoms: [Etikettendrucker druckt nicht]
---
# Label printer prints nothing

For wards where labels do not come out of the label printer.

1. Find the requester with `find_person`.
2. Look at the printers of their ward with `list_printers`.

If a printer has `state` `online` and its `minutes` is at least 10: The print queue is stuck.
- Do `clear_queue`.
- Tell the requester: The queue of `printer_id` was stuck for `minutes` minutes with `count` jobs.
- Then tell the requester: It is cleared.

Otherwise hand it to the IT desk.
"""
BADGE = """---
runbook: true
---
# Badge does not open a door

For staff whose badge does not open a door.

1. Find the requester with `find_person`.
2. Look at the badge with `get_badge`.

If `valid_until` is in the past: The badge has expired.
- Tell the requester: Your badge expired.
- Ask the requester to have it extended.
"""


def page(text: str, name: str = "printer") -> FoundPassage:
    title = next(line for line in text.splitlines() if line.startswith("# ")).strip("# ")
    return FoundPassage(f"doc:it/{name}.md#L1-L20", title, text, runbook=True)


def investigated(
    embed: Embed, ticket: str, *pages: FoundPassage, **answers: Any
) -> tuple[list[PastCall], RuleConclusion]:
    told = {**ANSWERS, **{f"it.{name}": answer for name, answer in answers.items()}}
    situation = Situation("", ticket, TOM, requester_verified=True, searched=True, passages=pages, tools=TOOLS)
    access_by_tool: dict[str, Access] = {card.name: card.access for card in TOOLS}
    while (step := next_step(situation, embed)).kind == "call":
        calls = list(situation.calls)
        for call in step.calls:
            answer = told[call.tool]
            failed = isinstance(answer, str)
            seen = PastCall(
                len(calls) + 1, call.tool, call.arguments, "failed" if failed else "done", access_by_tool[call.tool]
            )
            calls.append(replace(seen, reason=answer) if failed else replace(seen, result=answer))
        situation = replace(situation, calls=calls)
    return list(situation.calls), conclude(situation, embed)


def notes(ended: RuleConclusion) -> str:
    return " ".join(each.text for each in ended.notes)


def reply(ended: RuleConclusion) -> str:
    return " ".join(each.text for each in ended.sentences)


NOTHING_PRINTS = "The label printer on 4B prints nothing, labels do not come out."


def test_ids_under_any_name_lead_from_step_to_step_and_templates_get_nested_values(embed: Embed) -> None:
    calls, ended = investigated(embed, NOTHING_PRINTS, page(PRINTER))
    assert [(call.tool, call.arguments) for call in calls[:3]] == [
        ("it.find_person", {"email": TOM}),
        ("it.list_printers", {"ward": "4B"}),
        ("it.clear_queue", {"printer_id": "LBL-4B-1"}),
    ]
    assert "The queue of LBL-4B-1 was stuck for 47 minutes with 23 jobs." in reply(ended)


def test_a_sentence_with_a_field_that_has_no_value_is_not_sent_and_the_note_says_why(embed: Embed) -> None:
    bare = {"printers": [{"printer_id": "LBL-4B-1", "state": "online", "minutes": 47}]}
    _, ended = investigated(embed, NOTHING_PRINTS, page(PRINTER), list_printers=bare)
    assert "queue of" not in reply(ended)
    assert "`count`" not in reply(ended)
    assert "because `count` has no value" in notes(ended)


def test_a_tool_that_fails_leaves_the_condition_open_and_nothing_is_in_order(embed: Embed) -> None:
    calls, ended = investigated(embed, NOTHING_PRINTS, page(PRINTER), list_printers="timeout after 30 s")
    assert ended.judgement.verdict == "needs_l2"
    assert "`list_printers` was failed: timeout after 30 s" in notes(ended)
    assert "none of its conditions holds" not in notes(ended)
    assert not any(call.access == "write" for call in calls)


def test_where_every_condition_was_evaluated_and_none_holds_that_is_said(embed: Embed) -> None:
    fine = {"printers": [{"printer_id": "LBL-4B-1", "state": "online", "minutes": 0}]}
    _, ended = investigated(embed, NOTHING_PRINTS, page(PRINTER), list_printers=fine)
    assert "none of its conditions holds. hand it to the IT desk." in notes(ended)
    assert ended.judgement.verdict == "needs_l2"


def test_a_runbook_with_errors_is_not_followed_and_the_lines_are_named(embed: Embed) -> None:
    calls, ended = investigated(embed, NOTHING_PRINTS, page(PRINTER + "- Kick the printer.\n"))
    assert not any(call.access == "write" for call in calls)
    assert ended.judgement.verdict == "needs_l2"
    assert "it has errors: line 18: this sentence is not understood" in notes(ended)


def test_several_values_that_could_be_meant_are_none(embed: Embed) -> None:
    wards = {"people": [{"email": TOM, "ward": "4B"}, {"email": TOM, "ward": "2A"}]}
    calls, ended = investigated(embed, NOTHING_PRINTS, page(PRINTER), find_person=wards)
    assert {call.tool for call in calls} == {"it.find_person"}
    assert "several values are called `ward`" in notes(ended)
    assert ended.judgement.verdict == "needs_l2"


def test_a_symptom_in_any_language_finds_the_runbook(embed: Embed) -> None:
    calls, _ = investigated(embed, "Help! The Etikettendrucker druckt nicht, please.", page(PRINTER))
    assert "it.clear_queue" in {call.tool for call in calls}


GERMAN = "Hallo, unser Etikettendrucker druckt nicht, obwohl er eingeschaltet ist. Bitte helfen Sie uns."


def test_a_symptom_in_a_language_that_is_not_read_leads_to_a_diagnosis_and_to_a_person(embed: Embed) -> None:
    calls, ended = investigated(embed, GERMAN, page(PRINTER), page(BADGE, "badge"))
    assert [call.tool for call in calls] == ["it.find_person", "it.list_printers"], "nothing is changed"
    assert ended.judgement.verdict == "needs_tech"
    assert "written in German" in ended.judgement.reasons[0]
    assert ended.cause == "The print queue is stuck."
    assert reply(ended) == "The queue of LBL-4B-1 was stuck for 47 minutes with 23 jobs."
    for said in (
        "The print queue is stuck.",
        "`it.clear_queue` (printer_id: LBL-4B-1) was not called, because the ticket is in a language",
        "After that the requester can be told: “It is cleared.”",
    ):
        assert said in notes(ended)


def test_a_condition_of_such_a_runbook_that_is_not_known_is_told(embed: Embed) -> None:
    calls, ended = investigated(embed, GERMAN, page(PRINTER), list_printers="the printers are busy")
    assert [call.outcome for call in calls] == ["done", "failed"]
    assert ended.judgement.verdict == "needs_tech"
    assert "the printers are busy" in notes(ended)
    assert not ended.sentences


@pytest.mark.parametrize(
    "pages",
    [
        (page(PRINTER.replace("symptoms: [Etikettendrucker druckt nicht]\n", "")),),
        (page(PRINTER), page(PRINTER.replace("# Label", "# Other label"), "other")),
        (page(PRINTER.replace("- Do `clear_queue`.", "- Have a look.")),),
    ],
    ids=["no symptom", "two runbooks", "errors"],
)
def test_without_the_symptom_of_exactly_one_runbook_nothing_more_is_looked_into(
    embed: Embed, pages: tuple[FoundPassage, ...]
) -> None:
    calls, ended = investigated(embed, GERMAN, *pages)
    assert [call.tool for call in calls] == ["it.find_person"]
    assert (ended.judgement.verdict, ended.cause, ended.sentences) == ("needs_tech", "", ())


def test_what_shows_a_cause_are_only_fields_of_the_things_that_its_conditions_name(embed: Embed) -> None:
    badge = {"badge_id": "b-7", "state": "lost", "valid_until": "2020-01-01T00:00:00Z"}
    runbook = PRINTER.replace("`list_printers`.", "`list_printers`.\n3. Look at the badge with `get_badge`.").replace(
        "and its `minutes` is at least 10", "and the badge's `valid_until` is set"
    )
    _, ended = investigated(embed, NOTHING_PRINTS, page(runbook), get_badge=badge)
    assert "state: online" in notes(ended)
    assert "state: lost" not in notes(ended)


def test_a_security_matter_is_an_ordinary_runbook_that_changes_nothing(embed: Embed) -> None:
    grave = PRINTER.replace("- Do `clear_queue`.", "- Treat it as a security matter.\n- Do `clear_queue`.")
    calls, ended = investigated(embed, NOTHING_PRINTS, page(grave))
    assert ended.judgement.verdict == "needs_l2"
    assert ended.cause == "The print queue is stuck."
    assert not any(call.access == "write" for call in calls)


def test_a_second_problem_is_looked_into_or_named(embed: Embed) -> None:
    both = f"{NOTHING_PRINTS} My badge does not open the door of the staff room, the badge is dead."
    calls, ended = investigated(embed, both, page(PRINTER), page(BADGE, "badge"))
    looked = {"it.get_badge", "it.list_printers"} <= {call.tool for call in calls}
    assert looked or "Not looked into: “My badge does not open the door" in notes(ended)
    assert ended.judgement.verdict != "auto_resolved"


ORDER = """---
runbook: true
---
# Where is my order

For customers who wait for an order.

1. Look it up with `get_order`, `order_number`: the order number in the ticket, matching `ORD-[0-9]{4}`.

If `state` is `lost`: The order is lost.
- Hand it to the shipping team.
"""


@pytest.mark.parametrize(
    ("said", "called"),
    [
        ("It is ORD-1234.", ["ORD-1234"]),
        ("It is ORD-1234, I repeat, ORD-1234!", ["ORD-1234"]),
        ("It is ORD-1234 or ORD-1235.", []),
        ("ERROR 1234 says SAP, URGENT, SKU-9999 and ORD-12345.", []),
        ("", []),
    ],
)
def test_a_value_of_the_ticket_is_used_only_if_one_alone_fits(embed: Embed, said: str, called: list[str]) -> None:
    calls, ended = investigated(embed, f"I wait for my order, where is it? {said}", page(ORDER))
    assert [call.arguments["order_number"] for call in calls if call.tool == "it.get_order"] == called
    if not called:
        assert ended.judgement.verdict == "needs_client"
        assert "the order number" in reply(ended)
