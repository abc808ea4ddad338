"""What adapters stand on, in a test: a clock that is held, a real client, and a memory that can be looked into."""

from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime

import httpx2

from gaby.kernel.clock import ManualClock
from gaby.tickets.adapters.adapter import DeskDependencies, DeskOutcomeUnknown, DeskReply, TicketAdapter, TicketPage
from gaby_connectors.sdk.address_guard import AddressPolicy

MARKER = "gaby-" + "0123456789abcdef" * 2
REPLY = DeskReply("Restart the **app**.\n\nIt works again.", MARKER)


@dataclass
class Standing:
    dependencies: DeskDependencies
    clock: ManualClock
    remembered: dict[str, str] = field(default_factory=dict[str, str])


@asynccontextmanager
async def standing() -> AsyncGenerator[Standing]:
    clock = ManualClock(datetime(2030, 1, 2, 3, 4, 5, tzinfo=UTC))
    remembered: dict[str, str] = {}

    async def remember(values: Mapping[str, str]) -> None:
        remembered.update(values)

    async with httpx2.AsyncClient(trust_env=False) as http:
        yield Standing(DeskDependencies(clock, http, AddressPolicy.anywhere(), remember), clock, remembered)


async def post_once(desk: TicketAdapter, external_id: str, reply: DeskReply, metadata: Mapping[str, str]) -> str:
    """As whoever writes back does it: when nothing was heard, look before saying it again."""
    try:
        return await desk.post_reply(external_id, reply, metadata)
    except DeskOutcomeUnknown:
        found = await desk.find_reply(external_id, reply.marker, metadata)
        return found or await desk.post_reply(external_id, reply, metadata)


async def everything(desk: TicketAdapter, cursor: str | None) -> tuple[list[str], str]:
    """Ids of all tickets until nothing is left, and where to go on."""
    found: list[str] = []
    while True:
        page: TicketPage = await desk.poll(cursor)
        cursor = page.cursor
        found += [ticket.external_id for ticket in page.tickets]
        if not page.more:
            return found, cursor
