"""A ticket is complete only when all that was asked for is answered with sources, or was done and checked."""

from dataclasses import replace

import pytest

from gaby.mind.completion_check import AppliedChange, ResolutionClaim, asks, completeness

pytestmark = pytest.mark.promise("L12", "G2")

UNLOCK = AppliedChange("directory.unlock_user", "done", verified=True)
TICKET = "I am locked out. Please unlock my account."
SEEN = '{"done": "The account is unlocked; it was locked at 2030-03-04T07:00:00+00:00."}'
DONE = ResolutionClaim(
    TICKET,
    "Your account is unlocked; it was locked at 2030-03-04 07:00 [tool:directory.unlock_user#2].",
    "auto_resolved",
    {"tool:directory.unlock_user#2": SEEN},
    (UNLOCK,),
)
ANSWERED = ResolutionClaim(
    "How many devices does the starter plan allow?",
    "The starter plan allows 10 devices [doc:plans#L3].",
    "auto_resolved",
    {"doc:plans#L3": "The starter plan costs 29 a month and allows 10 devices."},
)


@pytest.mark.parametrize("claim", [DONE, ANSWERED])
def test_what_was_done_and_checked_or_answered_with_sources_is_complete(claim: ResolutionClaim) -> None:
    assert completeness(claim)[0]


@pytest.mark.parametrize(
    ("claim", "why"),
    [
        (replace(DONE, verdict="needs_tech"), "needs_tech"),
        (replace(DONE, changes=(replace(UNLOCK, verified=None),)), "Nobody has seen"),
        (replace(DONE, changes=(replace(UNLOCK, verified=False),)), "Nobody has seen"),
        (replace(DONE, changes=(UNLOCK, AppliedChange("billing.refund", "asked"))), "billing.refund is asked"),
        (replace(DONE, ticket=f"{TICKET} And please refund invoice 12."), "refund invoice 12"),
        (replace(DONE, summary=""), "no reply"),
        (replace(DONE, summary="All is well."), "no source"),
        (replace(DONE, evidence={}), "no source"),
        (replace(DONE, summary=DONE.summary.replace("07:00", "05:00")), "05:00"),
        (replace(ANSWERED, ticket=f"{ANSWERED.ticket} And where can I park at your office?"), "park"),
        (replace(ANSWERED, summary=ANSWERED.summary.replace("10", "12")), "12"),
        (replace(ANSWERED, ticket="Hello."), "told apart"),
    ],
)
def test_whatever_is_in_doubt_is_left_open(claim: ResolutionClaim, why: str) -> None:
    complete, reason = completeness(claim)
    assert not complete
    assert why in reason


def test_what_a_ticket_wants_are_its_questions_and_its_orders() -> None:
    text = "Hi all,\nour till is slow. Can you restart it? Please send me the log.\n> Did you try it?\nThanks"
    assert asks(text) == ["Can you restart it?", "Please send me the log."]
