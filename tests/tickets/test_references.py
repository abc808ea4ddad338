"""References count up without gaps in one workspace, however many write at once."""

import asyncio

import pytest
from sqlalchemy import select

from gaby.agent.models import Investigation
from gaby.kernel.database import AllWorkspaces
from gaby.kernel.database.references import ReferenceCounter, assign_references, find_reference
from gaby.tickets.canonical_ticket import IncomingTicket
from gaby.tickets.models import Ticket
from tests.agent.scenes import Office

pytestmark = pytest.mark.promise("T1", "O4")


async def add(place: Office, number: int) -> None:
    async with place.gaby.database.write(place.workspace_id) as session:
        incoming = IncomingTicket(external_id=f"D-{number}", title="Printer", body="It has no ink.")
        await place.gaby.tickets.add(session, place.actor, incoming)


async def test_tickets_that_come_at_once_get_each_their_own_number(place: Office) -> None:
    await asyncio.gather(*(add(place, number) for number in range(20)))
    async with place.gaby.database.read(place.workspace_id) as session:
        for table in (Ticket, Investigation):
            numbers = await session.scalars(select(table.number).where(table.workspace_id == place.workspace_id))
            assert sorted(number or 0 for number in numbers) == list(range(1, 21))


async def test_a_ticket_that_is_told_again_takes_no_number(place: Office) -> None:
    for _ in range(3):
        await add(place, 7)
    await add(place, 8)
    async with place.gaby.database.read(place.workspace_id) as session:
        assert await find_reference(session, "T-2", Ticket) is not None
        assert await find_reference(session, "T-3", Ticket) is None


async def add_and_fail(place: Office) -> None:
    async with place.gaby.database.write(place.workspace_id) as session:
        await place.gaby.tickets.add(session, place.actor, IncomingTicket(external_id="D-1", title="a", body="b"))
        await assign_references(session)
        raise RuntimeError("on purpose")


async def test_what_is_rolled_back_takes_no_number(place: Office) -> None:
    with pytest.raises(RuntimeError, match="on purpose"):
        await add_and_fail(place)
    await add(place, 2)
    async with place.gaby.database.read(AllWorkspaces("a test looks at every counter")) as session:
        assert set(await session.scalars(select(ReferenceCounter.last))) == {1}


@pytest.mark.parametrize("text", ["T-0", "T-01", "T-", "T-1 ", "R-1", "A-1", "T-9999999999", "t1", ""])
async def test_what_is_no_reference_to_a_ticket_finds_none(place: Office, text: str) -> None:
    await add(place, 1)
    async with place.gaby.database.read(place.workspace_id) as session:
        assert await find_reference(session, text, Ticket) is None
        assert await find_reference(session, "t-1", Ticket) is not None
