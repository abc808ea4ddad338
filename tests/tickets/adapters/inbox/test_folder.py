"""The built-in desk's folder: each file is a ticket once, whatever is in it, and nothing in it is lost."""

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings

from gaby.kernel.actors import Actor, Permission
from gaby.kernel.errors import Forbidden, Invalid
from gaby.kernel.ids import DeskId
from gaby.tickets.adapters.adapter import (
    DeskRefused,
    DeskReply,
    RawTicket,
    TicketUnreadable,
    WebhookRefused,
)
from gaby.tickets.adapters.inbox import kind
from gaby.tickets.adapters.inbox.desk import InboxDesk
from gaby.tickets.adapters.inbox.folder import read_page
from gaby.tickets.adapters.payload import mapping
from gaby.tickets.canonical_ticket import IncomingTicket
from gaby.tickets.desk_queries import NewDesk
from gaby.tickets.models import Ticket
from gaby.tickets.receiver import TRIES, ReceiveCounts
from tests.agent.scenes import Office
from tests.support.desks.dependencies import MARKER, everything, standing
from tests.support.desks.hostile_payloads import JSON, VALUES, is_clean

one_engine = pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
MAIL = (
    b"From: Ada Quill <ada@acme.example>\r\nSubject: =?utf-8?q?No_ink?=\r\nMessage-ID: <1@acme.example>\r\n"
    b"Content-Type: text/plain; charset=utf-8\r\n\r\nThe printer has no ink.\r\n"
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "drop"
    made.mkdir()
    return made


async def inbox(folder: Path | None) -> InboxDesk:
    async with standing() as held:
        return InboxDesk(kind.config.model_validate({"folder": folder}), held.dependencies)


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir() if path.is_file())


def vanish(folder: Path) -> None:
    folder.rmdir()


def put(folder: Path, name: str, **told: Any) -> None:
    folder.mkdir(exist_ok=True)
    (folder / name).write_text(json.dumps(told))


@pytest.mark.promise("T3")
async def test_a_file_becomes_a_ticket_with_all_its_fields(folder: Path) -> None:
    put(
        folder,
        "a.json",
        title="No ink",
        body="The printer has no ink.",
        requester_email="Ada@acme.example",
        requester_verified=True,
        customer="Acme",
        priority="high",
        received_at="2030-01-02T03:00:00Z",
    )
    (folder / "b.eml").write_bytes(MAIL)
    (folder / "notes.txt").write_text("not a ticket")
    desk = await inbox(folder)
    first, second = (await desk.poll(None)).tickets

    assert desk.normalize(first) == IncomingTicket(
        external_id="a",
        title="No ink",
        body="The printer has no ink.",
        requester_email="ada@acme.example",
        requester_verified=True,
        customer="Acme",
        priority="high",
        received_at=datetime(2030, 1, 2, 3, tzinfo=UTC),
    )
    mail = desk.normalize(second)
    assert (mail.title, mail.body, mail.requester_email) == ("No ink", "The printer has no ink.", "ada@acme.example")
    assert not mail.requester_verified
    assert "2 files" in await desk.check()


@pytest.mark.promise("T4")
async def test_files_are_moved_aside_only_after_they_were_stored_and_none_is_left_out(folder: Path) -> None:
    for number in range(150):
        put(folder, f"{number:03}.json", title=f"Ticket {number}")
    desk = await inbox(folder)
    page = await desk.poll(None)
    assert len(names(folder)) == 150
    again = await desk.poll(None)
    assert [each.external_id for each in again.tickets] == [each.external_id for each in page.tickets]

    found, cursor = await everything(desk, None)
    assert sorted(found) == [f"{number:03}" for number in range(150)]
    assert await everything(desk, cursor) == ([], "[]")
    assert len(names(folder / "taken")) == 150


@pytest.mark.promise("T8")
async def test_a_cursor_cannot_reach_outside_the_folder(folder: Path) -> None:
    outside = folder.parent / "secret.json"
    outside.write_text("{}")
    read_page(folder, json.dumps(["../secret.json", str(outside), "..", "", "taken"]))
    assert outside.read_text() == "{}"


@pytest.mark.promise("T8")
@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\0",
        b"not JSON",
        b"[1]",
        b"{}",
        b'{"title": "", "body": null}',
        b"\xff\xfe",
        b"[" * 200_000,
        b'{"title": "x"' + b" " * 6_000_001 + b"}",
    ],
    ids=["empty", "NUL", "words", "a list", "nothing", "no words", "no text", "deep", "too large"],
)
async def test_a_file_that_is_no_ticket_is_refused_cleanly(folder: Path, content: bytes) -> None:
    (folder / "bad.json").write_bytes(content)
    desk = await inbox(folder)
    [raw] = (await desk.poll(None)).tickets
    with pytest.raises(TicketUnreadable):
        desk.normalize(raw)


@pytest.mark.promise("T8")
async def test_whatever_stands_in_a_field_the_ticket_is_clean(folder: Path) -> None:
    desk = await inbox(folder)
    for name, value in VALUES.items():
        fields = ("title", "body", "requester_email", "customer", "priority", "received_at", "automatic")
        for field in fields:
            check(desk, RawTicket("1", {"title": "t", "body": "b", field: value}), name)


@pytest.mark.promise("T8")
async def test_any_json_is_a_clean_ticket_or_none() -> None:
    desk = await inbox(None)

    @settings(max_examples=40, deadline=None)
    @given(JSON)
    def every(value: Any) -> None:
        check(desk, RawTicket("1", mapping(value) or {"title": value, "body": value}), "any")

    every()


def check(desk: InboxDesk, raw: RawTicket, name: str) -> None:
    try:
        ticket = desk.normalize(raw)
    except TicketUnreadable:
        return
    assert all(map(is_clean, (ticket.title, ticket.body, ticket.customer))), name


@pytest.mark.promise("T8")
@pytest.mark.parametrize(
    "mail",
    [
        b"",
        b"\0" * 1000,
        b"X: y\r\n" * 100_000 + b"\r\nbody",
        b"Subject: " + b"a" * 2_000_000 + b"\r\n\r\nbody",
        b"Subject: x\r\n" + b" folded\r\n" * 100_000 + b"\r\nbody",
        b'Content-Type: multipart/mixed; boundary="b"\r\n\r\n' + b"--b\r\nContent-Type: multipart/mixed\r\n\r\n" * 5000,
        b"Content-Type: text/plain; charset=nonsense\r\nContent-Transfer-Encoding: base64\r\n\r\n!!!!",
        MAIL.replace(b"No_ink", b"=00=E2=80=AE"),
    ],
    ids=["empty", "NUL", "many headers", "long header", "folds", "nested", "nonsense", "hidden"],
)
async def test_a_mail_of_any_make_is_a_clean_ticket_or_none(folder: Path, mail: bytes) -> None:
    (folder / "a.eml").write_bytes(mail)
    desk = await inbox(folder)
    for raw in (await desk.poll(None)).tickets:
        check(desk, raw, "mail")


@pytest.mark.promise("T8")
@pytest.mark.promise("T8")
async def test_a_link_is_left_where_it_is(folder: Path, tmp_path: Path) -> None:
    """It could lead to Gaby's own files."""
    secret = tmp_path / "master.json"
    secret.write_text('{"title": "the key"}')
    (folder / "harmless.json").symlink_to(secret)
    assert read_page(folder, None).tickets == []
    assert secret.exists()


async def test_a_folder_that_is_gone_says_what_to_do(folder: Path) -> None:
    vanish(folder)
    with pytest.raises(DeskRefused, match="Make it"):
        await (await inbox(folder)).poll(None)


async def test_nobody_delivers_to_it_by_webhook() -> None:
    desk = await inbox(None)
    with pytest.raises(WebhookRefused):
        desk.verify({}, b"{}", datetime(2030, 1, 2, tzinfo=UTC))
    assert "POST /api/tickets" in await desk.subscribe("https://gaby.example")


async def connect(place: Office, folder: Path) -> DeskId:
    async with place.gaby.database.write(place.workspace_id) as session:
        new = NewDesk("drop", "inbox", {"folder": str(folder)})
        return (await place.gaby.tickets.desks.add(session, place.actor, new)).typed_id


async def tickets(place: Office) -> list[Ticket]:
    async with place.gaby.database.read(place.workspace_id) as session:
        return list(await place.gaby.tickets.list(session))


@one_engine
@pytest.mark.promise("T8")
async def test_a_bad_file_holds_nothing_up_and_comes_in_when_it_is_mended(place: Office, folder: Path) -> None:
    (folder / "b.json").write_text("{ torn")
    put(folder, "a.json", title="Before it")
    put(folder, "c.json", title="After it")
    desk_id = await connect(place, folder)
    receiver = place.gaby.tickets.receiver
    assert await receiver.poll(place.workspace_id, desk_id) == ReceiveCounts(new=2, unreadable=1)
    for _ in range(TRIES):
        await receiver.poll(place.workspace_id, desk_id)
    assert len(await place.audit("ticket.dead_lettered")) == 1

    put(folder, "b.json", title="Mended")
    assert (await receiver.poll(place.workspace_id, desk_id)).new == 1
    assert {ticket.title for ticket in await tickets(place)} == {"Before it", "After it", "Mended"}
    async with place.gaby.database.read(place.workspace_id) as session:
        desk = await place.gaby.tickets.desks.get(session, desk_id)
        assert [dead_letter.state for dead_letter in await receiver.dead_letters(session, desk)] == ["mended"]


@one_engine
@pytest.mark.promise("T8")
async def test_a_folder_that_vanishes_is_noted_and_found_again(place: Office, folder: Path) -> None:
    desk_id = await connect(place, folder)
    vanish(folder)
    with pytest.raises(DeskRefused):
        await place.gaby.tickets.receiver.poll(place.workspace_id, desk_id)
    async with place.gaby.database.read(place.workspace_id) as session:
        desk = await place.gaby.tickets.desks.get(session, desk_id)
        assert (desk.failures, "Make it" in (desk.last_error or "")) == (1, True)
    put(folder, "a.json", title="Here again")
    assert (await place.gaby.tickets.receiver.poll(place.workspace_id, desk_id)).new == 1


@one_engine
async def test_only_who_manages_the_installation_may_name_a_folder(place: Office, folder: Path) -> None:
    admin = Actor("user", "ada", place.workspace_id, frozenset({Permission.DESKS_MANAGE}))
    desks = place.gaby.tickets.desks
    async with place.gaby.database.write(place.workspace_id) as session:
        with pytest.raises(Forbidden):
            await desks.add(session, admin, NewDesk("drop", "inbox", {"folder": str(folder)}))
        with pytest.raises(Invalid):
            await desks.add(session, place.actor, NewDesk("drop", "inbox", {"colour": "red"}))


@one_engine
@pytest.mark.promise("T6")
async def test_a_reply_stands_on_the_ticket_once_and_is_known_as_gabys_own(place: Office) -> None:
    ticket_id = await place.receive(IncomingTicket("T-1", "No ink", "The printer has no ink."))
    await place.work()
    await place.work()

    [reply] = await place.messages(ticket_id)
    assert (reply.author, reply.external_id[:5]) == ("gaby", "gaby-")
    assert (await place.run_of(ticket_id)).state == "done"
    desk = await inbox(None)
    assert await desk.post_reply("T-1", DeskReply("x", MARKER), {}) == MARKER
    assert await desk.find_reply("T-1", MARKER, {}) is None
