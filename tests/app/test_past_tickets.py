"""Tickets that people solved at Gaby's own desk can be a source of knowledge, if an operator says so."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from gaby.app import Gaby
from gaby.knowledge.new_source import NewSource
from gaby.tickets.canonical_ticket import IncomingTicket
from tests.agent.scenes import Office, open_office

pytestmark = [pytest.mark.promise("K1"), pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)]

INK = IncomingTicket(
    external_id="D-7",
    title="The label printer prints nothing",
    body="Ada Quill here, ada.quill@acme.example. The label printer in the warehouse blinks orange and prints nothing.",
)


async def solve(office: Office, told: IncomingTicket, *answers: str, close: bool = True) -> None:
    ticket_id, tickets = await office.receive(told), office.gaby.tickets
    async with office.gaby.database.write(office.workspace_id) as session:
        row = await tickets.intake.get(session, ticket_id)
        for answer in answers:
            await tickets.write_on(session, office.actor, row, answer, "agent")
        if close:
            await tickets.close(session, office.actor, row)


async def learn_from_desk(office: Office) -> None:
    components = office.gaby.knowledge.components
    async with office.gaby.database.write(office.workspace_id) as session:
        source = await components.sources.add(session, office.actor, NewSource("past", "tickets", "desk"))
    await components.syncer.sync(office.actor, source.id)


async def search_texts(office: Office, question: str) -> Sequence[str]:
    results = await office.gaby.knowledge.components.searcher.search(office.workspace_id, question)
    return [hit.text for hit in results.hits]


async def test_what_a_colleague_answered_is_found_without_personal_data(gaby: Gaby, tmp_path: Path) -> None:
    office = await open_office(gaby, tmp_path, sample=False)
    await solve(office, INK, "One moment.", "Hold the feed button for seven seconds to clear the label sensor.")
    await learn_from_desk(office)

    [text, *_] = await search_texts(office, "label printer blinks orange and prints nothing")
    assert "Hold the feed button" in text
    assert "ada.quill" not in text


async def test_what_nobody_answered_or_closed_teaches_nothing(gaby: Gaby, tmp_path: Path) -> None:
    office = await open_office(gaby, tmp_path, sample=False)
    await solve(office, INK)
    await solve(office, IncomingTicket("D-8", INK.title, INK.body), "Hold the feed button.", close=False)
    await learn_from_desk(office)

    assert await search_texts(office, "label printer blinks orange and prints nothing") == []
