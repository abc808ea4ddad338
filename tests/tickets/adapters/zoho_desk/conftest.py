from collections.abc import AsyncGenerator, Callable, Generator
from typing import Any

import pytest

from gaby.tickets.adapters.zoho_desk import kind
from gaby.tickets.adapters.zoho_desk.desk import ZohoDesk
from tests.support.desks.dependencies import Standing, standing
from tests.support.desks.zoho_desk import CLIENT, ORG, REFRESH_TOKEN, ScriptedZohoDesk, scripted_zoho_desk

Opening = Callable[..., ZohoDesk]


@pytest.fixture
def vendor() -> Generator[ScriptedZohoDesk]:
    with scripted_zoho_desk() as desk:
        yield desk


@pytest.fixture
async def dependencies() -> AsyncGenerator[Standing]:
    async with standing() as held:
        yield held


@pytest.fixture
def opening(vendor: ScriptedZohoDesk, dependencies: Standing) -> Opening:
    def opened(**more: Any) -> ZohoDesk:
        config = {
            "org_id": ORG,
            "client_id": CLIENT[0],
            "client_secret": CLIENT[1],
            "refresh_token": REFRESH_TOKEN,
            "from_address": "help@acme.example",
            "desk_url": vendor.url,
            "accounts_url": vendor.url,
            **more,
        }
        return ZohoDesk(kind.config.model_validate(config), dependencies.dependencies)

    return opened


@pytest.fixture
def desk(opening: Opening) -> ZohoDesk:
    return opening(since="2030-01-01T00:00:00Z")
