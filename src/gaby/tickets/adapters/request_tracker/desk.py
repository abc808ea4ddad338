"""Request Tracker as a help desk."""

import re
from collections.abc import Mapping
from datetime import datetime
from typing import Any
from urllib.parse import quote

from gaby.kernel.outcomes import Verdict
from gaby.tickets.adapters.adapter import (
    DeskCapabilities,
    DeskDependencies,
    DeskOutcomeUnknown,
    DeskRefused,
    DeskReply,
    RawTicket,
    TicketPage,
    VerifiedDelivery,
    WebhookRefused,
)
from gaby.tickets.adapters.request_tracker.config import RequestTrackerConfig
from gaby.tickets.adapters.request_tracker.normalization import incoming
from gaby.tickets.adapters.request_tracker.payloads import Text, TrackerModel, shaped
from gaby.tickets.adapters.request_tracker.polling import TrackerChanges, TrackerCursor, parse
from gaby.tickets.adapters.request_tracker.rest import RestClient
from gaby.tickets.adapters.request_tracker.tickets import TrackerTickets, ticket_path
from gaby.tickets.canonical_ticket import IncomingTicket
from gaby.tickets.text_cleanup import clean, clean_line

_MOST_BODY = 500_000
_TRANSACTION = re.compile(r"/transaction/([0-9]{1,18})/?\Z")
_MARKER = re.compile(r"gaby-[0-9a-z]{32}")


class _VersionInfo(TrackerModel):
    Version: Text


class _Status(TrackerModel):
    Status: Text


class RequestTrackerDesk:
    def __init__(self, config: RequestTrackerConfig, dependencies: DeskDependencies) -> None:
        self._config = config
        self._clock = dependencies.clock
        self._rest = RestClient(dependencies.http, config.base_url, config.authorization)
        self._tickets = TrackerTickets(self._rest)
        self._changes = TrackerChanges(self._rest, config.queues)

    def capabilities(self) -> DeskCapabilities:
        return DeskCapabilities(private_replies=True, statuses=True, time_entries=True, finds_replies=True)

    async def check(self) -> str:
        about = shaped(_VersionInfo, (await self._rest.get("rt")).body)
        for queue in self._config.queues:
            await self._rest.get(f"queue/{quote(queue, safe='')}")
        where = ", ".join(self._config.queues) or "every queue that its user sees"
        return (
            f"Request Tracker {clean_line(about.Version, 40)} at {self._config.base_url} answers; Gaby reads {where}."
        )

    async def poll(self, cursor: str | None) -> TicketPage:
        if cursor is not None:
            return await self._after(parse(cursor))
        if self._config.since is not None:
            return await self._after(TrackerCursor(self._config.since))
        now = (await self._rest.get("rt")).at or self._clock.now()
        return TicketPage([], str(TrackerCursor(now)))

    async def _after(self, cursor: TrackerCursor) -> TicketPage:
        batch = await self._changes.after(cursor, self._clock.now())
        return TicketPage(await self._tickets.read(batch.tickets), str(batch.cursor), batch.more)

    def verify(self, headers: Mapping[str, str], body: bytes, now: datetime) -> VerifiedDelivery:
        raise WebhookRefused("Request Tracker delivers no webhooks.")

    async def subscribe(self, callback: str) -> str:
        raise DeskRefused("Request Tracker delivers no webhooks; Gaby asks for changes.")

    def normalize(self, raw: RawTicket) -> IncomingTicket:
        return incoming(raw, self._config)

    async def post_reply(self, external_id: str, reply: DeskReply, metadata: Mapping[str, Any]) -> str:
        return await self._write(external_id, reply.body, reply.marker, private=reply.private)

    async def _write(self, external_id: str, text: str, marker: str, *, private: bool, minutes: int = 0) -> str:
        if not _MARKER.fullmatch(marker):
            raise DeskRefused("This is no marker of Gaby's.")
        path = f"{ticket_path(external_id)}/{'comment' if private else 'correspond'}"
        body = {
            "Content": f"{clean(text, _MOST_BODY).strip()}\n\n{marker}",
            "ContentType": "text/plain",
            "TimeTaken": minutes,
        }
        answer = await self._rest.change("POST", path, body)
        match = _TRANSACTION.search(answer.location)
        transaction_id = match[1] if match else await self._tickets.find(external_id, marker)
        if transaction_id is None:
            raise DeskOutcomeUnknown("The help desk says that it took the answer, and does not have it.")
        return transaction_id

    async def find_reply(self, external_id: str, marker: str, metadata: Mapping[str, Any]) -> str | None:
        return await self._tickets.find(external_id, marker)

    async def update_status(self, external_id: str, verdict: Verdict, metadata: Mapping[str, Any]) -> None:
        wanted = self._config.status(verdict)
        if not wanted or await self._status(external_id) == wanted:
            return
        await self._rest.again("PUT", ticket_path(external_id), body={"Status": wanted})
        # It answers that all is well, and tells in words of its own language when it did nothing.
        if await self._status(external_id) != wanted:
            raise DeskRefused(f"The help desk did not set the status {clean_line(wanted, 100)}.")

    async def _status(self, external_id: str) -> str:
        return shaped(_Status, (await self._rest.get(ticket_path(external_id))).body).Status

    async def log_time_entry(
        self, external_id: str, minutes: int, note: str, marker: str, metadata: Mapping[str, Any]
    ) -> None:
        if await self._tickets.find(external_id, marker) is None:
            await self._write(external_id, note, marker, private=True, minutes=minutes)

    async def aclose(self) -> None:
        """The connections are shared, and not ours to close."""
