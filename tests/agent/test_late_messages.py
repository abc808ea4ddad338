"""A message that comes when a run has its verdict already is not lost: the next run begins where this one ends."""

from pathlib import Path

import pytest

from gaby.agent.states import WritingBack
from gaby.app import Gaby
from gaby.tickets.canonical_ticket import Author
from tests.agent.scenes import open_office
from tests.agent.test_endings import SLOW, taken_up


@pytest.mark.promise("T5", "Q1")
@pytest.mark.parametrize("author", ["requester", "agent"])
async def test_whoever_writes_too_late_to_be_heard_is_looked_into_next(
    gaby: Gaby, tmp_path: Path, author: Author
) -> None:
    bare = await open_office(gaby, tmp_path, sample=False)
    ticket_id = await bare.receive(SLOW)
    loop, run = await taken_up(bare, ticket_id)
    while not isinstance(run.state, WritingBack):
        await loop.step(run)
    async with bare.gaby.database.write(bare.workspace_id) as session:
        row = await bare.gaby.tickets.intake.get(session, ticket_id)
        await bare.gaby.tickets.write_on(session, bare.actor, row, "Only the checkout is slow.", author)
    await loop.run(run)

    following = await bare.run_of(ticket_id)
    assert (following.id != run.run_id) is (author == "requester")
    assert (following.wake_at is not None) is (author == "requester")
    assert ((await bare.ticket(ticket_id)).status == "queued") is (author == "requester")
    await bare.work()
    last = await bare.run_of(ticket_id)
    assert last.id == following.id
    assert last.reference == ("R-2" if author == "requester" else "R-1")
