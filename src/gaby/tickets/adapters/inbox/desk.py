"""The built-in desk as an adapter. Replies to its tickets are messages in Gaby's own database."""

import asyncio
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from gaby.kernel.outcomes import Verdict
from gaby.tickets.adapters import payload
from gaby.tickets.adapters.adapter import (
    DeskCapabilities,
    DeskDependencies,
    DeskReply,
    RawTicket,
    TicketPage,
    TicketUnreadable,
    VerifiedDelivery,
    WebhookRefused,
)
from gaby.tickets.adapters.inbox.config import InboxConfig
from gaby.tickets.adapters.inbox.folder import read_page
from gaby.tickets.canonical_ticket import PRIORITIES, IncomingTicket, Priority


class InboxDesk:
    def __init__(self, config: InboxConfig, _dependencies: DeskDependencies) -> None:
        self._config = config

    def capabilities(self) -> DeskCapabilities:
        # The posting itself stores the reply under its marker, so a second one finds it there.
        return DeskCapabilities(private_replies=True, idempotent_replies=True, finds_replies=True)

    async def check(self) -> str:
        if self._config.folder is None:
            return "The built-in desk needs nothing else."
        page = await self.poll(None)
        return f"The folder can be read; {len(page.tickets)} files wait in it."

    async def poll(self, cursor: str | None) -> TicketPage:
        if self._config.folder is None:
            return TicketPage([], cursor or "")
        return await asyncio.to_thread(read_page, self._config.folder, cursor)

    def verify(self, headers: Mapping[str, str], body: bytes, now: datetime) -> VerifiedDelivery:
        raise WebhookRefused

    async def subscribe(self, callback: str) -> str:
        return "Programs add tickets with an API key: POST /api/tickets."

    def normalize(self, raw: RawTicket) -> IncomingTicket:
        fields = raw.payload
        if "unreadable" in fields:
            raise TicketUnreadable(payload.line(fields["unreadable"]))
        title, body = payload.line(fields.get("title")), payload.text(fields.get("body"))
        if not title and not body:
            raise TicketUnreadable('It has neither a "title" nor a "body".')
        return IncomingTicket(
            external_id=raw.external_id,
            title=title,
            body=body,
            requester_email=payload.email(fields.get("requester_email")),
            requester_verified=fields.get("requester_verified") is True,
            customer=payload.line(fields.get("customer")),
            priority=_priority(fields.get("priority")),
            received_at=payload.moment(fields.get("received_at")),
            metadata={"automatic": True} if fields.get("automatic") is True else {},
        )

    async def post_reply(self, external_id: str, reply: DeskReply, metadata: Mapping[str, Any]) -> str:
        return reply.marker

    async def find_reply(self, external_id: str, marker: str, metadata: Mapping[str, Any]) -> str | None:
        return None

    async def update_status(self, external_id: str, verdict: Verdict, metadata: Mapping[str, Any]) -> None:
        """Gaby's own status is the desk's."""

    async def log_time_entry(
        self, external_id: str, minutes: int, note: str, marker: str, metadata: Mapping[str, Any]
    ) -> None:
        """It is never asked to."""

    async def aclose(self) -> None:
        pass


def _priority(value: object) -> Priority:
    return value if value in PRIORITIES else "medium"
