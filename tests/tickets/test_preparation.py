"""Cleaning and redacting large texts holds up nobody: it happens before a transaction, and off the event loop."""

import threading
from collections.abc import Callable

import pytest

from gaby.app import Gaby
from gaby.kernel.actors import Permission
from gaby.kernel.database import Database
from gaby.kernel.text_work import LONG
from gaby.tickets.adapters.adapter import RawTicket
from gaby.tickets.canonical_ticket import IncomingMessage, IncomingTicket
from gaby.tickets.desk_queries import NewDesk
from gaby.tickets.preparation import prepare_message, prepare_ticket
from tests.agent.scenes import Office
from tests.support.app_client import World
from tests.tickets.scripted import scripted_desk

pytestmark = pytest.mark.promise("T8")


class Watched:
    """Redacts nothing, and notes where it is asked to."""

    def __init__(self) -> None:
        self.in_transaction: list[bool] = []
        self.on_main_thread: list[bool] = []

    def __call__(self, text: str) -> str:
        self.in_transaction.append(Database.in_write_session())
        self.on_main_thread.append(threading.current_thread() is threading.main_thread())
        return text


@pytest.fixture
def watched(gaby: Gaby, monkeypatch: pytest.MonkeyPatch) -> Watched:
    found = Watched()
    monkeypatch.setattr(gaby.tickets.intake, "_redact", found)
    return found


async def test_what_a_desk_sends_is_redacted_before_the_transaction(
    gaby: Gaby, place: Office, watched: Watched
) -> None:
    with scripted_desk() as scripted:
        async with gaby.database.write(place.workspace_id) as session:
            desk = await gaby.tickets.desks.add(session, place.actor, NewDesk("s", "scripted", {}, None))
        scripted.tickets = [RawTicket("T-1", {"title": "Till", "body": "4111 " * 40_000}), RawTicket("T-2", {})]
        assert (await gaby.tickets.receiver.poll(place.workspace_id, desk.typed_id)).new == 1
        assert watched.in_transaction
        assert not any(watched.in_transaction + watched.on_main_thread)
        # What could not be read is tried again in the same way, and the same again is not redacted again.
        asked = len(watched.in_transaction)
        scripted.tickets.append(scripted.tickets[0])
        assert (await gaby.tickets.receiver.poll(place.workspace_id, desk.typed_id)).new == 0
        assert len(watched.in_transaction) == asked


async def test_what_is_sent_over_http_is_redacted_before_the_transaction(
    place: Office, world: World, watched: Watched
) -> None:
    key = await world.key(place.workspace_id, Permission.TICKETS_READ, Permission.TICKETS_WORK)
    async with world.program(key) as client:
        added = await client.post("/api/tickets", json={"title": "Till", "body": "4111 " * 40_000})
        assert added.status_code == 201
        written = await client.post(f"/api/tickets/{added.json()['id']}/messages", json={"body": "4111 " * 30_000})
        assert written.status_code == 201
    assert len(watched.in_transaction) >= 3
    assert not any(watched.in_transaction)


@pytest.mark.parametrize(("length", "at_once"), [(10, True), (LONG + 1, False)])
async def test_only_large_texts_take_a_thread(length: int, at_once: bool) -> None:
    watched = Watched()
    await prepare_ticket(IncomingTicket("T-1", "Till", "x" * length), watched)
    message = IncomingMessage("m", "agent", "x" * length)
    await prepare_ticket(IncomingTicket("T-1", "Till", "", messages=(message,)), watched)
    await prepare_message(message, watched)
    assert set(watched.on_main_thread) == {at_once}


async def test_a_ticket_that_changed_meanwhile_is_redacted_after_all(gaby: Gaby, place: Office) -> None:
    redact: Callable[[str], str] = str.upper
    ticket = IncomingTicket("T-1", "Till", "first")
    ready = await prepare_ticket(ticket, redact)
    same = await prepare_ticket(ticket, redact, ready.fingerprint)
    assert (same.unchanged, same.body) == (True, "")
    ticket_id = await place.receive(IncomingTicket("T-1", "Till", "other"))
    async with gaby.database.write(place.workspace_id) as session:
        await gaby.tickets.add(session, place.actor, same)
    assert [each.body for each in await place.messages(ticket_id)] == ["first"]
