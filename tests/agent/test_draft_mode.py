"""A desk in draft mode: every reply waits as a draft that a person sends, changes or refuses."""

from dataclasses import replace
from pathlib import Path

import pytest

from gaby.agent.states import WritingBack
from gaby.app import Gaby
from gaby.kernel.errors import Invalid
from gaby.kernel.ids import ApprovalId, RunId
from gaby.tools.approvals import ApprovalDecision
from tests.agent.scenes import LOCKED_OUT, Office, open_office
from tests.agent.test_message_gate import private_texts, public_texts

pytestmark = pytest.mark.promise("L13")


@pytest.fixture
async def office(gaby: Gaby, tmp_path: Path) -> Office:
    office = await open_office(gaby, tmp_path)
    await set_drafts(office, drafts=True)
    return office


async def set_drafts(office: Office, *, drafts: bool) -> None:
    desks = office.gaby.tickets.desks
    async with office.gaby.database.write(office.workspace_id) as session:
        desk = await desks.inbox(session, office.actor)
        await desks.set_drafts(session, office.actor, desk, drafts=drafts)


async def test_a_reply_waits_and_nothing_reaches_the_requester_before(office: Office) -> None:
    ticket_id = await office.receive(LOCKED_OUT)
    await office.work()
    [draft] = await office.waiting()
    assert (draft.tool, draft.concerns[0]["rule"]) == ("reply", "draft_mode")
    assert "every reply waits" in draft.concerns[0]["reason"]
    assert await public_texts(office, ticket_id) == []


async def test_what_a_person_changes_is_sent_and_is_what_is_learned_from(office: Office) -> None:
    ticket_id = await office.receive(LOCKED_OUT)
    await office.work()
    [draft] = await office.waiting()
    async with office.gaby.database.write(office.workspace_id) as session:
        answer = ApprovalDecision("approve", arguments={"body": "Nora, you can sign in again. Ask for Ida if not."})
        changed = await office.gaby.tools.decide_approval(session, office.actor, ApprovalId(draft.id), answer)
        # They were about words that nobody sends.
        assert (changed.concerns, changed.owners) == ([], [])
    await office.work()
    [sent] = await public_texts(office, ticket_id)
    assert sent == "Nora, you can sign in again. Ask for Ida if not."
    run = await office.run_of(ticket_id)
    assert run.state == "done"
    assert "you can sign in again" in (run.summary or "")


async def test_a_refused_draft_leaves_the_ticket_to_a_person(office: Office) -> None:
    ticket_id = await office.receive(LOCKED_OUT)
    await office.work()
    [draft] = await office.waiting()
    await office.answer(draft, "refuse", "I have written to her myself.")
    await office.work()
    assert await public_texts(office, ticket_id) == []
    assert (await office.run_of(ticket_id)).verdict == "needs_tech"
    [note] = await private_texts(office, ticket_id)
    assert "I have written to her myself." in note
    assert draft.shown["body"].splitlines()[0] in note


async def test_a_ticket_that_goes_to_a_person_gets_no_automatic_line(office: Office) -> None:
    await office.receive(LOCKED_OUT.__class__(external_id="x", title="A person, please", body="I want a person."))
    await office.work()
    assert await office.waiting() == []
    async with office.gaby.database.read(office.workspace_id) as session:
        [ticket] = await office.gaby.tickets.list(session)
    assert await public_texts(office, ticket.id) == []


async def test_without_draft_mode_the_same_reply_is_sent(office: Office) -> None:
    await set_drafts(office, drafts=False)
    ticket_id = await office.receive(LOCKED_OUT)
    await office.work()
    assert await office.waiting() == []
    assert len(await public_texts(office, ticket_id)) == 1


@pytest.mark.parametrize("body", ["", " \n\t"])
async def test_a_draft_is_not_sent_empty(office: Office, body: str) -> None:
    await refuses(office, body, "do not fit the tool")


async def test_a_placeholder_of_what_was_shown_does_not_reach_the_requester(office: Office) -> None:
    """Lists show texts without people's data, and whoever copies one from there copies placeholders."""
    await refuses(office, "Hello {}, you can sign in again.", "stands for a value")


async def refuses(office: Office, body: str, why: str) -> None:
    named = replace(LOCKED_OUT, body=f"{LOCKED_OUT.body} I am nora.lindqvist@brightbakery.example.")
    ticket_id = await office.receive(named)
    await office.work()
    [draft] = await office.waiting()
    async with office.gaby.database.write(office.workspace_id) as session:
        row = await office.gaby.tools.approvals.get(session, ApprovalId(draft.id))
        row.shown = {"body": f"Hello [email:1-abcdef], {row.shown['body']}"}
    answer = ApprovalDecision("approve", arguments={"body": body.format("[email:1-abcdef]")})
    async with office.gaby.database.write(office.workspace_id) as session:
        with pytest.raises(Invalid, match=why):
            await office.gaby.tools.decide_approval(session, office.actor, ApprovalId(draft.id), answer)
    assert [each.id for each in await office.waiting()] == [draft.id]
    assert await public_texts(office, ticket_id) == []


async def test_a_halted_run_asks_nobody_any_more(office: Office) -> None:
    ticket_id = await office.receive(LOCKED_OUT)
    await office.work()
    assert await office.waiting()
    run = await office.run_of(ticket_id)
    async with office.gaby.database.write(office.workspace_id) as session:
        await office.gaby.agent.halt(session, office.actor, run.id, "Somebody takes it over.")
    await office.work()
    assert (await office.run_of(ticket_id)).state == "halted"
    assert await office.waiting() == []


UNSURE = replace(
    LOCKED_OUT,
    external_id="T-9",
    title="New colleague",
    body="Can the invitation that I sent to my new colleague last month still be used by her today?",
)


async def test_what_may_answer_a_question_is_offered_as_a_draft(office: Office) -> None:
    """A person looks at it, so it need not be as sure as what is sent unasked."""
    ticket_id = await office.receive(UNSURE)
    await office.work()
    [draft] = await office.waiting()
    assert "valid for seven days" in str(draft.shown)
    await office.answer(draft, "refuse", "Not quite.")
    await office.work()
    assert await public_texts(office, ticket_id) == []
    assert (await office.run_of(ticket_id)).verdict == "needs_tech"


async def test_what_only_may_answer_waits_also_if_drafts_are_switched_off_meanwhile(office: Office) -> None:
    ticket_id = await office.receive(UNSURE)
    run = await office.run_of(ticket_id)
    claimed = await office.gaby.agent.queue.claim_one("a test", office.workspace_id, RunId(run.id))
    assert claimed is not None
    loop = office.gaby.agent.loop
    taken = await loop.resume(claimed)
    while not isinstance(taken.state, WritingBack):
        assert await loop.step(taken)
    await set_drafts(office, drafts=False)
    await loop.step(taken)
    assert await public_texts(office, ticket_id) == []
    assert len(await office.waiting()) == 1


async def test_without_drafts_what_is_not_sure_goes_to_a_person(office: Office) -> None:
    await set_drafts(office, drafts=False)
    ticket_id = await office.receive(UNSURE)
    await office.work()
    assert await office.waiting() == []
    assert (await office.run_of(ticket_id)).verdict == "needs_tech"
    assert not any("seven days" in text for text in await public_texts(office, ticket_id))
