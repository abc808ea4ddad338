"""What a runbook leads to: the thing that met its condition is meant, what it tells is an answer, a guess is none."""

import pytest

from gaby.llm.embeddings.embed import Embed
from gaby.mind import FoundPassage
from gaby.mind.completion_check import AppliedChange, ResolutionClaim, completeness
from gaby.mind.runbooks import parse_runbook
from tests.mind.test_obstacles import NOTHING_PRINTS, PRINTER, investigated, page, reply

pytestmark = pytest.mark.promise("L15", "L12")

NESTED = PRINTER.replace(
    "If a printer has `state` `online` and its `minutes` is at least 10:", "If a printer's `health` is `stuck`:"
)
TWO_PRINTERS = {
    "printers": [
        {"printer_id": "LBL-1", "minutes": 3, "queue": {"health": "fine", "jobs": {"count": 1}}},
        {"printer_id": "LBL-2", "minutes": 47, "queue": {"health": "stuck", "jobs": {"count": 9}}},
    ]
}
TOLD = """---
runbook: true
---
# Label printer prints nothing

For wards where labels do not come out of the label printer.

1. Find the requester with `find_person`.
2. Look at the printers of their ward with `list_printers`.

If a printer has `state` `online`: The printers are updated.
- Tell the requester: The printers of your ward are updated. The cause: `note`. It takes until `until`.

Otherwise hand it to the IT desk.
"""
UPDATED = {"printers": [{"printer_id": "LBL-1", "state": "online", "note": "new labels", "until": "14:30"}]}


def test_what_is_meant_stands_around_the_part_that_met_the_condition(embed: Embed) -> None:
    calls, ended = investigated(embed, NOTHING_PRINTS, page(NESTED), list_printers=TWO_PRINTERS)
    assert [call.arguments for call in calls if call.access == "write"] == [{"printer_id": "LBL-2"}]
    assert "The queue of LBL-2 was stuck for 47 minutes with 9 jobs." in reply(ended)


def test_two_things_that_meet_a_condition_are_each_put_right(embed: Embed) -> None:
    stuck = [{**each, "queue": {"health": "stuck"}} for each in TWO_PRINTERS["printers"]]
    calls, _ = investigated(embed, NOTHING_PRINTS, page(NESTED), list_printers={"printers": stuck})
    assert sorted(call.arguments["printer_id"] for call in calls if call.access == "write") == ["LBL-1", "LBL-2"]


def test_what_the_requester_is_told_goes_on_to_the_end_of_the_item() -> None:
    tools = frozenset({"find_person", "list_printers"})
    runbook = parse_runbook(TOLD, tools)
    assert not runbook.errors
    assert [each.text for each in runbook.branches[0].told][1:] == ["The cause: `note`.", "It takes until `until`."]
    # Outside of such an item it names the cause.
    named = parse_runbook(TOLD.replace("- Tell the requester: The", "- The cause: printers. The"), tools)
    assert named.errors


def test_a_cause_that_only_needs_telling_is_an_answer(embed: Embed) -> None:
    _, ended = investigated(
        embed, NOTHING_PRINTS, page(TOLD.replace(" It takes until `until`.", "")), list_printers=UPDATED
    )
    assert ended.judgement.verdict == "auto_resolved"
    assert "The cause: new labels." in reply(ended)


def test_who_asks_for_rules_is_not_told_that_there_is_no_such_trouble(embed: Embed) -> None:
    healthy = {"printers": [{"printer_id": "LBL-1", "state": "online"}]}
    runbook = page(
        TOLD.replace("If a printer has `state` `online`:", "If no printer has `state` `broken`:").replace(
            "The printers of your ward are updated. The cause: `note`. It takes until `until`.",
            "No printer of your ward is broken.",
        )
    )
    _, ended = investigated(embed, NOTHING_PRINTS, runbook, list_printers=healthy)
    assert "No printer of your ward is broken." in reply(ended)
    asks = "Moving house\n\nI gave notice. How much holiday is paid out, and does a printer in my contract matter?"
    _, ended = investigated(embed, asks, runbook, list_printers=healthy)
    assert "No printer" not in reply(ended)
    assert ended.judgement.verdict == "needs_tech"


def test_it_is_none_while_a_value_is_missing_or_somebody_has_to_act(embed: Embed) -> None:
    told = TOLD.replace(" It takes until `until`.", "")
    bare = {"printers": [{"printer_id": "LBL-1", "state": "online"}]}
    _, ended = investigated(embed, NOTHING_PRINTS, page(told), list_printers=bare)
    assert ended.judgement.verdict == "needs_tech"
    handed = told.replace("`note`.", "`note`.\n- Hand it to the printer team.")
    _, ended = investigated(embed, NOTHING_PRINTS, page(handed), list_printers=UPDATED)
    assert ended.judgement.verdict == "needs_tech"
    _, ended = investigated(embed, f"{NOTHING_PRINTS} Please replace it.", page(told), list_printers=UPDATED)
    assert ended.judgement.verdict == "needs_tech", "a change is asked for"


def test_a_change_that_settles_it_is_believed_without_a_second_look(embed: Embed) -> None:
    settled = PRINTER.replace("- Do `clear_queue`.", "- Do `clear_queue`.\n- That settles it.")
    calls, ended = investigated(embed, NOTHING_PRINTS, page(settled))
    assert [call.tool for call in calls].count("it.list_printers") == 1
    assert ended.judgement.verdict == "auto_resolved"
    assert ended.judgement.reasons == ("it.clear_queue was done, which settles it.",)
    assert "It is cleared." in reply(ended)
    calls, ended = investigated(embed, NOTHING_PRINTS, page(PRINTER))
    assert [call.tool for call in calls].count("it.list_printers") == 2
    assert ended.judgement.verdict == "needs_l2", "the second look shows it as it was"


def test_a_change_that_failed_settles_nothing(embed: Embed) -> None:
    settled = PRINTER.replace("- Do `clear_queue`.", "- Do `clear_queue`.\n- That settles it.")
    _, ended = investigated(embed, NOTHING_PRINTS, page(settled), clear_queue="the printer is locked")
    assert ended.judgement.verdict == "needs_tech"
    assert "It is cleared." not in reply(ended)


def test_that_settles_it_is_no_statement_with_more_behind_it() -> None:
    tools = frozenset({"find_person", "list_printers", "clear_queue"})
    for said in ("That settles it.", "This settles it!", "The change settles it"):
        assert parse_runbook(PRINTER.replace("- Do", f"- {said}\n- Do"), tools).branches[0].settles
    for said in ("That settles it for most of them.", "That settles nothing."):
        assert parse_runbook(PRINTER.replace("- Do", f"- {said}\n- Do"), tools).errors


def test_what_is_handed_over_after_a_change_goes_to_a_person_with_what_was_done(embed: Embed) -> None:
    handed = PRINTER.replace("It is cleared.", "It is cleared.\n- Hand it to the printer team.")
    for text in (handed, handed.replace("- Do `clear_queue`.", "- Do `clear_queue`.\n- That settles it.")):
        calls, ended = investigated(embed, NOTHING_PRINTS, page(text))
        assert [call.outcome for call in calls if call.access == "write"] == ["done"]
        assert ended.judgement.verdict == "needs_tech"
        assert ended.judgement.reasons == ("Hand it to the printer team.",)
        assert "It is cleared." in reply(ended)
        assert "It goes to the printer team." in reply(ended)


DONE = ResolutionClaim(
    "The bill is wrong. Please look into it and correct the bill.",
    "We have made a new bill from your own reading [tool:x.rebill#2].",
    "auto_resolved",
    {"tool:x.rebill#2": "done: made a new bill from the reading"},
    (AppliedChange("x.rebill", "done", verified=True),),
)


@pytest.mark.parametrize(
    ("ticket", "complete"),
    [
        (DONE.ticket, True),
        ("My bill is wrong. Please sort it.", True),
        ("My bill is wrong. Please correct the bill and cancel my contract.", False),
        ("My bill is wrong. Please correct it. Also delete my account, please.", False),
        ("Put 20 on yesterday, and the bill is still wrong.", True),
    ],
)
def test_a_change_that_helped_covers_what_the_reply_is_about_and_nothing_else(ticket: str, *, complete: bool) -> None:
    claim = ResolutionClaim(ticket, DONE.summary, DONE.verdict, DONE.evidence, DONE.changes)
    assert completeness(claim)[0] is complete


def test_a_cause_by_a_runbook_answers_a_report_without_a_question() -> None:
    told = (
        "It is dark here.",
        "There is a power cut [tool:x.outages#1].",
        "auto_resolved",
        {"tool:x.outages#1": "cut"},
    )
    assert completeness(ResolutionClaim(*told, by_runbook=True))[0]
    assert not completeness(ResolutionClaim(*told))[0]


MANUAL = FoundPassage(
    "doc:it/manual.md#L1-L9",
    "The label printer",
    "# The label printer\n\nIf the label printer prints nothing, open its cover, take the labels out and put them in "
    "again. How long it takes: two minutes.\n",
)
HEALTHY = {"printers": [{"printer_id": "LBL-1", "state": "online", "minutes": 0}]}


@pytest.mark.parametrize(
    "ticket",
    [
        "The label printer on 4B prints nothing?",
        "The label printer on 4B prints nothing, labels do not come out. Is the label printer dead?",
    ],
)
def test_a_question_mark_does_not_take_a_trouble_away_from_whom_its_runbook_names(ticket: str, embed: Embed) -> None:
    _, ended = investigated(embed, ticket, page(PRINTER), MANUAL, list_printers=HEALTHY)
    assert ended.judgement.verdict != "auto_resolved"
    assert "IT desk" in " ".join(each.text for each in ended.notes)


def test_a_cause_is_for_colleagues_where_the_runbook_has_words_for_the_requester(embed: Embed) -> None:
    only_then = PRINTER.replace(
        "- Tell the requester: The queue of `printer_id` was stuck for `minutes` minutes with `count` jobs.\n", ""
    ).replace("- Do `clear_queue`.", "- Do `clear_queue`.\n- That settles it.")
    _, ended = investigated(embed, NOTHING_PRINTS, page(only_then))
    assert ended.judgement.verdict == "auto_resolved"
    assert "It is cleared." in reply(ended)
    assert "stuck" not in reply(ended)
