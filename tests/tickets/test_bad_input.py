"""Whatever is sent where a ticket should be: a clean refusal, or a clean ticket; and the others are not held up."""

from collections.abc import Generator
from dataclasses import replace
from typing import Any

import orjson
import pytest
from sqlalchemy import select, update

from gaby.kernel.actors import Permission
from gaby.kernel.database import AllWorkspaces
from gaby.kernel.ids import DeskId
from gaby.tickets.adapters.adapter import DeskUnavailable, RawTicket, TicketUnreadable
from gaby.tickets.canonical_ticket import IncomingMessage, IncomingTicket
from gaby.tickets.desk_queries import NewDesk
from gaby.tickets.models import DeadLetter, Desk, Ticket
from gaby.tickets.receiver import TRIES, ReceiveCounts
from tests.agent.scenes import Office
from tests.support.app_client import World
from tests.support.desks.hostile_payloads import VALUES, is_clean
from tests.tickets.scripted import ScriptedDesk, scripted_desk

pytestmark = pytest.mark.promise("T8")
one_engine = pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
TEXTS = {name: value for name, value in VALUES.items() if isinstance(value, str)}
PLAIN = IncomingTicket(external_id="T-1", title="A title", body="A body")


@pytest.fixture
def far() -> Generator[ScriptedDesk]:
    with scripted_desk() as desk:
        yield desk


@pytest.fixture
async def desk_id(place: Office, far: ScriptedDesk) -> DeskId:
    async with place.gaby.database.write(place.workspace_id) as session:
        return (await place.gaby.tickets.desks.add(session, place.actor, NewDesk("far", "scripted", {}))).typed_id


async def poll(place: Office, desk_id: DeskId) -> ReceiveCounts:
    return await place.gaby.tickets.receiver.poll(place.workspace_id, desk_id)


async def dead_letters(place: Office, desk_id: DeskId) -> list[DeadLetter]:
    async with place.gaby.database.read(place.workspace_id) as session:
        desk = await place.gaby.tickets.desks.get(session, desk_id)
        return await place.gaby.tickets.receiver.dead_letters(session, desk)


async def test_every_text_becomes_a_clean_ticket(place: Office) -> None:
    for number, (name, text) in enumerate(TEXTS.items()):
        metadata: dict[str, Any] = {"subject": text, "deep": VALUES["deep"] if number % 2 else None, "nan": text * 2}
        message = IncomingMessage(f"m{text[:50]}", "requester", text)
        incoming_ticket = IncomingTicket(
            f"T-{number}{text[:300]}", text, text, text, customer=text, messages=(message,)
        )
        ticket_id = await place.receive(replace(incoming_ticket, metadata=metadata))
        row = await place.ticket(ticket_id)
        async with place.gaby.database.read(place.workspace_id) as session:
            written = await place.gaby.tickets.intake.written(session, row)

        shown = (row.title, row.body, row.customer, row.external_id, written.title, written.body)
        assert all(map(is_clean, shown)), name
        assert row.title, name
        assert len(row.title) <= 500, name
        assert all(is_clean(each.body) for each in written.messages), name


@one_engine
async def test_without_an_id_it_is_no_ticket(place: Office) -> None:
    for empty in ("", " ", "\0", "\u200b"):
        with pytest.raises(TicketUnreadable):
            await place.receive(replace(PLAIN, external_id=empty))


async def test_metadata_that_no_database_can_hold_does_no_harm(place: Office) -> None:
    told = {"nul": "a\0b", "spelled": "a\\u0000b", "half": "a\ud800b", "smile": "\U0001f600"}
    row = await place.ticket(await place.receive(replace(PLAIN, metadata=told)))
    assert row.source_metadata == {"nul": "ab", "spelled": "a\\u0000b", "half": "a?b", "smile": "\U0001f600"}

    for number, strange in enumerate(({"n": float("nan")}, {"o": object()}, {"long": "x" * 30_000})):
        row = await place.ticket(await place.receive(replace(PLAIN, external_id=f"S-{number}", metadata=strange)))
        assert row.source_metadata == {}


@one_engine
async def test_over_http_it_is_a_clean_answer_whatever_comes(place: Office, world: World) -> None:
    key = await world.key(place.workspace_id, Permission.TICKETS_READ, Permission.TICKETS_WORK)
    async with world.program(key) as client:
        for name, value in VALUES.items():
            body = {"title": value, "body": value, "external_id": "T-1"}
            try:
                sent = orjson.dumps(body)
            except TypeError:
                continue
            answer = await client.post("/api/tickets", content=sent, headers={"Content-Type": "application/json"})
            assert answer.status_code in {200, 201, 400, 413, 422}, name
            if answer.status_code < 300:
                assert is_clean(answer.json()["title"]), name
        for raw in (b'{"title": "a\\u0000b"}', b'{"title": "\\ud800"}', b"[" * 9999, b"{", b"\xff", b""):
            answer = await client.post("/api/tickets", content=raw, headers={"Content-Type": "application/json"})
            assert 200 <= answer.status_code < 500, raw[:20]


async def test_what_cannot_be_read_is_tried_five_times_then_left_to_a_person_and_the_rest_goes_on(
    place: Office, far: ScriptedDesk, desk_id: DeskId
) -> None:
    far.tickets = [RawTicket("1", {"title": "Good"}), RawTicket("2", {"x": 1}), RawTicket("3", {"title": "Also good"})]
    assert await poll(place, desk_id) == ReceiveCounts(new=2, unreadable=1)
    for tries in range(2, TRIES + 1):
        [dead_letter] = await dead_letters(place, desk_id)
        assert (dead_letter.state, dead_letter.tries) == ("trying", tries - 1)
        assert await place.audit("ticket.dead_lettered") == []
        assert await poll(place, desk_id) == ReceiveCounts(unreadable=1)

    [dead_letter] = await dead_letters(place, desk_id)
    assert (dead_letter.state, dead_letter.tries, dead_letter.reason) == ("dead", TRIES, "It has no title.")
    assert '"x"' not in dead_letter.payload
    far.tickets.append(RawTicket("4", {"title": "Later"}))
    assert await poll(place, desk_id) == ReceiveCounts(new=1)
    [told] = await place.audit("ticket.dead_lettered")
    assert (told["desk"], told["tries"]) == ("far", TRIES)


@one_engine
async def test_a_dead_letter_is_mended_and_a_later_trouble_with_it_is_a_new_one(
    place: Office, far: ScriptedDesk, desk_id: DeskId
) -> None:
    far.tickets = [RawTicket("2", {"x": 1})]
    assert await poll(place, desk_id) == ReceiveCounts(unreadable=1)

    far.tickets.append(RawTicket("2", {"title": "Mended"}))
    assert (await poll(place, desk_id)).new == 1
    assert [each.state for each in await dead_letters(place, desk_id)] == ["mended"]

    far.tickets.append(RawTicket("2", {"y": 2}))
    await poll(place, desk_id)
    [dead_letter] = await dead_letters(place, desk_id)
    assert (dead_letter.state, dead_letter.tries) == ("trying", 1)


@one_engine
async def test_a_message_that_is_too_large_or_too_strange_to_keep_holds_nothing_up(
    place: Office, far: ScriptedDesk, desk_id: DeskId
) -> None:
    far.tickets = [
        RawTicket("large", {"x": "\u00e9" * 2_000_000}),
        RawTicket("deep", {"x": VALUES["deep"]}),
        RawTicket("odd\0\ud800", {"x": float("nan")}),
    ]
    for _ in range(TRIES):
        assert (await poll(place, desk_id)).unreadable == 3
    assert {each.state for each in await dead_letters(place, desk_id)} == {"dead"}


@one_engine
@pytest.mark.promise("T4")
async def test_a_desk_that_fails_is_asked_less_often_and_the_others_are_asked_all_the_same(
    place: Office, far: ScriptedDesk, desk_id: DeskId
) -> None:
    """Whether the desk is down, or its adapter has a bug."""
    async with place.gaby.database.write(place.workspace_id) as session:
        await place.gaby.tickets.desks.add(session, place.actor, NewDesk("zzz", "inbox", {}))
    waits: list[float] = []
    for broken in (DeskUnavailable("It is down."), DeskUnavailable("It is down."), RuntimeError("a bug")):
        far.broken = broken
        async with place.gaby.database.write(AllWorkspaces("both are due")) as session:
            await session.execute(update(Desk).values(due_at=place.gaby.clock.now()))
        assert await place.gaby.tickets.receiver.poll_due() == 2
        async with place.gaby.database.read(place.workspace_id) as session:
            desks = {desk.name: desk for desk in await place.gaby.tickets.desks.list(session)}
        due = desks["far"].due_at
        assert due is not None
        waits.append((due - place.gaby.clock.now()).total_seconds())
        assert desks["zzz"].polled_at == place.gaby.clock.now()
        assert desks["far"].last_error == "It is down."
    assert waits == sorted(waits)
    assert waits[-1] > waits[0]


@one_engine
async def test_of_several_that_poll_one_does(place: Office, far: ScriptedDesk, desk_id: DeskId) -> None:
    far.tickets = [RawTicket("1", {"title": "Good"})]
    assert await place.gaby.tickets.receiver.poll_due() == 1
    assert await place.gaby.tickets.receiver.poll_due() == 0
    async with place.gaby.database.read(place.workspace_id) as session:
        assert len((await session.scalars(select(Ticket).where(Ticket.workspace_id == place.workspace_id))).all()) == 1
