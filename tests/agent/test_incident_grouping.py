"""Tickets that look alike and come close together are one incident, looked into once; personal troubles never are."""

from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from uuid import UUID

import pytest
from evals.chat_server import ChatServer
from sqlalchemy import select

from gaby.agent.memory import MemoryDelta, PassageRecord, pack
from gaby.agent.states import DoneState
from gaby.agent.transitions import Ending
from gaby.app import Gaby
from gaby.kernel.clock import ManualClock
from gaby.kernel.ids import RunId, TicketId
from gaby.knowledge.models import KnowledgeDocument, KnowledgeSource
from gaby.tickets.canonical_ticket import IncomingTicket
from gaby.tickets.models import Incident
from tests.agent.rows import edge_of
from tests.agent.scenes import LOCKED_OUT, Office, open_office
from tests.agent.test_message_gate import Model, use_model

pytestmark = [pytest.mark.promise("L11"), pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)]
DOWN = IncomingTicket(
    external_id="D-1",
    title="The shop shows error 503 on every page",
    body="Since ten o'clock the shop shows error 503 on every page. Nobody can order. Please look into it.",
)


@pytest.fixture
async def bare(gaby: Gaby, tmp_path: Path) -> Office:
    return await open_office(gaby, tmp_path, sample=False)


async def receive(office: Office, ticket: IncomingTicket, *people: str) -> list[TicketId]:
    return [
        await office.receive(
            replace(ticket, external_id=f"{ticket.external_id}-{who}", requester_email=f"{who}@{who}.example")
        )
        for who in people
    ]


async def incidents(office: Office) -> list[Incident]:
    async with office.gaby.database.read(office.workspace_id) as session:
        return list((await session.scalars(select(Incident).where(Incident.workspace_id == office.workspace_id))).all())


async def linked(office: Office, tickets: list[TicketId]) -> list[bool]:
    return [(await office.ticket(each)).incident_id is not None for each in tickets]


async def test_three_alike_from_three_people_are_one_incident_looked_into_once(bare: Office) -> None:
    tickets = await receive(bare, DOWN, "ada", "bob", "cleo")
    await bare.work()

    [incident] = await incidents(bare)
    assert incident.lead_ticket_id == tickets[0]
    assert await linked(bare, tickets) == [True, True, True]
    runs = [await bare.run_of(each) for each in tickets]
    assert {run.state for run in runs} == {"done"}
    # Nothing is connected, so the first is asked for more, and of the others a person takes care.
    assert [run.verdict for run in runs] == ["needs_client", "needs_tech", "needs_tech"]
    planned = [{step.action for step in await bare.steps(run.id)} for run in runs]
    assert ["Has seen enough" in actions for actions in planned] == [True, False, False]
    for ticket_id in tickets[1:]:
        [note] = await bare.messages(ticket_id)
        assert "same trouble" in note.body
        assert "ada" not in note.body.lower()


async def test_the_others_get_the_verdict_and_what_is_general_and_nothing_about_the_first_customer(
    bare: Office,
) -> None:
    tickets = await receive(bare, DOWN, "ada", "bob", "cleo")
    found = (
        "The shop is back since eleven. [doc:status#L1-L2]\nOrder 77 of Ada Quill is paid. [tool:company.get_order#1]"
    )
    delta = MemoryDelta(verdict="auto_resolved", reasons=("It is over.",), cited=found, written_by="offline")
    await end(bare, tickets[0], delta)
    tickets += await receive(bare, DOWN, "dora")
    await bare.work()

    assert await linked(bare, tickets) == [True] * 4
    for ticket_id in tickets[1:]:
        assert (await bare.run_of(ticket_id)).verdict == "auto_resolved"
        [reply] = await bare.messages(ticket_id)
        assert "The shop is back since eleven." in reply.body
        assert "Quill" not in reply.body
        assert "77" not in reply.body
        assert not reply.private


async def end(office: Office, ticket_id: TicketId, delta: MemoryDelta) -> None:
    """Its run ends after one step, with this as its result."""
    lead = await office.run_of(ticket_id)
    claimed = await office.gaby.agent.queue.claim_one("a test", office.workspace_id, RunId(lead.id))
    assert claimed is not None
    loop = office.gaby.agent.loop
    run = await loop.resume(claimed)
    assert await loop.step(run)
    packed = run.sealing.seal(pack(DoneState(verdict="auto_resolved"), delta))
    last = edge_of(office.gaby, run.lease, run.edges + 1, "done")
    await office.gaby.agent.writer.put(
        last._replace(packed=packed, wake_at=None, lease_until=None, ending=Ending(verdict="auto_resolved"))
    )


async def store_pages(office: Office, audiences: dict[UUID, str]) -> None:
    """Pages as a sync would have left them, each with its readers as of now."""
    gaby, workspace_id, source_id = office.gaby, office.workspace_id, office.gaby.ids.new()
    now = gaby.clock.now()
    async with gaby.database.write(workspace_id) as session:
        source = KnowledgeSource(
            workspace_id=workspace_id,
            id=source_id,
            name="book",
            kind="folder",
            location="/book",
            options={},
            created_at=now,
        )
        session.add(source)
        await session.flush()
        for number, (document_id, audience) in enumerate(audiences.items()):
            page = KnowledgeDocument(
                workspace_id=workspace_id,
                id=document_id,
                source_id=source_id,
                uri=f"page-{number}",
                title=f"Page {number}",
                kind="markdown",
                text="text",
                content_hash="0" * 64,
                fingerprint="0",
                first_passage=number,
                passages=1,
                lines=1,
                pages=1,
                changed_at=now,
                audience=audience,
            )
            session.add(page)


@pytest.mark.promise("S14")
async def test_what_a_model_wrote_about_the_first_is_written_anew_for_the_others_from_open_pages(bare: Office) -> None:
    """In its words anything of the first ticket may be hidden; from pages that all may read it writes unasked."""
    tickets = await receive(bare, DOWN, "ada", "bob", "cleo")
    ids = {name: bare.gaby.ids.new() for name in ("status", "plans", "withdrawn")}
    await store_pages(bare, {ids["status"]: "public", ids["plans"]: "staff", ids["withdrawn"]: "staff"})
    pages = tuple(
        PassageRecord(
            citation=f"doc:{name}#L1-L2",
            document_id=ids[name],
            title=name,
            text=text,
            confidence=1.0,
            audience=audience,
        )
        for name, audience, text in (
            ("status", "public", "The shop is back since eleven."),
            ("plans", "staff", "The database is moved in June."),
            ("withdrawn", "public", "Call Jim in June."),
        )
    )
    cited = (
        "Ada, all is well since eleven. [doc:status#L1-L2]\nIt is moved in June. [doc:plans#L1-L2]\n"
        "Call Jim in June. [doc:withdrawn#L1-L2]"
    )
    delta = MemoryDelta(
        verdict="auto_resolved", reasons=("Over.",), cited=cited, written_by="mine/m", passages=pages, internal=True
    )
    await end(bare, tickets[0], delta)
    model = Model([], "The shop is back since eleven. [s1]")
    with ChatServer(model.answer) as server:
        await use_model(bare, server.url, "summarise")
        await bare.work()
    assert await bare.waiting() == []
    for ticket_id in tickets[1:]:
        [reply] = await bare.messages(ticket_id)
        assert "The shop is back since eleven." in reply.body
        assert "Ada" not in reply.body
        assert not reply.private
    assert model.prompts
    assert not any("June" in prompt or "Ada" in prompt for prompt in model.prompts)


async def test_what_strangers_were_told_settles_nothing_for_somebody_who_is_known(bare: Office) -> None:
    """Otherwise three invented tickets would close the next real one."""
    await receive(bare, DOWN, "ada", "bob", "cleo")
    await bare.work()
    known = replace(DOWN, external_id="D-9", requester_email="dora@dora.example", requester_verified=True)
    ticket_id = await bare.receive(known)
    await bare.work()
    assert (await bare.ticket(ticket_id)).incident_id is not None
    actions = {step.action for step in await bare.steps((await bare.run_of(ticket_id)).id)}
    assert "Has seen enough" in actions, "it was looked into by itself"


async def test_what_is_not_much_or_not_alike_or_not_close_together_is_no_incident(
    bare: Office, clock: ManualClock
) -> None:
    await receive(bare, DOWN, "ada", "bob")
    await bare.receive(replace(DOWN, external_id="again", requester_email="bob@bob.example"))
    other = replace(DOWN, external_id="o", title="Invoices lack our address", body="The address is gone from invoices.")
    await receive(bare, other, "cleo")
    await bare.work()
    clock.advance(timedelta(hours=25))
    await receive(bare, DOWN, "dora")
    await bare.work()

    assert await incidents(bare) == []


async def test_three_who_are_locked_out_have_three_troubles(bare: Office) -> None:
    tickets = await receive(bare, LOCKED_OUT, "ada", "bob", "cleo")
    await bare.work()

    assert await incidents(bare) == []
    assert [(await bare.run_of(each)).state for each in tickets] == ["done"] * 3


async def test_another_workspace_is_never_part_of_it(bare: Office, tmp_path: Path) -> None:
    other = await open_office(bare.gaby, tmp_path, "globex", sample=False)
    await receive(bare, DOWN, "ada", "bob")
    await receive(other, DOWN, "cleo")
    await bare.work()

    assert await incidents(bare) + await incidents(other) == []
