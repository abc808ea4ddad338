"""Desks and escalations that a workspace sets up stay outside of the network, unless the installation names a place."""

import socketserver
from collections.abc import Generator
from dataclasses import replace
from datetime import UTC, datetime
from threading import Thread
from typing import Any

import httpx2
import pytest
from pydantic import SecretStr

from gaby.app import Gaby
from gaby.kernel.actors import Actor, Permission
from gaby.kernel.clock import ManualClock
from gaby.kernel.errors import Forbidden
from gaby.tickets.adapters.adapter import DeskRefused, DeskUnavailable
from gaby.tickets.desk_queries import NewDesk
from gaby.tickets.desks import Desks
from gaby.tickets.escalation import Escalation, SmtpServer, open_channel, parse_target
from gaby_connectors.sdk.address_guard import AddressPolicy
from tests.agent.scenes import Office
from tests.support.receiver import Receiver, receiving

pytestmark = pytest.mark.promise("S9")

MAILBOX = {
    "imap_user": "support",
    "imap_password": "unused-password",
    "from_address": "support@acme.example",
    "imap_tls": "starttls",
    "smtp_tls": "starttls",
}
INSIDE: dict[str, tuple[str, dict[str, Any]]] = {
    "imap": ("email", {**MAILBOX, "imap_host": "127.0.0.1", "smtp_host": "mail.acme.example"}),
    "smtp": ("email", {**MAILBOX, "imap_host": "mail.acme.example", "smtp_host": "0x7f.1"}),
    "github": ("github", {"repositories": ["acme/till"], "token": "t", "api_url": "https://169.254.169.254"}),
    "tracker": ("request_tracker", {"base_url": "https://10.0.0.7", "token": "t"}),
    "tracker by name": ("request_tracker", {"base_url": "http://localhost:8080", "token": "t"}),
    "zoho": (
        "zoho_desk",
        {
            "org_id": "1",
            "client_id": "c",
            "client_secret": "s",
            "refresh_token": "r",
            "from_address": "support@acme.example",
            "accounts_url": "https://[::1]",
        },
    ),
}


def workspace_admin(place: Office) -> Actor:
    """Who may do everything in a workspace, and nothing with the machine."""
    rights = place.actor.permissions - {Permission.INSTALLATION_MANAGE}
    return replace(place.actor, permissions=rights)


@pytest.mark.parametrize("which", INSIDE)
async def test_a_workspace_cannot_point_a_desk_at_the_inside(gaby: Gaby, place: Office, which: str) -> None:
    kind, values = INSIDE[which]
    async with gaby.database.write(place.workspace_id) as session:
        with pytest.raises(Forbidden, match="GABY_SAFETY_INSIDE"):
            await gaby.tickets.desks.add(session, workspace_admin(place), NewDesk("d", kind, values, None))
        added = await gaby.tickets.desks.add(session, place.actor, NewDesk("e", kind, values, None))
        assert added.any_address


def desks_with(gaby: Gaby, inside: str | None) -> Desks:
    outside = AddressPolicy.allowing(inside)
    return Desks(gaby.database, gaby.clock, gaby.ids, gaby.vault, gaby.http, outside)


@pytest.fixture
def receiver() -> Generator[Receiver]:
    with receiving() as found:
        yield found


class Listener(socketserver.ThreadingTCPServer):
    """Takes connections, and says nothing."""

    daemon_threads = True
    taken = 0

    def process_request(self, request: Any, client_address: Any) -> None:
        self.taken += 1
        self.shutdown_request(request)


@pytest.fixture
def listener() -> Generator[Listener]:
    with Listener(("127.0.0.1", 0), socketserver.BaseRequestHandler) as server:
        thread = Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield server
        server.shutdown()
        thread.join()


@pytest.mark.parametrize(("inside", "reached"), [(None, False), ("127.0.0.0/8", True), ("127.0.0.2", False)])
async def test_a_desk_is_judged_by_where_it_leads(
    gaby: Gaby, place: Office, listener: Listener, inside: str | None, reached: bool
) -> None:
    """The setting looked harmless when it was made, and leads to loopback when it is used."""
    desks = desks_with(gaby, inside)
    port: int = listener.server_address[1]
    values = {"base_url": f"http://127.0.0.1:{port}", "token": "t"}
    mailbox = {**MAILBOX, "imap_host": "127.0.0.1", "smtp_host": "127.0.0.1", "imap_port": port}
    async with gaby.database.write(place.workspace_id) as session:
        web = await desks.add(session, place.actor, NewDesk("web", "request_tracker", values, None))
        mail = await desks.add(session, place.actor, NewDesk("mail", "email", mailbox, None))
        web.any_address = mail.any_address = False
    async with gaby.database.read(place.workspace_id) as session:
        for row in (web, mail):
            adapter = await desks.adapter(session, row)
            with pytest.raises((DeskRefused, DeskUnavailable)) as error:
                await adapter.check()
            assert ("GABY_SAFETY_INSIDE" in error.value.message) is not reached
    assert listener.taken == (2 if reached else 0)
    await desks.close()


ESCALATION = Escalation("gaby-" + "0" * 32, "needs_tech", "Till", "https://gaby.example/runs/1")
CLOCK = ManualClock(datetime(2030, 1, 2, tzinfo=UTC))


@pytest.mark.parametrize("kind", ["slack", "webhook"])
@pytest.mark.parametrize(("inside", "reached"), [(None, False), ("127.0.0.1/32", True)])
async def test_an_escalation_goes_inside_only_if_that_is_allowed(
    receiver: Receiver, kind: str, inside: str | None, reached: bool
) -> None:
    target = parse_target(f"{kind}:{receiver.url}hook", secret="0123456789abcdef")
    outside = AddressPolicy.allowing(inside)
    async with httpx2.AsyncClient() as http:
        channel = open_channel(target, http, CLOCK, outside)
        if reached:
            target.check(outside)
            await channel.send(ESCALATION)
        else:
            with pytest.raises(Forbidden):
                target.check(outside)
            with pytest.raises(DeskRefused, match="GABY_SAFETY_INSIDE"):
                await channel.send(ESCALATION)
        trusted = target.model_copy(update={"any_address": True})
        await open_channel(trusted, http, CLOCK).send(ESCALATION)
    assert len(receiver.accepted) == 1 + reached


async def test_an_escalation_by_mail_does_not_go_inside_either(listener: Listener) -> None:
    server = SmtpServer(
        host="127.0.0.1", port=listener.server_address[1], sender="gaby@acme.example", password=SecretStr("x")
    )
    target = parse_target("email:ops@acme.example", smtp=server)
    with pytest.raises(Forbidden):
        target.check(AddressPolicy())
    async with httpx2.AsyncClient() as http:
        with pytest.raises(DeskRefused, match="GABY_SAFETY_INSIDE"):
            await open_channel(target, http, CLOCK).send(ESCALATION)
    assert listener.taken == 0
