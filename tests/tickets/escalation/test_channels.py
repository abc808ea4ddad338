"""What Gaby cannot finish reaches a person: in Slack, in a program of theirs, or by mail."""

from collections.abc import AsyncGenerator, Generator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any

import httpx2
import orjson
import pytest

from gaby.kernel.clock import ManualClock
from gaby.tickets.adapters.adapter import DeskOutcomeUnknown, DeskRefused, DeskUnavailable
from gaby.tickets.adapters.signatures import check_stamped
from gaby.tickets.escalation import Escalation, SmtpServer, open_channel, parse_target
from gaby_connectors.sdk.address_guard import AddressPolicy
from tests.support.desks.faults import HTML
from tests.support.desks.smtp import ScriptedSmtp, scripted_smtp
from tests.support.models.http_server import Exchange, HttpServer, Received

pytestmark = pytest.mark.promise("T7")
MARKER = "gaby-" + "0123456789abcdef" * 2
SECRET = "a secret of sixteen letters"
CLOCK = ManualClock(datetime(2030, 1, 2, 3, 4, 5, tzinfo=UTC))
HERE = AddressPolicy.allowing("127.0.0.0/8")
ESCALATION = Escalation(
    id=MARKER,
    verdict="needs_tech",
    title="Login fails\r\nBcc: all@acme.example",
    link="https://desk.acme.example/1",
    reasons=("The disk of db1 is full.",),
    summary="The database refuses writes [1].",
    steps=("03:04 asked Prometheus", "03:05 found db1 at 100 %"),
    investigation='{"steps": [1, 2]}',
)


class Receiving:
    def __init__(self) -> None:
        self.received: list[Received] = []
        self.answer: tuple[int, dict[str, str], bytes] | None = (200, {}, b"ok")
        self._server = HttpServer(self._answer)
        self.url = self._server.url
        self.close = self._server.close

    async def _answer(self, exchange: Exchange) -> None:
        self.received.append(exchange.received)
        if self.answer is None:
            exchange.abort()
        else:
            await exchange.send(*self.answer)


@contextmanager
def receiving() -> Generator[Receiving]:
    receiver = Receiving()
    try:
        yield receiver
    finally:
        receiver.close()


@pytest.fixture
def receiver() -> Generator[Receiving]:
    with receiving() as made:
        yield made


@pytest.fixture
async def http() -> AsyncGenerator[httpx2.AsyncClient]:
    async with httpx2.AsyncClient(trust_env=False) as client:
        yield client


@pytest.fixture
async def smtp() -> AsyncGenerator[ScriptedSmtp]:
    async with scripted_smtp() as server:
        yield server


def mail_to(smtp: ScriptedSmtp, recipients: str, http: httpx2.AsyncClient, **more: Any) -> Any:
    settings = {"host": "127.0.0.1", "port": smtp.port, "security": "none", "sender": "gaby@acme.example", **more}
    server = SmtpServer.model_validate(settings)
    return open_channel(parse_target(f"email:{recipients}", smtp=server), http, CLOCK, HERE)


async def test_a_webhook_gets_all_of_it_signed(receiver: Receiving, http: httpx2.AsyncClient) -> None:
    channel = open_channel(parse_target(f"webhook:{receiver.url}/hook", secret=SECRET), http, CLOCK, HERE)
    await channel.send(ESCALATION)
    got = receiver.received[0]

    assert check_stamped(SECRET, got.headers, got.body, CLOCK.now())
    assert got.headers["idempotency-key"] == got.json["id"] == MARKER
    assert (got.json["verdict"], got.json["investigation"]) == ("needs_tech", {"steps": [1, 2]})
    assert got.json["steps"] == list(ESCALATION.steps)


async def test_slack_gets_blocks(receiver: Receiving, http: httpx2.AsyncClient) -> None:
    await open_channel(parse_target(f"slack:{receiver.url}/services/x"), http, CLOCK, HERE).send(ESCALATION)
    blocks = receiver.received[0].json["blocks"]
    words = orjson.dumps(blocks).decode()

    assert blocks[0]["text"]["text"] == "Login fails Bcc: all@acme.example"
    assert "<https://desk.acme.example/1|Open the ticket>" in words
    for part in ("needs a technician", "db1 is full", "refuses writes [1]", "found db1", MARKER):
        assert part in words


@pytest.mark.parametrize("kind", ["slack", "webhook"])
@pytest.mark.parametrize(
    ("status", "body", "error"),
    [
        (429, b"rate_limited", DeskUnavailable),
        (400, b"invalid_payload", DeskRefused),
        (404, HTML, DeskRefused),
        (302, b"", DeskRefused),
        (500, HTML, DeskOutcomeUnknown),
        (None, b"", DeskOutcomeUnknown),
    ],
)
async def test_what_became_of_it_is_told(
    receiver: Receiving, http: httpx2.AsyncClient, kind: str, status: int | None, body: bytes, error: type[Exception]
) -> None:
    receiver.answer = None if status is None else (status, {"Retry-After": "30"}, body)
    channel = open_channel(parse_target(f"{kind}:{receiver.url}", secret=SECRET), http, CLOCK, HERE)

    with pytest.raises(error) as caught:
        await channel.send(ESCALATION)
    assert getattr(caught.value, "retry_after", None) == (30 if status == 429 else None)


async def test_a_mail_has_the_investigation_attached(smtp: ScriptedSmtp, http: httpx2.AsyncClient) -> None:
    channel = mail_to(smtp, "oncall@acme.example, lead@acme.example", http)
    await channel.send(ESCALATION)
    mail = smtp.mails[0]

    assert smtp.recipients == ["oncall@acme.example", "lead@acme.example"]
    assert mail["Message-ID"] == f"<{MARKER}@acme.example>"
    assert mail["Subject"] == "[Gaby] Login fails Bcc: all@acme.example: needs a technician"
    assert mail["Bcc"] is None
    body = mail.get_body()
    assert body is not None
    assert "The disk of db1 is full." in body.get_content()
    attached = next(iter(mail.iter_attachments()))
    assert (attached.get_filename(), orjson.loads(attached.get_content())) == ("investigation.json", {"steps": [1, 2]})


@pytest.mark.parametrize(
    ("said", "error"),
    [
        ({"greeting": b"554 no\r\n"}, DeskUnavailable),
        ({"greeting": b""}, DeskUnavailable),
        ({"MAIL": b"550 no such sender\r\n"}, DeskRefused),
        ({"MAIL": b"451 later\r\n"}, DeskUnavailable),
        ({"RCPT": b"550 nobody\r\n"}, DeskRefused),
        ({"RCPT": b""}, DeskUnavailable),
        ({"DATA": b"452 full\r\n"}, DeskUnavailable),
        ({"end": b"554 spam\r\n"}, DeskRefused),
        ({"end": b""}, DeskOutcomeUnknown),
    ],
)
async def test_what_became_of_a_mail_is_told(
    smtp: ScriptedSmtp, http: httpx2.AsyncClient, said: dict[str, bytes], error: type[Exception]
) -> None:
    smtp.answers = {"QUIT": b"221 bye\r\n", **said}
    if said == {"greeting": b""}:
        smtp.answers["EHLO"] = smtp.answers["HELO"] = b""
        smtp.answers["greeting"] = b"220 hello\r\n"

    with pytest.raises(error):
        await mail_to(smtp, "oncall@acme.example", http).send(ESCALATION)


async def test_one_person_who_is_reached_is_enough(smtp: ScriptedSmtp, http: httpx2.AsyncClient) -> None:
    smtp.answers = {"left@acme.example": b"550 nobody\r\n"}
    await mail_to(smtp, "left@acme.example,oncall@acme.example", http).send(ESCALATION)

    assert len(smtp.mails) == 1


async def test_a_server_that_is_away_or_offers_less_is_told(smtp: ScriptedSmtp, http: httpx2.AsyncClient) -> None:
    with pytest.raises(DeskRefused):
        await mail_to(smtp, "oncall@acme.example", http, security="starttls").send(ESCALATION)
    with pytest.raises(DeskRefused):
        await mail_to(smtp, "oncall@acme.example", http, username="gaby", password="x").send(ESCALATION)
    with pytest.raises(DeskUnavailable):
        await mail_to(smtp, "oncall@acme.example", http, port=9).send(ESCALATION)


@pytest.mark.promise("T8")
async def test_hostile_words_reach_a_person_all_the_same(
    receiver: Receiving, smtp: ScriptedSmtp, http: httpx2.AsyncClient
) -> None:
    bad = "a\0b\ud800c\u202ed" + "x" * 100_000
    hostile = Escalation(MARKER, "failed", bad, bad, (bad,), bad, (bad,), '{"a": ' + "9" * 400 + ', "b": "\\ud800"}')
    targets = (f"slack:{receiver.url}", f"webhook:{receiver.url}")
    for target in targets:
        await open_channel(parse_target(target, secret=SECRET), http, CLOCK, HERE).send(hostile)
    await mail_to(smtp, "oncall@acme.example", http).send(hostile)

    assert len(receiver.received) == 2
    assert len(smtp.mails) == 1
