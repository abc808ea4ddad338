"""The rules themselves, on facts that are made up: each is silent when all is well, and speaks when it is not."""

from dataclasses import replace
from typing import Any

import pytest

from tests.chaos.facts import TicketFacts
from tests.chaos.invariants import broken_for_tickets
from tests.chaos.tickets import Sent

pytestmark = pytest.mark.promise("X4")


def _run(**more: Any) -> dict[str, Any]:
    step = {"system": "shop", "action": "credit_order", "detail": "order_id=ord_0001"}
    return {"state": "done", "verdict": "auto_resolved", "reason": "done", "wake_at": None, "steps": [step], **more}


_WELL = TicketFacts(
    sent=Sent("1", "ord_0001", "customer1@papercrane.example", "webhook", 1.0),
    status="auto_resolved",
    runs=(_run(),),
    replies=("It is credited: tool:shop.credit_order#2",),
    credits=1,
    intents=1,
)
_DENIED = _run(steps=[{"system": "shop", "action": "credit_order: failed", "detail": ""}])


def test_a_ticket_that_ended_well_breaks_no_rule() -> None:
    assert broken_for_tickets([_WELL]) == []


def test_a_doubt_that_is_told_breaks_no_rule() -> None:
    told = "shop.credit_order may have happened: look before you do it again."
    doubt = replace(_WELL, status="needs_tech", open_intents=1, replies=(told,))
    assert broken_for_tickets([doubt]) == []


def test_a_shop_that_did_not_answer_is_a_reason_to_fail() -> None:
    step = {"system": "shop", "action": "find_orders: failed", "detail": "shop did not answer in time"}
    failed = replace(_WELL, status="failed", credits=0, runs=(_run(verdict="failed", steps=[step]),))
    assert broken_for_tickets([failed]) == []


@pytest.mark.parametrize(
    ("rule", "ticket"),
    [
        ("no_ticket_is_lost", replace(_WELL, status="missing", runs=(), replies=(), credits=0)),
        ("no_ticket_is_stuck", replace(_WELL, status="investigating", runs=(_run(state="acting"),), replies=())),
        ("no_ticket_is_stuck", replace(_WELL, status="queued", runs=(), replies=(), credits=0)),
        ("no_effect_is_doubled", replace(_WELL, credits=2, intents=2)),
        ("no_reply_is_doubled_or_lost", replace(_WELL, replies=_WELL.replies * 2)),
        ("no_reply_is_doubled_or_lost", replace(_WELL, replies=(), credits=0, status="needs_tech")),
        ("every_effect_is_told", replace(_WELL, replies=("A colleague takes it from here.",))),
        ("every_effect_is_told", replace(_WELL, runs=(_DENIED,))),
        ("every_doubt_is_told", replace(_WELL, open_intents=1)),
        ("no_success_is_made_up", replace(_WELL, credits=0)),
        ("no_effect_is_without_intent", replace(_WELL, intents=0)),
        ("no_ticket_is_blamed", replace(_WELL, runs=(_run(verdict="failed"),))),
        ("no_ticket_is_blamed", replace(_WELL, runs=(_run(state="halted"),))),
    ],
)
def test_a_rule_speaks_when_it_is_broken(rule: str, ticket: TicketFacts) -> None:
    assert {each.partition(":")[0] for each in broken_for_tickets([ticket])} == {rule}
