"""Mails that nobody's program should write, and some that everybody's does."""

import asyncio
import base64
from collections.abc import Mapping
from datetime import UTC, datetime
from email import message_from_bytes

import pytest

from gaby.tickets.adapters.adapter import (
    DeskDependencies,
    DeskRefused,
    DeskReply,
    RawTicket,
    TicketAdapter,
    TicketUnreadable,
)
from gaby.tickets.adapters.email import kind
from gaby.tickets.adapters.email.config import EmailConfig
from gaby.tickets.adapters.email.mail_parser import payload
from gaby.tickets.adapters.email.mime import MOST_TEXT
from gaby.tickets.adapters.email.normalization import incoming
from gaby.tickets.adapters.email.outgoing_mail import OutgoingMail
from gaby.tickets.adapters.email.outgoing_mail import mail as written
from gaby.tickets.canonical_ticket import IncomingTicket
from tests.support.mail_server import ANN, MailServer
from tests.tickets.adapters.email.mail_messages import MARKER, OFFLINE, mail_message, understood

pytestmark = pytest.mark.promise("T8")
_PLAIN = b"From: ann@client.example\r\nSubject: Hello\r\n"


def _nested(depth: int, line: bytes = b"") -> bytes:
    inner = b"Content-Type: text/plain\r\n\r\ndeep" + line
    for level in range(depth):
        edge = b"edge%d" % level
        inner = b'Content-Type: multipart/mixed; boundary="%s"\r\n\r\n--%s\r\n%s\r\n--%s--\r\n' % (
            edge,
            edge,
            inner,
            edge,
        )
    return _PLAIN + inner


def _multipart(kind: str, *parts: bytes) -> bytes:
    return (
        _PLAIN
        + f'Content-Type: multipart/{kind}; boundary="=_x"\r\n\r\n'.encode()
        + b"".join(b"--=_x\r\n" + part + b"\r\n" for part in parts)
        + b"--=_x--\r\n"
    )


HOSTILE = {
    "ten thousand headers": b"".join(b"X-%d: y\r\n" % n for n in range(10_000)) + mail_message(),
    "a header of a megabyte": b"X-Long: " + b"a" * 1_000_000 + b"\r\n" + mail_message(),
    "a subject of a megabyte": mail_message("=?utf-8?q?" + "=?" * 500_000 + "?="),
    "a body of five megabytes": mail_message(body="word " * 1_000_000),
    "five megabytes of empty lines": _nested(200, b"\r\n" * 2_500_000),
    "two hundred layers": _nested(200),
    "ten thousand layers": _nested(10_000),
    "ten thousand parts": _multipart("mixed", *([b"\r\nx"] * 10_000)),
    "NUL": mail_message("Nul\0 here", "a\0b"),
    "lone surrogates": mail_message("=?utf-7?q?+2AA-?=", "x").replace(
        b"\r\n\r\n", b"\r\nContent-Type: text/plain; charset=utf-8\r\n\r\n\xed\xa0\x80"
    ),
    "a charset that is none": mail_message(Content_Type="text/plain; charset=nonsense"),
    "a charset that is slow": mail_message(body="a-" * 400_000, Content_Type="text/plain; charset=punycode"),
    "another charset than it says": mail_message(Content_Type="text/plain; charset=utf-16").replace(
        b"drops", b"dr\xfcps\xff"
    ),
    "broken base64": mail_message(body="####A", Content_Transfer_Encoding="base64"),
    "broken MIME": mail_message(body="--x\r\n--x\r\n--x--y", Content_Type='multipart/mixed; boundary="x'),
    "a boundary of nothing": mail_message(Content_Type='multipart/mixed; boundary=""'),
    "RFC 2231 gone wrong": mail_message(Content_Type="text/plain; name*0*=nonsense''%zz; name*1=x; charset*=x'y'z"),
    "addresses without end": mail_message(sender="(" * 5_000 + "<" * 2_000),
    "no From": mail_message().replace(b"From: ann@client.example\r\n", b""),
    "two From": b"From: boss@acme.example\r\n" + mail_message(),
    "nothing at all": b"",
    "only a body": b"\r\nhello",
    "only bytes": bytes(range(256)) * 100,
    "HTML that never ends": mail_message(body="<a " * 300_000, Content_Type="text/html"),
    "comments that never end": mail_message(body="<!--" * 300_000, Content_Type="text/html"),
    "quotes that never end": mail_message(body="<p x='" * 200_000 + ">", Content_Type="text/html"),
    "references without end": mail_message(References=" ".join(f"<{n}@x.example>" for n in range(20_000))),
}


def _assert_clean(ticket: IncomingTicket) -> None:
    for text in (ticket.title, ticket.body, ticket.external_id, str(ticket.metadata)):
        text.encode()
        assert "\0" not in text
    assert len(ticket.body) <= MOST_TEXT
    assert len(ticket.title) <= 300
    assert "\n" not in ticket.title
    assert len(str(ticket.metadata)) < 20_000


@pytest.mark.parametrize("mail", HOSTILE.values(), ids=HOSTILE)
def test_a_hostile_mail_is_a_clean_ticket_or_none(mail: bytes) -> None:
    try:
        ticket = understood(mail)
    except TicketUnreadable:
        return
    _assert_clean(ticket)


def test_what_is_too_much_is_left_out_and_said() -> None:
    deep, endless = understood(HOSTILE["two hundred layers"]), understood(HOSTILE["a header of a megabyte"])
    assert (deep.body, deep.metadata["shortened"]) == ("", True)
    assert understood(HOSTILE["a body of five megabytes"]).metadata["shortened"]
    # What tells a program from a person may be in the part that was not read.
    assert endless.metadata["automatic"]


@pytest.mark.parametrize("name", ["no From", "two From", "addresses without end"])
def test_who_cannot_be_told_is_nobody(name: str) -> None:
    ticket = understood(HOSTILE[name])
    assert (ticket.requester_email, ticket.metadata["to"]) == (None, None)


@pytest.mark.xdist_group("mail")
async def test_polling_goes_on_after_hostile_mails(desk: TicketAdapter, mail: MailServer) -> None:
    await asyncio.to_thread(_fill, mail)
    page = await desk.poll(None)
    found = list(page.tickets)
    while page.more:
        page = await desk.poll(page.cursor)
        found.extend(page.tickets)

    assert len({raw.external_id for raw in found}) == len(found)
    titles = [desk.normalize(raw).title for raw in found if "unreadable" not in raw.payload]
    assert (titles[0], titles[-1]) == ("First", "Last")


def _fill(mail: MailServer) -> None:
    mail.put(mail_message("First", Message_ID="<a@client.example>"))
    # What takes no IMAP server by APPEND is left to the table above.
    for name in ("ten thousand headers", "a header of a megabyte", "two hundred layers", "broken MIME", "only bytes"):
        mail.put(HOSTILE[name].replace(b"\0", b""))
    mail.put(mail_message("Last", Message_ID="<z@client.example>"))


@pytest.mark.parametrize(
    ("mail", "body"),
    [
        (_multipart("alternative", b"\r\nplain", b"Content-Type: text/html\r\n\r\n<b>rich</b>"), "plain"),
        (_multipart("alternative", b"\r\n  ", b"Content-Type: text/html\r\n\r\n<b>rich</b>"), "rich"),
        (_multipart("mixed", b"\r\none", b"\r\ntwo"), "one\n\ntwo"),
        (mail_message(body="<p>a<script>x</script><br>b &amp; c", Content_Type="text/html"), "a\nb & c"),
        (mail_message(body="seen<div style='display:none'>not</div>", Content_Type="text/html"), "seen"),
        (mail_message(body="=C3=BCber", Content_Transfer_Encoding="quoted-printable"), "über"),
        (mail_message(body=base64.b64encode("größer".encode()).decode(), Content_Transfer_Encoding="base64"), "größer"),
        (mail_message().replace(b"It drops", b"Gr\xfc\xdfe: it drops"), "Grüße: it drops every hour."),
        (mail_message(body="pay\u200bpal \u202egnp.exe\u202c سلام\u200c ها"), "paypal gnp.exe سلام\u200c ها"),
        (mail_message(body="thanks\r\n-- \r\nAnn\r\n> old"), "thanks\n-- \nAnn\n> old"),
    ],
    ids=["plain", "only rich", "two parts", "html", "hidden", "quoted", "base64", "no charset", "deceiving", "history"],
)
def test_a_mail_is_read_as_its_reader_sees_it(mail: bytes, body: str) -> None:
    assert understood(mail).body.strip() == body


def test_attachments_are_named_and_not_kept() -> None:
    head = b'Content-Type: application/pdf; name="../x\r\n y.pdf"\r\nContent-Disposition: attachment\r\n\r\n'
    ticket = understood(_multipart("mixed", b"\r\nsee there", head + b"%PDF" * 100))
    assert ticket.metadata["attachments"] == [{"name": "../x y.pdf", "type": "application/pdf", "size": 400}]
    assert ticket.body.strip() == "see there"


@pytest.mark.parametrize(
    ("headers", "automatic"),
    [
        ({}, False),
        ({"Auto_Submitted": "no"}, False),
        ({"Auto_Submitted": "auto-generated (rejected)"}, True),
        ({"Precedence": "bulk"}, True),
        ({"List_Id": "<news.client.example>"}, True),
        ({"Return_Path": "<>"}, True),
        ({"X_Auto_Response_Suppress": "OOF, AutoReply"}, True),
        ({"Content_Type": 'multipart/report; boundary="x"'}, True),
        ({"sender": "MAILER-DAEMON@client.example"}, True),
        ({"sender": "support@acme.example"}, True),
    ],
)
def test_programs_are_told_from_people(headers: dict[str, str], automatic: bool) -> None:
    assert understood(mail_message(**headers)).metadata["automatic"] is automatic


_PASS = "mx.acme.example; dkim=pass header.d=client.example; dmarc=pass (p=none) header.from=client.example"


@pytest.mark.parametrize(
    ("results", "sender", "verified"),
    [
        ([_PASS], ANN, True),
        ([], ANN, False),
        (["mx.client.example; dmarc=pass header.from=client.example"], ANN, False),
        (["mx.acme.example; dmarc=fail header.from=client.example", _PASS], ANN, False),
        ([_PASS], "boss@acme.example", False),
        ([_PASS.replace("dmarc=pass", "x=y (dmarc=pass)")], ANN, False),
        ([_PASS], '"ann@client.example" <evil@else.example>', False),
        ([_PASS], "ann@client.example, evil@else.example", False),
    ],
    ids=["passed", "nothing said", "another server", "newest failed", "other domain", "comment", "name", "two"],
)
def test_a_sender_is_verified_by_the_desks_own_server_only(results: list[str], sender: str, verified: bool) -> None:
    said = "".join(f"Authentication-Results: {result}\r\n" for result in results).encode()
    assert understood(said + mail_message(sender=sender)).requester_verified is verified


def test_nobody_becomes_a_colleague_by_saying_so() -> None:
    reply = {"root": {"id": "root@client.example"}, "parents": ["root@client.example"]}
    said = b"Authentication-Results: mx.acme.example; dmarc=pass header.from=acme.example\r\n"
    authors = [_author(head + mail_message(sender="eve@acme.example"), reply) for head in (b"", said)]
    assert authors == ["requester", "agent"]


def _author(mail: bytes, reply: Mapping[str, object]) -> str:
    from_root = {**payload(mail, None, OFFLINE), **reply}
    return incoming(RawTicket("root@client.example", from_root), OFFLINE).messages[0].author


@pytest.mark.promise("T6")
@pytest.mark.parametrize("to", ["ann@client.example\r\nBcc: x@y.example", "ann", "a b@client.example", "", None, 7])
async def test_an_address_cannot_carry_a_header(to: object, dependencies: DeskDependencies) -> None:
    with pytest.raises(DeskRefused):
        await kind.open(OFFLINE, dependencies).post_reply("t", DeskReply("x", MARKER), {"to": to, "subject": "x"})


@pytest.mark.promise("T6")
def test_a_subject_and_a_thread_cannot_carry_a_header() -> None:
    thread = ["a@x.example\r\nBcc: evil@else.example", "b>\r\nX: y", "ok@x.example"]
    answer = OutgoingMail(
        ticket="t>\r\nBcc: evil@else.example",
        message_id=f"{MARKER}@acme.example",
        to=ANN,
        subject="Hi\r\nBcc: evil@else.example\r\n\r\nbody",
        body="x",
        thread=thread,
        at=datetime(2030, 1, 2, tzinfo=UTC),
    )
    parsed = message_from_bytes(written(answer, OFFLINE))
    assert parsed["bcc"] is None
    assert parsed["subject"] == "Re: Hi Bcc: evil@else.example body"
    assert parsed["references"] == "<ok@x.example>"


@pytest.mark.parametrize(
    "changes",
    [{"imap_tls": "none"}, {"smtp_tls": "none"}, {"from_address": "a@b\r\nc"}, {"colleagues": "acme.example"}],
    ids=["imap", "smtp", "address", "colleagues"],
)
def test_a_careless_configuration_is_refused(changes: dict[str, str]) -> None:
    with pytest.raises(ValueError, match=r"must|choose"):
        EmailConfig.model_validate({**OFFLINE.model_dump(), **changes})
