"""Whatever a desk tells, and however often: one ticket, each message once, one investigation."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime

import pytest
from sqlalchemy import func, select, update

from gaby.agent.models import Investigation
from gaby.kernel.database import AllWorkspaces
from gaby.kernel.ids import TicketId
from gaby.tickets.canonical_ticket import Author, IncomingMessage, IncomingTicket
from gaby.tickets.desk_queries import NewDesk
from gaby.tickets.models import Ticket, TicketMessage
from gaby.tickets.service import AtItsDesk
from tests.agent.scenes import Office
from tests.support.seeded_random import Dice
from tests.tickets.scripted import scripted_desk

pytestmark = pytest.mark.promise("T5")
one_engine = pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)

FIRST = IncomingTicket(
    external_id="D-7",
    title="Printer of Ada Quill is out of ink",
    body="Hello, ada.quill@acme.example here. The printer on floor 2 says it has no ink.",
    requester_email="Ada.Quill@acme.example",
    requester_verified=True,
    customer="Acme Ltd",
    priority="high",
    sla_at=datetime(2030, 1, 3, tzinfo=UTC),
    received_at=datetime(2030, 1, 2, 3, tzinfo=UTC),
    metadata={"number": "7"},
)


def message(number: int, author: Author = "requester", body: str = "") -> IncomingMessage:
    at = datetime(2030, 1, 2, 3, number, tzinfo=UTC)
    return IncomingMessage(f"m-{number}", author, body or f"Message {number}", at)


def versions(count: int) -> list[IncomingTicket]:
    """The ticket as the desk tells it, each time with one message more."""
    return [replace(FIRST, messages=tuple(message(n) for n in range(1, upto + 1))) for upto in range(count)]


async def runs(place: Office, ticket_id: TicketId) -> Sequence[Investigation]:
    async with place.gaby.database.read(place.workspace_id) as session:
        mine = (Investigation.workspace_id == place.workspace_id, Investigation.ticket_id == ticket_id)
        return (await session.scalars(select(Investigation).where(*mine).order_by(Investigation.created_at))).all()


async def end_all(place: Office) -> None:
    """As if every investigation had come to its end."""
    async with place.gaby.database.write(place.workspace_id) as session:
        mine = Investigation.workspace_id == place.workspace_id
        await session.execute(
            update(Investigation).where(mine).values(state="done", wake_at=None, verdict="needs_tech")
        )
        await session.execute(
            update(Ticket).where(Ticket.workspace_id == place.workspace_id).values(status="needs_tech")
        )


@pytest.mark.promise("T1")
async def test_a_ticket_has_the_same_fields_whatever_its_desk_calls_them(place: Office) -> None:
    row = await place.ticket(await place.receive(FIRST))

    assert (row.external_id, row.customer, row.priority, row.status) == ("D-7", "Acme Ltd", "high", "queued")
    assert (row.requester_email, row.requester_verified) == ("ada.quill@acme.example", True)
    assert (row.sla_at, row.received_at) == (FIRST.sla_at, FIRST.received_at)
    assert (row.source_metadata, row.id.version, row.workspace_id) == ({"number": "7"}, 7, place.workspace_id)


@pytest.mark.promise("T1")
async def test_what_was_really_written_stands_only_where_it_is_sealed(place: Office) -> None:
    ticket_id = await place.receive(replace(FIRST, messages=(message(1, body="Call 555-0100 or ada@acme.example."),)))

    row = await place.ticket(ticket_id)
    [told] = await place.messages(ticket_id)
    assert "ada.quill@acme.example" not in row.title + row.body + row.body_encrypted
    assert "printer on floor 2" in row.body
    assert "ada@acme.example" not in told.body + told.body_encrypted
    async with place.gaby.database.read(place.workspace_id) as session:
        written = await place.gaby.tickets.intake.written(session, row)
    assert (written.title, written.body) == (FIRST.title, FIRST.body)
    assert [each.body for each in written.messages] == ["Call 555-0100 or ada@acme.example."]


async def test_a_hundred_deliveries_in_any_order_are_one_ticket_and_one_investigation(place: Office) -> None:
    dice = Dice("a hundred deliveries")
    told = sorted(versions(10) * 10, key=lambda _: dice(8))
    waiting = asyncio.Queue[IncomingTicket]()
    for each in told:
        waiting.put_nowait(each)

    async def deliver() -> None:
        while not waiting.empty():
            await place.receive(waiting.get_nowait())

    await asyncio.gather(*(deliver() for _ in range(6)))

    async with place.gaby.database.read(AllWorkspaces("a test counts")) as session:
        counts = [
            (await session.scalars(select(func.count()).select_from(table))).one()
            for table in (Ticket, Investigation, TicketMessage)
        ]
    assert counts == [1, 1, 9]
    [(ticket_id)] = {await place.receive(FIRST)}
    assert [each.external_id for each in await place.messages(ticket_id)] == [f"m-{n}" for n in range(1, 10)]


@one_engine
async def test_an_update_is_a_message_and_a_run_under_way_stays_the_only_one(place: Office) -> None:
    ticket_id = await place.receive(FIRST)
    await place.receive(versions(3)[2])

    assert [each.body for each in await place.messages(ticket_id)] == ["Message 1", "Message 2"]
    assert len(await runs(place, ticket_id)) == 1


@one_engine
async def test_an_edit_keeps_both_texts(place: Office) -> None:
    edited = replace(FIRST, body="It was not the ink, it was the paper.")
    ticket_id = await place.receive(FIRST)
    for told in (edited, FIRST, edited):
        await place.receive(told)

    async with place.gaby.database.read(place.workspace_id) as session:
        written = await place.gaby.tickets.intake.written(session, await place.ticket(ticket_id))
    assert written.body == FIRST.body
    assert [each.body for each in written.messages] == [edited.body]


@one_engine
@pytest.mark.parametrize(("author", "begun"), [("requester", 2), ("agent", 1), ("gaby", 1)])
async def test_after_the_end_only_the_requester_sets_gaby_to_work_again(
    place: Office, author: Author, begun: int
) -> None:
    ticket_id = await place.receive(FIRST)
    await end_all(place)
    await place.receive(replace(FIRST, messages=(message(1, author),)))

    assert len(await runs(place, ticket_id)) == begun
    assert (await place.ticket(ticket_id)).status == ("queued" if begun == 2 else "needs_tech")


@one_engine
async def test_a_ticket_that_a_person_closed_is_left_alone_until_it_is_opened_again(place: Office) -> None:
    ticket_id = await place.receive(FIRST)
    await end_all(place)
    await place.receive(replace(FIRST, closed=True, messages=(message(1),)))
    assert len(await runs(place, ticket_id)) == 1
    assert (await place.ticket(ticket_id)).closed_at is not None

    await place.receive(replace(FIRST, messages=(message(1), message(2))))
    assert len(await runs(place, ticket_id)) == 2


@one_engine
@pytest.mark.parametrize("told", [{"closed": True}, {"metadata": {"automatic": True}}], ids=["closed", "automatic"])
async def test_what_is_closed_or_automatic_starts_nothing(place: Office, told: dict[str, object]) -> None:
    ticket_id = await place.receive(replace(FIRST, **told))

    assert (await place.ticket(ticket_id)).status == "skipped"
    assert await runs(place, ticket_id) == []


async def test_the_first_tickets_of_a_workspace_may_all_come_at_once(place: Office) -> None:
    """Each of them finds that the built-in desk is not there yet."""
    await asyncio.gather(*(place.receive(replace(FIRST, external_id=f"D-{n}")) for n in range(8)))

    async with place.gaby.database.read(place.workspace_id) as session:
        assert len(await place.gaby.tickets.list(session)) == 8
        assert [desk.name for desk in await place.gaby.tickets.desks.list(session)] == ["inbox"]


@one_engine
async def test_a_version_that_was_overtaken_changes_nothing_but_its_messages_stay(place: Office) -> None:
    early, late = datetime(2030, 1, 2, 4, tzinfo=UTC), datetime(2030, 1, 2, 5, tzinfo=UTC)
    ticket_id = await place.receive(FIRST)
    await place.receive(replace(FIRST, changed_at=late, closed=True, priority="low"))
    await place.receive(replace(FIRST, changed_at=early, body="An older text.", messages=(message(1, "agent"),)))

    ticket = await place.ticket(ticket_id)
    assert ticket.closed_at is not None
    assert ticket.priority == "low"
    assert [each.body for each in await place.messages(ticket_id)] == ["Message 1"]


@one_engine
async def test_a_closed_ticket_of_the_built_in_desk_opens_when_the_requester_writes(place: Office) -> None:
    tickets, ticket_id = place.gaby.tickets, await place.receive(FIRST)
    async with place.gaby.database.write(place.workspace_id) as session:
        await tickets.close(session, place.actor, await tickets.intake.get(session, ticket_id))
    assert (await place.ticket(ticket_id)).closed_at is not None
    await end_all(place)
    async with place.gaby.database.write(place.workspace_id) as session:
        row = await tickets.intake.get(session, ticket_id)
        await tickets.write_on(session, place.actor, row, "It is empty again.", "requester")

    assert (await place.ticket(ticket_id)).closed_at is None
    assert len(await runs(place, ticket_id)) == 2


@one_engine
async def test_tickets_of_other_desks_are_answered_there(place: Office) -> None:
    gaby = place.gaby
    with scripted_desk():
        async with gaby.database.write(place.workspace_id) as session:
            desk = await gaby.tickets.desks.add(session, place.actor, NewDesk("far", "scripted", {}, every=None))
            taken = await gaby.tickets.intake.take(session, place.actor, desk, FIRST)
            row = await gaby.tickets.intake.get(session, taken.ticket_id)
            for change in (
                gaby.tickets.close(session, place.actor, row),
                gaby.tickets.write_on(session, place.actor, row, "Try again.", "agent"),
            ):
                with pytest.raises(AtItsDesk, match="at the desk far"):
                    await change
