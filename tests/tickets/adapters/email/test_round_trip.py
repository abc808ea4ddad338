"""Mails in and answers out, through a real Postfix and a real Dovecot."""

import asyncio
from collections.abc import Sequence
from email.message import Message

import pytest

from gaby.tickets.adapters.adapter import (
    DeskOutcomeUnknown,
    DeskRefused,
    DeskReply,
    DeskUnavailable,
    RawTicket,
    TicketAdapter,
    TicketPage,
)
from gaby.tickets.adapters.email.headers import thread_id
from tests.support.mail_server import ANN, BOB, SUPPORT, MailServer
from tests.support.valkey import free_port
from tests.tickets.adapters.email.conftest import OpenDesk
from tests.tickets.adapters.email.cutting import cut_line
from tests.tickets.adapters.email.mail_messages import MARKER, mail_message

pytestmark = [pytest.mark.xdist_group("mail"), pytest.mark.promise("T2", "T3")]
# The dot alone on its line ends a mail, and what follows would be orders to the server.
ANSWER = DeskReply("Restart the client.\n\n<b>It</b> is known.\n.\nRSET", MARKER)


async def whole(desk: TicketAdapter, cursor: str | None = None) -> tuple[list[RawTicket], str]:
    tickets: list[RawTicket] = []
    page = TicketPage([], cursor or "", more=True)
    while page.more:
        page = await desk.poll(page.cursor or None)
        tickets.extend(page.tickets)
    return tickets, page.cursor


async def copy_arrives(desk: TicketAdapter, ticket: str) -> str:
    for _ in range(600):
        if (found := await desk.find_reply(ticket, MARKER, {})) is not None:
            return found
        await asyncio.sleep(0.05)
    raise TimeoutError


def text_of(mail: Message) -> str:
    part = next(part for part in mail.walk() if part.get_content_type() == "text/plain")
    payload = part.get_payload(decode=True)
    assert isinstance(payload, bytes)
    return payload.decode()


def mails_about(mails: Sequence[Message], subject: str) -> list[Message]:
    return [mail for mail in mails if mail["subject"] == subject]


@pytest.mark.promise("T6")
async def test_a_mail_is_answered_in_its_thread(desk: TicketAdapter, mail: MailServer) -> None:
    mail.send(mail_message(Message_ID="<vpn-1@client.example>", References="<before@client.example>"))
    mail.wait_for(SUPPORT, 1)
    [raw], cursor = await whole(desk)
    ticket = desk.normalize(raw)
    assert (ticket.external_id, ticket.title, ticket.requester_email) == (
        thread_id("before@client.example", ANN, ANN),
        "The VPN drops",
        ANN,
    )

    posted = await desk.post_reply(ticket.external_id, ANSWER, ticket.metadata)

    [answer] = mail.wait_for(ANN, 1)
    assert answer["message-id"] == f"<{posted}>" == f"<{MARKER}@acme.example>"
    assert answer["in-reply-to"] == "<vpn-1@client.example>"
    assert answer["references"].split() == ["<before@client.example>", "<vpn-1@client.example>"]
    assert (answer["subject"], answer["auto-submitted"]) == ("Re: The VPN drops", "auto-replied")
    assert answer["from"] == "Acme Support <support@acme.example>"
    assert text_of(answer) == "Restart the client.\r\n\r\n<b>It</b> is known.\r\n.\r\nRSET\r\n"
    assert "&lt;b&gt;It&lt;/b&gt;" in answer.as_string()
    assert await copy_arrives(desk, ticket.external_id) == posted
    assert SUPPORT not in str(answer["to"])
    assert (await desk.poll(cursor)).tickets == []


async def test_whoever_replies_to_gaby_is_on_the_same_ticket(desk: TicketAdapter, mail: MailServer) -> None:
    mail.put(mail_message(Message_ID="<first@client.example>"))
    [raw], cursor = await whole(desk)
    ticket = desk.normalize(raw)
    await desk.post_reply(ticket.external_id, ANSWER, ticket.metadata)
    await copy_arrives(desk, ticket.external_id)

    own = f"<{MARKER}@acme.example>"
    mail.put(mail_message("Re: The VPN drops", "Still drops.", Message_ID="<second@client.example>", In_Reply_To=own))
    mail.put(mail_message("Re: The VPN drops", "Me too.", sender=BOB, In_Reply_To="<second@client.example>"))

    later, _ = await whole(desk, cursor)
    tickets = [desk.normalize(raw) for raw in later]
    assert [ticket.external_id for ticket in tickets] == ["first@client.example"] * 2
    assert [message.body.strip() for ticket in tickets for message in ticket.messages] == ["Still drops.", "Me too."]
    assert tickets[0].messages[0].external_id == "second@client.example"
    assert tickets[1].messages[0].author_email == BOB
    # Bob joined; the ticket stays Ann's, and so do the answers.
    assert {(ticket.requester_email, ticket.metadata["to"]) for ticket in tickets} == {(ANN, ANN)}


@pytest.mark.promise("S17")
async def test_a_thread_that_began_elsewhere_belongs_to_each_sender_alone(
    desk: TicketAdapter, mail: MailServer
) -> None:
    gone = "<newsletter-43@acme.example>"
    mail.put(mail_message("Re: News", "Any news?", sender=f'"{ANN}" <{BOB}>', In_Reply_To=gone))
    mail.put(mail_message("Re: News", "My password is lost.", sender="Ann <Ann@client.example>", In_Reply_To=gone))
    mail.put(mail_message("Out of office", "I am away.", References=gone, Auto_Submitted="auto-replied"))

    found, _ = await whole(desk)

    bobs, anns, absence = [desk.normalize(raw) for raw in found]
    assert (bobs.requester_email, bobs.metadata["to"]) == (BOB, BOB)
    assert (anns.requester_email, anns.metadata["to"]) == (ANN, ANN)
    assert anns.external_id != bobs.external_id
    # An absence note is on the ticket of its sender, who remains a person.
    assert (absence.external_id, absence.metadata["to"]) == (anns.external_id, ANN)
    assert [ticket.metadata["automatic"] for ticket in (bobs, anns, absence)] == [False, False, True]


@pytest.mark.promise("S17")
async def test_answers_to_gaby_stay_on_the_ticket_of_each_sender(desk: TicketAdapter, mail: MailServer) -> None:
    gone = "<newsletter-43@acme.example>"
    mail.put(mail_message("Re: News", sender=BOB, Message_ID="<b@client.example>", In_Reply_To=gone))
    mail.put(mail_message("Re: News", Message_ID="<a@client.example>", In_Reply_To=gone))
    found, cursor = await whole(desk)
    bobs, anns = [desk.normalize(raw) for raw in found]
    await desk.post_reply(anns.external_id, ANSWER, anns.metadata)
    await copy_arrives(desk, anns.external_id)
    [answer] = mail.wait_for(ANN, 1)
    own = answer["message-id"]

    mail.put(mail_message("Re: News", "Only the last is named.", In_Reply_To=own))
    mail.put(mail_message("Re: News", "All are named.", References=f"{answer['references']} {own}", In_Reply_To=own))
    mail.put(mail_message("Re: News", "Me too.", sender=BOB, References=f"{answer['references']} {own}"))
    mail.put(mail_message("Re: News", "And mine?", sender=BOB, In_Reply_To="<b@client.example>"))

    later, _ = await whole(desk, cursor)
    tickets = [desk.normalize(raw) for raw in later]
    assert [ticket.external_id for ticket in tickets] == [anns.external_id] * 3 + [bobs.external_id]
    assert [ticket.metadata["to"] for ticket in tickets] == [ANN, ANN, ANN, BOB]


async def test_a_follow_up_finds_its_ticket_when_the_first_mail_was_moved_away(
    desk: TicketAdapter, mail: MailServer
) -> None:
    mail.put(mail_message(Message_ID="<first@client.example>"))
    [raw], _ = await whole(desk)
    ticket = desk.normalize(raw)
    mail.empty()
    await desk.post_reply(ticket.external_id, ANSWER, ticket.metadata)
    await copy_arrives(desk, ticket.external_id)

    mail.put(mail_message("Re: The VPN drops", References=f"<first@client.example> <{MARKER}@acme.example>"))

    [reply], _ = await whole(desk)
    assert (reply.external_id, desk.normalize(reply).metadata["to"]) == ("first@client.example", ANN)


@pytest.mark.promise("S17")
async def test_nobody_chooses_the_id_of_somebody_elses_thread(desk: TicketAdapter, mail: MailServer) -> None:
    squatted = thread_id("newsletter-43@acme.example", ANN, ANN)
    mail.put(mail_message("Hello", sender=BOB, Message_ID=f"<{squatted}>"))
    mail.put(mail_message("Hello", sender=BOB, Message_ID="<x@client.example>", In_Reply_To=f"<{squatted}>"))
    mail.put(mail_message("Re: News", In_Reply_To="<newsletter-43@acme.example>"))

    found, _ = await whole(desk)

    tickets = [desk.normalize(raw) for raw in found]
    assert [ticket.external_id == squatted for ticket in tickets] == [False, False, True]
    assert tickets[2].metadata["to"] == ANN


@pytest.mark.promise("S17")
async def test_a_reply_to_of_somebody_else_makes_another_thread(open_desk: OpenDesk, mail: MailServer) -> None:
    desk, gone = open_desk(follow_reply_to=True), "<newsletter-43@acme.example>"
    mail.put(mail_message("Re: News", In_Reply_To=gone, Reply_To=BOB))
    mail.put(mail_message("Re: News", In_Reply_To=gone))
    mail.put(mail_message("Re: News", sender="undisclosed", In_Reply_To=gone))

    found, _ = await whole(desk)

    tickets = [desk.normalize(raw) for raw in found]
    assert [ticket.metadata["to"] for ticket in tickets] == [BOB, ANN, None]
    assert len({ticket.external_id for ticket in tickets}) == 3


async def test_a_mail_without_an_id_keeps_its_thread(desk: TicketAdapter, mail: MailServer) -> None:
    mail.put(mail_message("No id"))
    [raw], cursor = await whole(desk)
    ticket = desk.normalize(raw)
    assert ticket.external_id.startswith("digest-")
    await desk.post_reply(ticket.external_id, ANSWER, ticket.metadata)
    await copy_arrives(desk, ticket.external_id)
    [answer] = mail.wait_for(ANN, 1)
    assert answer["in-reply-to"] is None

    mail.put(mail_message("Re: No id", sender=BOB, References=answer["message-id"]))

    [reply], _ = await whole(desk, cursor)
    assert reply.external_id == ticket.external_id
    assert desk.normalize(reply).metadata["to"] == ANN


@pytest.mark.promise("T6")
async def test_a_lost_answer_of_the_server_is_found_again(
    open_desk: OpenDesk, desk: TicketAdapter, mail: MailServer
) -> None:
    mail.put(mail_message(Message_ID="<lost@client.example>"))
    [raw], _ = await whole(desk)
    ticket = desk.normalize(raw)
    assert not desk.capabilities().finds_replies
    async with cut_line(mail.ports["smtp"], said=b"\r\n.\r\n", heard=b"queued as") as line:
        with pytest.raises(DeskOutcomeUnknown):
            await open_desk(smtp_port=line.port).post_reply(ticket.external_id, ANSWER, ticket.metadata)

    assert await copy_arrives(desk, ticket.external_id) == f"{MARKER}@acme.example"
    assert len(mail.wait_for(ANN, 1)) == 1


@pytest.mark.promise("T6")
async def test_a_mail_that_was_not_sent_whole_was_not_sent(
    open_desk: OpenDesk, desk: TicketAdapter, mail: MailServer
) -> None:
    mail.put(mail_message(Message_ID="<half@client.example>"))
    [raw], _ = await whole(desk)
    ticket = desk.normalize(raw)
    long = DeskReply("A long answer.\n" * 20_000, MARKER)
    async with cut_line(mail.ports["smtp"], said=b"Message-ID", heard=b"") as line:
        with pytest.raises((DeskUnavailable, DeskOutcomeUnknown)):
            await open_desk(smtp_port=line.port).post_reply(ticket.external_id, long, ticket.metadata)
    await desk.post_reply(ticket.external_id, ANSWER, ticket.metadata)
    await copy_arrives(desk, ticket.external_id)

    [answer] = mail.wait_for(ANN, 1)
    assert "Restart" in text_of(answer)


async def test_a_new_desk_goes_on_where_the_old_one_stopped(open_desk: OpenDesk, mail: MailServer) -> None:
    for number in range(45):
        mail.put(mail_message(f"Mail {number}", Message_ID=f"<{number}@client.example>"))
    desk = open_desk()
    first = await desk.poll(None)
    await desk.aclose()

    rest, cursor = await whole(open_desk(), first.cursor)

    titles = [desk.normalize(raw).title for raw in (*first.tickets, *rest)]
    assert titles == [f"Mail {number}" for number in range(45)]
    assert first.more
    assert await whole(open_desk(), cursor) == ([], cursor)


async def test_a_mailbox_that_is_numbered_anew_is_read_anew(open_desk: OpenDesk, mail: MailServer) -> None:
    mail.make_folder("Anfragen & Büro")
    desk = open_desk(mailbox="Anfragen & Büro")
    mail.put(mail_message("One", Message_ID="<1@client.example>"), folder="Anfragen & Büro")
    [_], cursor = await whole(desk)

    mail.make_folder("Anfragen & Büro")
    for name in ("One", "Two"):
        mail.put(mail_message(name, Message_ID=f"<{name}@client.example>"), folder="Anfragen & Büro")

    again, _ = await whole(desk, cursor)
    assert [desk.normalize(raw).title for raw in again] == ["One", "Two"]


async def test_without_a_since_only_new_mails_count(open_desk: OpenDesk, mail: MailServer) -> None:
    mail.put(mail_message("Old"))
    desk = open_desk(since=None)
    start = await desk.poll(None)
    mail.put(mail_message("New"))
    later, _ = await whole(desk, start.cursor)

    assert start.tickets == []
    assert [desk.normalize(raw).title for raw in later] == ["New"]


async def test_a_program_is_not_answered(desk: TicketAdapter, mail: MailServer) -> None:
    mail.send(mail_message("Out of office", Auto_Submitted="auto-replied", Message_ID="<ooo@client.example>"))
    mail.wait_for(SUPPORT, 1)
    [raw], _ = await whole(desk)
    ticket = desk.normalize(raw)
    assert ticket.metadata["automatic"] is True
    with pytest.raises(DeskRefused):
        await desk.post_reply(ticket.external_id, ANSWER, ticket.metadata)


@pytest.mark.parametrize("secured", [("tls", "imaps", "smtps"), ("starttls", "imap", "smtp")], ids=lambda s: s[0])
async def test_connections_are_protected(
    secured: tuple[str, str, str], open_desk: OpenDesk, mail: MailServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    tls, imap, smtp = secured
    ports = {"imap_port": mail.ports[imap], "smtp_port": mail.ports[smtp]}
    desk = open_desk(imap_tls=tls, smtp_tls=tls, **ports)
    with pytest.raises(DeskUnavailable, match="certificate"):
        await desk.check()
    monkeypatch.setenv("SSL_CERT_FILE", str(mail.certificate))
    assert "would send" in await desk.check()


@pytest.mark.parametrize(
    ("changes", "error"),
    [
        ({"imap_password": "wrong"}, DeskRefused),
        ({"smtp_password": "wrong"}, DeskRefused),
        ({"mailbox": "Nowhere"}, DeskRefused),
        ({"imap_port": free_port()}, DeskUnavailable),
        ({"smtp_port": free_port()}, DeskUnavailable),
    ],
    ids=["imap password", "smtp password", "mailbox", "imap port", "smtp port"],
)
async def test_a_desk_that_cannot_work_says_why(
    changes: dict[str, object], error: type[Exception], open_desk: OpenDesk
) -> None:
    with pytest.raises(error) as told:
        await open_desk(**changes).check()
    assert "wrong" not in str(told.value)


async def test_who_cannot_get_mail_here_is_refused_before_it_is_sent(desk: TicketAdapter, mail: MailServer) -> None:
    with pytest.raises(DeskRefused):
        await desk.post_reply("t@client.example", ANSWER, {"to": "nobody@acme.example", "subject": "x"})
    assert mail.inbox(SUPPORT) == []
