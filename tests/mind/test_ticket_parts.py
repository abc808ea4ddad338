"""Several things in one ticket are each looked into, and the ticket is done only when all of them are."""

from pathlib import Path

import pytest
from hypothesis import given

from gaby.kernel.outcomes import Verdict
from gaby.llm.embeddings.embed import Embed
from gaby.mind import CaseFinding, CaseStep, RuleConclusion, RuleVerdict, VerdictCase
from gaby.mind.conclusion_merge import joined
from gaby.mind.ticket_parts import parts
from gaby_connectors.sample_company.company import create_company
from tests.connectors.sample_company.world import NOW
from tests.mind.company import Office
from tests.mind.strategies import hostile_texts

pytestmark = pytest.mark.promise("G2", "L4", "L10")

LOCKED = "I am locked out since I changed my password."
NORA = "nora.lindqvist@brightbakery.example"


@pytest.mark.parametrize(
    ("text", "count"),
    [
        (f"1. {LOCKED} 2. How do we export our sales? 3. Please tell me the price of the team plan.", 3),
        (f"{LOCKED} Also, our webhooks fail with 401.", 2),
        (f"{LOCKED}\n\nPS: where do I enter our VAT number?", 2),
        (f"First, {LOCKED} Second, the export is empty since yesterday.", 2),
        (f"{LOCKED} Where do I find our invoices?", 2),
        (f"{LOCKED} It worked on the laptop. And thank you for the new colours.", 1),
        (f"{LOCKED} What can I do about it?", 1),
        ("Steps to reproduce:\n1. Open Devices.\n2. Enter the code.\n3. It fails with LF-409.", 0),
        ("I changed my password. And now I am locked out.", 1),
    ],
)
def test_a_ticket_is_cut_where_something_new_is_told(text: str, count: int) -> None:
    assert len(parts("", text)) == count


@given(text=hostile_texts)
def test_any_text_can_be_cut(text: str) -> None:
    assert len(parts(text[:50], text)) <= 4


def ended(verdict: Verdict, *steps: CaseStep, verified: bool | None = None) -> RuleConclusion:
    case = VerdictCase(
        findings=(CaseFinding("A cause."),), steps=steps, verified=verified, answered=0.9 if not steps else 0.0
    )
    return RuleConclusion(case, RuleVerdict(verdict, 0.9, (f"It is {verdict}.",)))


DONE = CaseStep("unlock_user", "done", changes=True)


@pytest.mark.parametrize("other", ["needs_tech", "needs_l2", "needs_client", "failed"])
def test_what_is_left_of_a_ticket_keeps_it_open_by_name(other: Verdict) -> None:
    both = joined(
        [("I am locked out.", ended("auto_resolved", DONE, verified=True)), ("The [sign] is dark.", ended(other))]
    )
    assert both.judgement.verdict == "needs_tech"
    assert both.judgement.reasons == (f'Not settled: "The (sign) is dark". It is {other}.',)


def test_a_ticket_is_done_when_every_part_of_it_is() -> None:
    ends = [("Locked out.", ended("auto_resolved", DONE, verified=True)), ("Price?", ended("auto_resolved"))]
    assert joined(ends).judgement.verdict == "auto_resolved"
    assert joined([("Which till?", ended("needs_client")), ("Which sign?", ended("needs_client"))]).case.findings == (
        CaseFinding("A cause."),
        CaseFinding("A cause."),
    )


@pytest.fixture
def office(tmp_path: Path, embed: Embed) -> Office:
    create_company(tmp_path / "lanternfish.db", NOW)
    return Office(tmp_path, embed)


async def test_the_lock_is_opened_and_the_other_half_goes_to_a_person(office: Office) -> None:
    told = await office.investigate("Two things", f"{LOCKED} Besides, does the till take cheques?", NORA, agrees=True)
    assert told.changed == [("unlock_user", "done")]
    assert told.verdict == "needs_tech"
    assert "unlocked again" in told.reply
    assert "does the till take cheques" in told.conclusion.judgement.reasons[0]


async def test_everything_is_looked_at_before_anything_is_changed(office: Office) -> None:
    text = "1. Since last night our stock system gets no webhooks any more.\n2. The login page is slow and times out."
    told = await office.investigate("Two problems", text, "priya.raman@harbourbooks.example", agrees=True)
    assert told.changed == [("resend_deliveries", "done")]
    assert told.called.index("list_incidents") < told.called.index("resend_deliveries")
    assert "eu-west" in told.reply
    assert "401" in told.reply
    assert told.verdict == "needs_tech"
