"""Whatever a planner was shown counts as read: rehearsals, errors, refusals, others' messages, tools that are gone."""

from pathlib import Path
from typing import Any

import pytest
from evals.chat_server import ChatServer

from gaby.agent.run_context import InvestigationContext
from gaby.app import Gaby
from gaby.kernel.ids import RunId, TicketId
from gaby.tickets.canonical_ticket import IncomingMessage
from gaby.tools.disclosure import requester_of
from tests.agent.scenes import LOCKED_OUT, Office, open_office
from tests.agent.test_message_gate import Model, public_texts, use_model

one_engine = pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
pytestmark = [one_engine, pytest.mark.promise("S14", "X6")]


@pytest.fixture
async def office(gaby: Gaby, tmp_path: Path) -> Office:
    return await open_office(gaby, tmp_path)


async def taken_up(office: Office, ticket_id: TicketId) -> InvestigationContext:
    run = await office.run_of(ticket_id)
    claimed = await office.gaby.agent.queue.claim_one("a test", office.workspace_id, RunId(run.id))
    assert claimed is not None
    return await office.gaby.agent.loop.resume(claimed)


def unreadable(run: InvestigationContext) -> set[str]:
    return {each.source for each in run.tools.ledger.reading.unreadable(requester_of(run.tools))}


async def played(office: Office, *steps: tuple[str, dict[str, Any]]) -> TicketId:
    model = Model([[each] for each in steps], "All is well with you. [s1]")
    with ChatServer(model.answer) as server:
        await use_model(office, server.url, "plan", "review")
        ticket_id = await office.receive(LOCKED_OUT)
        await office.work()
    return ticket_id


OWN = ("company.search_users", {"query": "nora.lindqvist@brightbakery.example"})


async def test_what_an_error_says_is_read(office: Office) -> None:
    ticket_id = await played(office, OWN, ("company.get_user", {"user_id": "usr_999"}))
    [draft] = await office.waiting()
    assert draft.tool == "reply"
    assert "company.get_user" in str(draft.concerns)
    assert "the result of company.get_user" in unreadable(await taken_up(office, ticket_id))


async def test_what_a_colleague_says_when_they_refuse_is_read(office: Office) -> None:
    model = Model([[OWN], [("company.unlock_user", {"user_id": "usr_002"})]], "Is it well? [s1]")
    model.verdict = "needs_client"
    with ChatServer(model.answer) as server:
        await use_model(office, server.url, "plan", "review")
        ticket_id = await office.receive(LOCKED_OUT)
        await office.work()
        [asked] = await office.waiting()
        await office.answer(asked, "refuse", "Victim Bank is under fraud review.")
        await office.work()
    [draft] = await office.waiting()
    assert (draft.tool, draft.concerns[0]["rule"]) == ("reply", "readers")
    assert "company.unlock_user" in str(draft.concerns)
    assert await public_texts(office, ticket_id) == []


async def test_what_a_tool_brought_that_is_gone_is_for_the_staff(office: Office) -> None:
    ticket_id = await played(office, OWN, ("company.get_user", {"user_id": "usr_999"}))
    async with office.gaby.database.write(office.workspace_id) as session:
        await office.gaby.tools.connectors.remove(session, office.actor, "company")
    assert "the result of company.search_users" in unreadable(await taken_up(office, ticket_id))


async def test_what_others_write_on_a_ticket_is_not_told_to_its_requester(office: Office) -> None:
    model = Model([[OWN]], "She says that the box is blue. [s1]")
    with ChatServer(model.answer) as server:
        await use_model(office, server.url, "plan", "review")
        ticket_id = await office.receive(LOCKED_OUT)
        async with office.gaby.database.write(office.workspace_id) as session:
            ticket = await office.gaby.tickets.intake.get(session, ticket_id)
            other = IncomingMessage("m-1", "requester", "My box is blue.", author_email="eve@other.example")
            await office.gaby.tickets.intake.add_message(session, office.actor, ticket, other)
        await office.work()
    [draft] = await office.waiting()
    assert "messages of others on the ticket" in str(draft.concerns)
    assert await public_texts(office, ticket_id) == []


async def test_rules_that_write_for_a_model_that_planned_count_as_the_model(office: Office) -> None:
    """Otherwise a model would choose by its calls what the rules then tell."""
    model = Model([[("company.search_users", {"query": "dolores.vega@cactuscycles.example"})], [OWN]], "no source")
    with ChatServer(model.answer) as server:
        await use_model(office, server.url, "plan", "review")
        ticket_id = await office.receive(LOCKED_OUT)
        await office.work()
    assert await public_texts(office, ticket_id) == []
    [draft] = await office.waiting()
    assert (draft.tool, draft.concerns[0]["rule"]) == ("reply", "readers")
    assert (await taken_up(office, ticket_id)).memory.by_model


async def test_what_was_changed_before_is_told_to_nobody_who_may_not_know_what_it_came_from(office: Office) -> None:
    """The arguments of an earlier change may come from anything that was read then."""
    model = Model([[OWN], [("company.unlock_user", {"user_id": "usr_002"})]], "It is done. [s1]")
    with ChatServer(model.answer) as server:
        await use_model(office, server.url, "plan", "review")
        ticket_id = await office.receive(LOCKED_OUT)
        await office.work()
        while waiting := await office.waiting():
            await office.answer(waiting[0], "approve")
            await office.work()
        sent = await public_texts(office, ticket_id)
        model.verdict, model.reply = "needs_client", "Is it about unlock_user(usr_002)?"
        async with office.gaby.database.write(office.workspace_id) as session:
            ticket = await office.gaby.tickets.intake.get(session, ticket_id)
            again = IncomingMessage("m-2", "requester", "What did you do?", author_email=LOCKED_OUT.requester_email)
            await office.gaby.tickets.intake.add_message(session, office.actor, ticket, again)
            ticket.requester_verified = False
        await office.work()
    assert any("unlock_user" in prompt for prompt in model.prompts[-3:])
    [draft] = await office.waiting()
    assert "changes that were made on the ticket before" in str(draft.concerns)
    assert await public_texts(office, ticket_id) == sent
