"""A mail server, and desks that stand on it."""

from collections.abc import AsyncGenerator, Callable, Generator
from datetime import UTC, datetime
from typing import Any

import httpx2
import pytest
from pydantic import SecretStr

from gaby.kernel.clock import SystemClock
from gaby.tickets.adapters.adapter import DeskDependencies, TicketAdapter
from gaby.tickets.adapters.email import kind
from gaby.tickets.adapters.email.config import EmailConfig
from gaby_connectors.sdk.address_guard import AddressPolicy
from tests.support.mail_server import PASSWORD, SUPPORT, MailServer, start_mail_server

OpenDesk = Callable[..., TicketAdapter]


@pytest.fixture(scope="session")
def running_mail() -> Generator[MailServer]:
    server = start_mail_server()
    yield server
    server.remove()


@pytest.fixture
def mail(running_mail: MailServer) -> MailServer:
    running_mail.empty()
    return running_mail


@pytest.fixture
async def dependencies() -> AsyncGenerator[DeskDependencies]:
    async def remember(values: object) -> None:
        raise AssertionError(values)

    async with httpx2.AsyncClient() as http:
        yield DeskDependencies(SystemClock(), http, AddressPolicy.anywhere(), remember)


@pytest.fixture
def open_desk(mail: MailServer, dependencies: DeskDependencies) -> OpenDesk:
    def opened(**changes: Any) -> TicketAdapter:
        return kind.open(settings(mail, **changes), dependencies)

    return opened


@pytest.fixture
def desk(open_desk: OpenDesk) -> TicketAdapter:
    return open_desk()


def settings(mail: MailServer, **changes: Any) -> EmailConfig:
    usual: dict[str, Any] = {
        "imap_host": "127.0.0.1",
        "imap_port": mail.ports["imap"],
        "imap_tls": "none",
        "imap_user": SUPPORT,
        "imap_password": SecretStr(PASSWORD),
        "smtp_host": "127.0.0.1",
        "smtp_port": mail.ports["smtp"],
        "smtp_tls": "none",
        "smtp_user": SUPPORT,
        "smtp_password": SecretStr(PASSWORD),
        "from_address": SUPPORT,
        "from_name": "Acme Support",
        "since": datetime(2020, 1, 1, tzinfo=UTC),
    }
    return EmailConfig.model_validate({**usual, **changes})
