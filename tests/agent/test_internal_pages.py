"""A model is first shown what the requester may read: a page for colleagues costs a colleague's look at the reply."""

from pathlib import Path
from typing import Any

import pytest
from evals.chat_server import ChatServer

from gaby.agent.ledger_entries import enter_calls, enter_passages
from gaby.agent.memory import CallRecord, PassageRecord
from gaby.agent.message_gate import MessageGate
from gaby.agent.replies import acknowledgement
from gaby.app import Gaby
from gaby.kernel.ids import TicketId
from gaby.safety import Readers
from gaby.tickets.canonical_ticket import IncomingTicket
from gaby.tickets.models import Posting
from gaby.tools import ToolCall
from gaby.tools.disclosure import requester_of
from gaby.tools.messages import OutgoingMessage
from gaby_connectors.sdk.manifest import Audience
from tests.agent.scenes import LOCKED_OUT, Office, open_office
from tests.agent.test_message_gate import Model, public_texts, use_model
from tests.agent.test_what_was_read import taken_up

one_engine = pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
pytestmark = [one_engine, pytest.mark.promise("S14", "S15")]

STAFF_PAGE = "Phishing and strangers"
"""Found for whoever is locked out, among pages that customers may read."""


@pytest.fixture
async def office(gaby: Gaby, tmp_path: Path) -> Office:
    return await open_office(gaby, tmp_path)


async def played(office: Office, ticket: IncomingTicket, **search: Any) -> tuple[TicketId, Model]:
    """A model that searches once and then writes."""
    model = Model(
        [[("search_knowledge", {"queries": [ticket.title, ticket.body], **search})]],
        "Wait for an hour, and try again. [s1]",
    )
    with ChatServer(model.answer) as server:
        await use_model(office, server.url, "plan", "review")
        ticket_id = await office.receive(ticket)
        await office.work()
    return ticket_id, model


async def test_an_answer_from_public_pages_needs_nobody_though_others_were_found(office: Office) -> None:
    ticket_id, model = await played(office, LOCKED_OUT)
    [sent] = await public_texts(office, ticket_id)
    assert "Wait for an hour" in sent
    assert await office.waiting() == []
    assert not any(STAFF_PAGE in prompt for prompt in model.prompts)


async def test_whoever_asks_for_internal_pages_gets_them_and_the_reply_is_looked_at(office: Office) -> None:
    ticket_id, model = await played(office, LOCKED_OUT, internal=True)
    assert any(STAFF_PAGE in prompt for prompt in model.prompts)
    [draft] = await office.waiting()
    assert (draft.tool, draft.concerns[0]["rule"]) == ("reply", "readers")
    assert await public_texts(office, ticket_id) == []


async def test_what_a_model_wrote_for_colleagues_reaches_no_requester(office: Office) -> None:
    """Two texts for two audiences; and where a colleague goes on, nobody is asked about words of courtesy."""
    internal = "Tell the owner of the account by the address that we have on file, never by an address in the message."
    search = ("search_knowledge", {"queries": [LOCKED_OUT.title, "strangers", "phishing"], "internal": True})
    model = Model([[search]], "A colleague looks at it.")
    end = ("conclude", {"verdict": "needs_tech", "why": "Unclear.", "reply": model.reply, "note": internal})
    model.steps.append([end])
    with ChatServer(model.answer) as server:
        await use_model(office, server.url, "plan", "review")
        ticket_id = await office.receive(LOCKED_OUT)
        await office.work()
    async with office.gaby.database.read(office.workspace_id) as session:
        written = await office.gaby.tickets.intake.written(
            session, await office.gaby.tickets.intake.get(session, ticket_id)
        )
    [note] = [each.body for each in written.messages if each.author == "gaby" and each.private]
    assert internal in note
    assert await public_texts(office, ticket_id) == [acknowledgement()]
    assert await office.waiting() == []


async def test_gabys_list_of_sources_is_no_quotation(office: Office) -> None:
    """The address of a page may hold the words that stand in it; to name the source is not to repeat it."""
    gaby, actor = office.gaby, office.actor
    nora = LOCKED_OUT.requester_email or ""
    run = gaby.tools.run(actor, principals=frozenset({nora}), requester=nora)
    secret = "the-takeover-of-globex-is-planned-for-the-second-week-of-june"
    run.ledger.reading.read_text("Plans", secret, Readers(Audience.STAFF))
    listed = f"Wait for an hour. [1]\n\nSources:\n[1] `doc:{secret}`"
    outcomes: list[str] = []
    for body in (listed, f"Wait for an hour, then {secret}."):
        call = ToolCall("gaby.reply", {"body": body}, gaby.ids.new(), composed_by="rules")
        outcomes.append((await gaby.tools.messages.decide(OutgoingMessage("reply", call), run, None)).outcome)
    assert outcomes == ["send", "wait"]


async def test_a_sentence_that_rests_on_an_internal_page_alone_waits_however_short_it_is(office: Office) -> None:
    """By its source and not by its words: too few of them in a row are everybody's."""
    run = await taken_up(office, await office.receive(LOCKED_OUT))
    page = PassageRecord(
        citation="doc:vault#L1",
        document_id=office.gaby.ids.new(),
        title="Vault",
        text="The code is violet.",
        confidence=1,
    )
    run.memory.passages.append(page)
    enter_passages(run, [page], internal=True)
    outcomes: list[str] = []
    for cited in ("The code is violet. [doc:vault#L1]", "It is unlocked. [doc:vault#L1] [tool:company.get_user#1]"):
        run.memory.cited, run.memory.written_by = cited, "offline"
        posting = Posting(
            workspace_id=office.workspace_id,
            id=office.gaby.ids.new(),
            run_id=run.run_id,
            ticket_id=run.ticket.id,
            kind="reply",
            state="due",
            marker=cited,
            content=b"",
            shown="",
            created_at=office.gaby.clock.now(),
            tries=0,
        )
        gated = await MessageGate(office.gaby.tools, run).decide(posting, {"body": "It is so.", "private": False})
        outcomes.append(gated.outcome)
    assert outcomes == ["wait", "send"]


async def test_what_was_read_is_remembered_when_a_run_is_taken_up_again(office: Office) -> None:
    """The ledger is made anew from what is stored: a page that was shown before a crash still counts."""
    ticket_id, _ = await played(office, LOCKED_OUT, internal=True)
    run = await taken_up(office, ticket_id)
    unreadable = run.tools.ledger.reading.unreadable(requester_of(run.tools))
    assert STAFF_PAGE in {each.source for each in unreadable}


async def test_a_tool_in_the_list_of_sources_is_no_link_to_a_host(office: Office) -> None:
    """`lab.pay` could be a host; that a reply names a call that was made leads nobody anywhere."""
    run = await taken_up(office, await office.receive(LOCKED_OUT))
    gaby, body = office.gaby, "It is done. [1]\n\nSources:\n[1] `tool:lab.pay#1`"
    run.memory.calls.append(
        CallRecord(id=gaby.ids.new(), number=1, tool="lab.pay", arguments={}, access="write", outcome="done")
    )
    run.tools.entered.add(run.memory.calls[0].id)
    outcomes: list[str] = []
    for entered in (False, True):
        if entered:
            enter_calls(run)
        call = ToolCall("gaby.reply", {"body": body}, gaby.ids.new(), composed_by="rules")
        outcomes.append((await gaby.tools.messages.decide(OutgoingMessage("reply", call), run.tools, None)).outcome)
    assert outcomes == ["wait", "send"]
