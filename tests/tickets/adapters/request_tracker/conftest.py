"""A Request Tracker, and desks that stand on it."""

from collections.abc import AsyncGenerator, Callable, Generator
from typing import Any

import httpx2
import pytest

from gaby.kernel.clock import SystemClock
from gaby.tickets.adapters.adapter import DeskDependencies, TicketAdapter
from gaby.tickets.adapters.request_tracker import kind
from gaby.tickets.adapters.request_tracker.config import RequestTrackerConfig
from gaby_connectors.sdk.address_guard import AddressPolicy
from tests.support.request_tracker import RequestTrackerServer, start_request_tracker

OpenDesk = Callable[..., TicketAdapter]


@pytest.fixture(scope="session")
def tracker() -> Generator[RequestTrackerServer]:
    server = start_request_tracker()
    yield server
    server.remove()


@pytest.fixture
async def dependencies() -> AsyncGenerator[DeskDependencies]:
    async def remember(values: object) -> None:
        raise AssertionError(values)

    async with httpx2.AsyncClient() as http:
        yield DeskDependencies(SystemClock(), http, AddressPolicy.anywhere(), remember)


@pytest.fixture
def open_desk(tracker: RequestTrackerServer, dependencies: DeskDependencies) -> OpenDesk:
    def opened(**changes: Any) -> TicketAdapter:
        usual = {"base_url": tracker.url, "token": tracker.token, "queues": "Support"}
        return kind.open(RequestTrackerConfig.model_validate({**usual, **changes}), dependencies)

    return opened


@pytest.fixture
def desk(open_desk: OpenDesk) -> TicketAdapter:
    return open_desk()
