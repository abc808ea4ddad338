"""Learning: only what went well, only after a while or a good word, and only if a person agrees."""

from collections.abc import Sequence
from datetime import timedelta

import pytest

from gaby.agent.service import NotEnded, RatingResult
from gaby.kernel.clock import ManualClock
from gaby.kernel.ids import TicketId
from gaby.knowledge.models import KnowledgeCandidate
from tests.agent.scenes import LOCKED_OUT, Office

pytestmark = [pytest.mark.promise("K7"), pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)]

WEEK = timedelta(days=7)


async def resolved(office: Office) -> TicketId:
    ticket_id = await office.receive(LOCKED_OUT)
    await office.work()
    assert (await office.run_of(ticket_id)).verdict == "auto_resolved"
    return ticket_id


async def staged(office: Office) -> Sequence[KnowledgeCandidate]:
    async with office.gaby.database.read(office.workspace_id) as session:
        return await office.gaby.knowledge.components.candidates.list(session)


async def rate(office: Office, ticket_id: TicketId, rating: int) -> RatingResult:
    async with office.gaby.database.write(office.workspace_id) as session:
        ticket = await office.gaby.tickets.intake.get(session, ticket_id)
        return await office.gaby.agent.rate(session, office.actor, ticket, rating)


async def test_what_nobody_disputed_for_a_week_is_put_before_a_person_once(office: Office, clock: ManualClock) -> None:
    ticket_id = await resolved(office)
    clock.advance(WEEK - timedelta(minutes=1))
    assert await office.gaby.agent.learning.weigh_due() == 0

    clock.advance(timedelta(minutes=2))
    assert await office.gaby.agent.learning.weigh_due() == 1
    assert await office.gaby.agent.learning.weigh_due() == 0
    [candidate] = await staged(office)
    run = await office.run_of(ticket_id)
    assert candidate.origin == f"ticket T-1, run {run.id}"
    assert str(run.summary).split(".")[0] in candidate.text
    assert "## What was looked at" in candidate.text
    assert "nora.lindqvist" not in candidate.title + candidate.text


async def test_a_good_word_is_enough(office: Office) -> None:
    ticket_id = await resolved(office)
    rated = await rate(office, ticket_id, 5)

    assert rated.staged
    assert [candidate.rating for candidate in await staged(office)] == [5]
    assert [row["rating"] for row in await office.audit("investigation.rated")] == [5]


async def test_a_good_word_twice_is_one_thing_to_learn_and_what_was_rejected_stays_so(office: Office) -> None:
    ticket_id = await resolved(office)
    for _ in range(2):
        assert (await rate(office, ticket_id, 5)).staged
    [candidate] = await staged(office)
    assert candidate.seen == 1
    async with office.gaby.database.write(office.workspace_id) as session:
        candidates = office.gaby.knowledge.components.candidates
        await candidates.reject(session, office.actor, await candidates.get(session, candidate.id), "Too special.")

    again = await rate(office, ticket_id, 5)
    assert (again.staged, again.why) == (False, "The same was rejected before.")


async def test_a_bad_word_ends_it(office: Office, clock: ManualClock) -> None:
    ticket_id = await resolved(office)
    assert not (await rate(office, ticket_id, 2)).staged

    clock.advance(2 * WEEK)
    assert await office.gaby.agent.learning.weigh_due() == 0
    assert await staged(office) == []


async def test_whoever_had_to_write_again_was_not_helped(office: Office, clock: ManualClock) -> None:
    ticket_id = await resolved(office)
    clock.advance(timedelta(days=6, hours=23))
    async with office.gaby.database.write(office.workspace_id) as session:
        row = await office.gaby.tickets.intake.get(session, ticket_id)
        await office.gaby.tickets.write_on(session, office.actor, row, "I am still locked out.", "requester")
    clock.advance(timedelta(hours=2))

    # While it is looked into again, nobody knows yet.
    assert await office.gaby.agent.learning.weigh_due() == 1
    await office.work()
    clock.advance(timedelta(days=2))
    assert await office.gaby.agent.learning.weigh_due() == 1
    assert await staged(office) == []


async def test_a_thank_you_is_no_dispute(office: Office, clock: ManualClock) -> None:
    ticket_id = await resolved(office)
    async with office.gaby.database.write(office.workspace_id) as session:
        row = await office.gaby.tickets.intake.get(session, ticket_id)
        await office.gaby.tickets.write_on(session, office.actor, row, "Thank you, it works again.", "requester")
    await office.work()
    assert (await office.run_of(ticket_id)).verdict == "skipped"

    clock.advance(WEEK + timedelta(hours=1))
    await office.gaby.agent.learning.weigh_due()
    assert len(await staged(office)) == 1


async def test_only_what_has_ended_can_be_rated(office: Office) -> None:
    ticket_id = await office.receive(LOCKED_OUT)
    with pytest.raises(NotEnded):
        await rate(office, ticket_id, 5)
