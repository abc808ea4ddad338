"""Servers that answer as a Request Tracker should not, and tickets that nobody should write."""

import asyncio
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from typing import Any

import pytest

from gaby.tickets.adapters.adapter import (
    DeskDependencies,
    DeskOutcomeUnknown,
    DeskRefused,
    DeskReply,
    DeskUnavailable,
    RawTicket,
    TicketUnreadable,
)
from gaby.tickets.adapters.request_tracker import kind
from gaby.tickets.adapters.request_tracker.config import RequestTrackerConfig
from tests.tickets.adapters.request_tracker.test_round_trip import MARKER

pytestmark = pytest.mark.promise("T2", "T8")


@asynccontextmanager
async def answering(answer: bytes, dependencies: DeskDependencies) -> AsyncGenerator[Any]:
    """A desk whose server says the same to everybody, and hangs up."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        if b"ontent-" in head:
            await reader.read(65536)
        writer.write(answer)
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    async with server:
        config = RequestTrackerConfig.model_validate(
            {"base_url": f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}", "token": "t", "since": _SINCE}
        )
        yield kind.open(config, dependencies)


_SINCE = datetime(2030, 1, 1, tzinfo=UTC)


def _http(status: str, body: bytes = b"", *headers: str) -> bytes:
    lines = [f"HTTP/1.1 {status}", f"Content-Length: {len(body)}", "Connection: close", *headers]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body


PAGE = b"<html>Sign in, please</html>"


@pytest.mark.parametrize(
    ("answer", "reading", "posting"),
    [
        (_http("429 Slow down", b"", "Retry-After: 7"), DeskUnavailable, DeskUnavailable),
        (_http("503 Busy", PAGE), DeskUnavailable, DeskUnavailable),
        (_http("500 Oops", PAGE), DeskUnavailable, DeskOutcomeUnknown),
        (_http("504 Gateway", PAGE), DeskUnavailable, DeskOutcomeUnknown),
        (_http("200 OK", PAGE), DeskUnavailable, DeskOutcomeUnknown),
        (_http("200 OK", b"\xff\xfe"), DeskUnavailable, DeskOutcomeUnknown),
        (_http("200 OK", b"[" * 100_000), DeskUnavailable, DeskOutcomeUnknown),
        (_http("200 OK", b'{"items": [{"id": {}}]}'), DeskUnavailable, DeskUnavailable),
        (_http("302 Found", b"", "Location: https://else.example/"), DeskRefused, DeskRefused),
        (_http("401 No", b'{"message": "\\u0000\\nwho?"}'), DeskRefused, DeskRefused),
        (_http("200 OK", b" " * 9_000_000), DeskRefused, DeskOutcomeUnknown),
        (b"", DeskUnavailable, DeskOutcomeUnknown),
        (b"SSH-2.0-OpenSSH\r\n", DeskUnavailable, DeskOutcomeUnknown),
        (b"HTTP/1.1 201 Created\r\nContent-Length: 50\r\n\r\n[", DeskUnavailable, DeskOutcomeUnknown),
    ],
    ids=[
        *("429", "503", "500", "504", "html", "no text", "deep", "other form"),
        *("elsewhere", "401", "large", "nothing", "not http", "half"),
    ],
)
async def test_a_bad_answer_has_a_meaning(
    answer: bytes, reading: type[Exception], posting: type[Exception], dependencies: DeskDependencies
) -> None:
    async with answering(answer, dependencies) as desk:
        with pytest.raises(reading):
            await desk.poll(None)
        with pytest.raises(posting):
            await desk.post_reply("1", DeskReply("x", MARKER), {})


async def test_a_busy_desk_says_when_to_come_again(dependencies: DeskDependencies) -> None:
    async with answering(_http("429 Slow down", b"", "Retry-After: 7"), dependencies) as desk:
        with pytest.raises(DeskUnavailable) as told:
            await desk.poll(None)
    assert told.value.retry_after == 7


CONFIG = RequestTrackerConfig.model_validate({"base_url": "https://rt.acme.example", "token": "t"})
TICKET = {"id": 7, "LastUpdated": "2030-01-01T00:00:00Z", "Subject": "Hello", "Status": "new", "Priority": "0"}


def _raw(ticket: Mapping[str, Any], *texts: str) -> RawTicket:
    kinds = ("Create", "Correspond")
    messages = [{"id": n, "Type": kinds[min(n, 1)], "text": text} for n, text in enumerate(texts)]
    return RawTicket("7", {"ticket": {**TICKET, **ticket}, "messages": messages})


@pytest.mark.parametrize(
    "raw",
    [
        _raw({"Subject": "a\0b\n\u202ec \ud800" * 1000}, "x\0\ud800\u200b" * 100_000, "y\r\nz"),
        _raw({"Subject": None, "Requestor": [], "Due": "1970-01-01T00:00:00Z"}),
        _raw({"Requestor": [{"id": "x" * 9000, "EmailAddress": None}], "Priority": "-5"}, ""),
    ],
    ids=["odd characters", "nothing", "long"],
)
def test_a_hostile_ticket_is_cleaned(raw: RawTicket, dependencies: DeskDependencies) -> None:
    ticket = kind.open(CONFIG, dependencies).normalize(raw)
    for text in (ticket.title, ticket.body, *(message.body for message in ticket.messages)):
        text.encode()
        assert not set("\0\r\u202e\u200b") & set(text)
    assert 0 < len(ticket.title) <= 300
    assert len(ticket.body) <= 100_000
    assert ticket.sla_at is None


@pytest.mark.parametrize(
    "payload",
    [
        {},
        {"ticket": 3, "messages": []},
        {"ticket": TICKET},
        {"unreadable": "x"},
        {"ticket": {**TICKET, "Priority": "?"}},
    ],
)
def test_what_is_no_ticket_is_refused(payload: dict[str, Any], dependencies: DeskDependencies) -> None:
    with pytest.raises(TicketUnreadable):
        kind.open(CONFIG, dependencies).normalize(RawTicket("7", payload))


@pytest.mark.parametrize(
    "changes",
    [
        {"base_url": "http://rt.acme.example"},
        {"base_url": "https://user:pw@rt.acme.example"},
        {"base_url": "ftp://rt.acme.example"},
        {"base_url": "nonsense"},
        {"token": ""},
        {"user": "gaby", "password": "both"},
        {"queues": "Support' OR id > '0"},
    ],
)
def test_a_careless_configuration_is_refused(changes: dict[str, str]) -> None:
    with pytest.raises(ValueError, match=r"must|needs"):
        RequestTrackerConfig.model_validate({"base_url": "https://rt.acme.example", "token": "t", **changes})
