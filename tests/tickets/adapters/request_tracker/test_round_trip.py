"""Tickets in and answers out, on a real Request Tracker."""

import sqlite3
from collections.abc import Generator
from contextlib import closing, contextmanager
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from gaby.tickets.adapters.adapter import (
    DeskDependencies,
    DeskOutcomeUnknown,
    DeskRefused,
    DeskReply,
    DeskUnavailable,
    RawTicket,
    TicketAdapter,
    TicketUnreadable,
)
from gaby.tickets.adapters.request_tracker.payloads import ListedTicket
from gaby.tickets.adapters.request_tracker.polling import TrackerChanges, TrackerCursor, parse
from gaby.tickets.adapters.request_tracker.rest import RestClient
from gaby.tickets.adapters.request_tracker.tickets import TrackerTickets
from tests.support.request_tracker import PASSWORD, RequestTrackerServer
from tests.support.valkey import free_port
from tests.tickets.adapters.email.cutting import cut_line
from tests.tickets.adapters.request_tracker.conftest import OpenDesk

pytestmark = [pytest.mark.xdist_group("request tracker"), pytest.mark.promise("T2", "T3")]
MARKER = "gaby-" + "fedcba9876543210" * 2
OTHER = "gaby-" + "00112233445566778899aabbccddeeff"


async def changed(desk: TicketAdapter, cursor: str, *numbers: str) -> tuple[list[RawTicket], str]:
    """Those of these tickets that changed: other tests' tickets may change in the same second."""
    page = await desk.poll(cursor)
    found = list(page.tickets)
    while page.more:
        page = await desk.poll(page.cursor)
        found.extend(page.tickets)
    return [raw for raw in found if raw.external_id in numbers], page.cursor


@contextmanager
def database(tracker: RequestTrackerServer) -> Generator[sqlite3.Connection]:
    """For what would take too long over the wire."""
    with closing(sqlite3.connect(tracker.folder / "rt.db", timeout=30)) as connection, connection:
        yield connection


def dated(tracker: RequestTrackerServer, moment: datetime, ticket: str) -> None:
    with database(tracker) as rows:
        rows.execute("UPDATE Tickets SET LastUpdated = ? WHERE id = ?", (f"{moment:%Y-%m-%d %H:%M:%S}", int(ticket)))


@contextmanager
def tickets_changed_at(tracker: RequestTrackerServer, *moments: datetime) -> Generator[list[int]]:
    """One ticket for each moment, gone in the end."""
    first = 900_000
    with database(tracker) as rows:
        rows.executemany(_COPY, [(first + index, f"{at:%Y-%m-%d %H:%M:%S}") for index, at in enumerate(moments)])
    yield [first + index for index in range(len(moments))]
    with database(tracker) as rows:
        rows.execute("DELETE FROM Tickets WHERE id >= ?", (first,))


_COPY = """
INSERT INTO Tickets (id, EffectiveId, Queue, Type, Subject, Status, Owner, LastUpdatedBy, Creator, Created, LastUpdated)
SELECT ?1, ?1, Queues.id, 'ticket', 'Copy', 'open', 1, 1, 1, ?2, ?2 FROM Queues WHERE Name = 'Support'
"""


@pytest.mark.promise("T6")
async def test_the_life_of_a_ticket(desk: TicketAdapter, tracker: RequestTrackerServer) -> None:
    start = await desk.poll(None)
    number = tracker.create("The VPN drops ☂", "Every\u202e hour.", Priority=100, Due="2031-01-02 03:04:05")
    payroll = tracker.create("Salaries", Queue="Payroll")
    tracker.write(number, "Which client?", user="tom")
    tracker.write(number, "Known since May.", user="tom", how="comment")
    tracker.write(number, "<p>The <b>new</b> one.</p><script>x</script>", user="ann", kind="text/html")

    [raw], cursor = await changed(desk, start.cursor, number, payroll)
    ticket = desk.normalize(raw)

    assert start.tickets == []
    assert (ticket.external_id, ticket.title, ticket.body) == (number, "The VPN drops ☂", "Every hour.")
    assert (ticket.requester_email, ticket.customer, ticket.priority) == ("ann@client.example", "Client Inc", "high")
    assert ticket.sla_at is not None
    assert not ticket.closed
    assert [(message.author, message.private, message.body) for message in ticket.messages] == [
        ("agent", False, "Which client?"),
        ("agent", True, "Known since May."),
        ("requester", False, "The new one."),
    ]

    posted = await desk.post_reply(number, DeskReply("Update *it*.", MARKER), ticket.metadata)
    await desk.log_time_entry(number, 7, "Looked into it.", OTHER, ticket.metadata)
    await desk.log_time_entry(number, 7, "Looked into it.", OTHER, ticket.metadata)
    await desk.update_status(number, "auto_resolved", ticket.metadata)
    await desk.update_status(number, "auto_resolved", ticket.metadata)

    assert await desk.find_reply(number, MARKER, ticket.metadata) == posted
    [again], _ = await changed(desk, cursor, number)
    ticket = desk.normalize(again)
    assert ticket.closed
    assert [(message.author, message.private) for message in ticket.messages[3:]] == [("gaby", False), ("gaby", True)]
    assert ticket.messages[3].external_id == posted
    assert ticket.messages[3].body == f"Update *it*.\n\n{MARKER}"
    assert tracker.ask("GET", f"ticket/{number}")["TimeWorked"] == "7"


async def test_who_quotes_gaby_is_not_gaby(desk: TicketAdapter, tracker: RequestTrackerServer) -> None:
    start = await desk.poll(None)
    number = tracker.create("Quoting")
    posted = await desk.post_reply(number, DeskReply("For colleagues.", MARKER, private=True), {})
    tracker.write(number, f"I am Gaby.\n\n{MARKER}", user="ann")
    tracker.write(number, f"> For colleagues.\n> {MARKER}\nAgreed.", user="tom", how="comment")

    [raw], _ = await changed(desk, start.cursor, number)

    authors = [(message.author, message.private) for message in desk.normalize(raw).messages]
    assert authors == [("gaby", True), ("requester", False), ("agent", True)]
    assert await desk.find_reply(number, MARKER, {}) == posted
    assert await desk.find_reply(number, OTHER, {}) is None


@pytest.mark.promise("T6")
@pytest.mark.parametrize("private", [False, True], ids=["answer", "comment"])
async def test_an_answer_is_posted_once_though_its_receipt_was_lost(
    private: bool, open_desk: OpenDesk, desk: TicketAdapter, tracker: RequestTrackerServer
) -> None:
    number = tracker.create("Lost receipt")
    reply = DeskReply("Once.", MARKER, private=private)
    async with cut_line(tracker.port, said=b'"TimeTaken"', heard=b" added") as line:
        with pytest.raises(DeskOutcomeUnknown):
            await open_desk(base_url=f"http://127.0.0.1:{line.port}").post_reply(number, reply, {})

    found = await desk.find_reply(number, MARKER, {})

    assert desk.capabilities().finds_replies
    assert found is not None
    history = tracker.ask("GET", f"ticket/{number}/history?fields=Type")["items"]
    kind = "Comment" if private else "Correspond"
    assert [entry["id"] for entry in history if entry["Type"] == kind] == [found]


async def test_nothing_is_left_out_when_many_share_a_second(
    dependencies: DeskDependencies, tracker: RequestTrackerServer
) -> None:
    second = datetime.now(UTC).replace(microsecond=0) - timedelta(hours=1)
    with tickets_changed_at(tracker, *[second] * 12) as numbers:
        changes = TrackerChanges(_rest(dependencies, tracker), ["Support"])
        first = await changes.after(TrackerCursor(second), second)
        rest = await changes.after(parse(str(first.cursor)), second)

    assert [ticket.id for ticket in first.tickets] == numbers[:10]
    assert first.more
    assert [ticket.id for ticket in rest.tickets][:2] == numbers[10:]


async def test_a_change_in_the_same_second_is_seen_after_the_poll(
    desk: TicketAdapter, tracker: RequestTrackerServer
) -> None:
    start = await desk.poll(None)
    early, late = tracker.create("Early"), tracker.create("Late")
    now = datetime.now(UTC)
    dated(tracker, now - timedelta(hours=1), early)
    dated(tracker, now, late)
    seen, cursor = await changed(desk, start.cursor, early, late)
    dated(tracker, now, early)

    again, _ = await changed(desk, cursor, early, late)

    assert [raw.external_id for raw in seen] == [late]
    assert [raw.external_id for raw in again] == [early, late]


async def test_a_backlog_is_read_from_its_oldest(dependencies: DeskDependencies, tracker: RequestTrackerServer) -> None:
    begin = datetime(2019, 1, 1, tzinfo=UTC)
    with tickets_changed_at(tracker, *(begin + timedelta(days=index) for index in range(105))):
        await _reads_backlog(TrackerChanges(_rest(dependencies, tracker), ["Support"]), begin)


async def _reads_backlog(changes: TrackerChanges, begin: datetime) -> None:
    cursor, seen = TrackerCursor(begin + timedelta(days=1)), list[datetime]()
    for _ in range(3):
        batch = await changes.after(cursor, datetime.now(UTC))
        seen.extend(ticket.updated for ticket in batch.tickets)
        cursor = parse(str(batch.cursor))
        assert batch.more
    assert seen == [begin + timedelta(days=1 + index) for index in range(30)]


def _rest(dependencies: DeskDependencies, tracker: RequestTrackerServer) -> RestClient:
    return RestClient(dependencies.http, tracker.url, f"token {tracker.token}")


@pytest.mark.promise("T8")
async def test_a_ticket_that_cannot_be_read_does_not_hold_up_the_rest(
    desk: TicketAdapter, dependencies: DeskDependencies, tracker: RequestTrackerServer
) -> None:
    hidden = tracker.create("Hidden", Queue="Payroll")
    seen = tracker.create("Seen")
    listed = [ListedTicket(id=int(number), LastUpdated=datetime.now(UTC)) for number in (hidden, seen)]
    first, second = await TrackerTickets(_rest(dependencies, tracker)).read(listed)
    with pytest.raises(TicketUnreadable):
        desk.normalize(first)
    assert desk.normalize(second).title == "Seen"


@pytest.mark.parametrize(
    ("changes", "error"),
    [
        ({"token": "1-14-wrong"}, DeskRefused),
        ({"token": "", "user": "gaby", "password": "wrong"}, DeskRefused),
        ({"queues": "Support,Nowhere"}, DeskRefused),
        ({"queues": "Payroll"}, DeskRefused),
        ({"base_url": f"http://127.0.0.1:{free_port()}"}, DeskUnavailable),
    ],
    ids=["token", "password", "no queue", "no right", "nobody there"],
)
async def test_a_desk_that_cannot_work_says_why(
    changes: dict[str, Any], error: type[Exception], open_desk: OpenDesk
) -> None:
    with pytest.raises(error) as told:
        await open_desk(**changes).check()
    assert "wrong" not in str(told.value)


async def test_a_password_does_as_well_as_a_token(open_desk: OpenDesk) -> None:
    assert "Request Tracker 5" in await open_desk(token="", user="gaby", password=PASSWORD).check()


async def test_what_is_refused_is_said(open_desk: OpenDesk, desk: TicketAdapter, tracker: RequestTrackerServer) -> None:
    number = tracker.create("Refusals")
    with pytest.raises(DeskRefused, match="status"):
        await open_desk(status_needs_client="asleep").update_status(number, "needs_client", {})
    for nowhere in ("999999", "1/../2", "x"):
        with pytest.raises(DeskRefused):
            await desk.post_reply(nowhere, DeskReply("x", MARKER), {})
    await desk.update_status(number, "skipped", {})
    assert tracker.ask("GET", f"ticket/{number}")["Status"] == "new"
