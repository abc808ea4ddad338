"""Zoho Desk as source and sink of tickets."""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

import orjson

from gaby.kernel.outcomes import Verdict
from gaby.tickets.adapters.adapter import (
    DeskCapabilities,
    DeskDependencies,
    DeskOutcomeUnknown,
    DeskRefused,
    DeskReply,
    DeskUnavailable,
    RawTicket,
    TicketPage,
    VerifiedDelivery,
)
from gaby.tickets.adapters.change_cursor import ChangeCursor, ChangedItem, cursor_of, of_cursor
from gaby.tickets.adapters.markup import as_html
from gaby.tickets.adapters.payload import email, entries, identity, line, mapping, moment, within
from gaby.tickets.adapters.zoho_desk.client import ZohoClient, ZohoNotFound
from gaby.tickets.adapters.zoho_desk.config import ZohoDeskConfig
from gaby.tickets.adapters.zoho_desk.normalization import holds_marker, normalized, ticket_id
from gaby.tickets.adapters.zoho_desk.webhooks import EVENTS, ZohoWebhookVerifier
from gaby.tickets.canonical_ticket import IncomingTicket

CAPABILITIES = DeskCapabilities(
    webhooks=True, private_replies=True, statuses=True, time_entries=True, finds_replies=True
)
_AT_ONCE = 50
_LAST_OFFSET = 4900
"""The search shows no more than five thousand tickets."""
_WHOLE_THREADS = 30
"""The newest are fetched with all their words; of the others, which came before, the desk's summary is enough."""
_KEYS_FOR = timedelta(hours=6)


class ZohoDesk:
    def __init__(self, config: ZohoDeskConfig, dependencies: DeskDependencies) -> None:
        self._config = config
        self._dependencies = dependencies
        self._client = ZohoClient(config, dependencies)
        self._keys_at: datetime | None = None
        self._receiver = ZohoWebhookVerifier(
            org_id=config.org_id,
            secret=config.webhook_secret.get_secret_value(),
            webhook_id=config.webhook_id.get_secret_value(),
            keys=config.webhook_keys.get_secret_value(),
        )

    def capabilities(self) -> DeskCapabilities:
        return CAPABILITIES

    async def check(self) -> str:
        organization = await self._get(f"organizations/{self._config.org_id}")
        name = line(organization.get("companyName") or organization.get("portalName"))
        return f"Zoho Desk of {name or 'organization ' + self._config.org_id}, which Gaby may read."

    async def poll(self, cursor: str | None) -> TicketPage:
        self._client.check_credits()
        await self._refresh_keys()
        now = self._dependencies.clock.now()
        trail = ChangeCursor.loaded(of_cursor(cursor), _aware(self._config.since) or now)
        query = {
            "modifiedTimeRange": f"{_format_time(trail.since)},{_format_time(now + timedelta(days=1))}",
            "sortBy": "modifiedTime",
            "from": str(trail.offset),
            "limit": str(_AT_ONCE),
        }
        if self._config.departments:
            query["departmentIds"] = ",".join(self._config.departments)
        listed = entries((await self._get("tickets/search", query)).get("data"))
        changes = [
            ChangedItem(changed_id, moment(ticket.get("modifiedTime")))
            for ticket in listed
            if (changed_id := ticket_id(ticket))
        ]
        full = len(listed) >= _AT_ONCE
        following = trail.after(changes, full=full, now=now, step=_AT_ONCE // 2)
        if following.offset > _LAST_OFFSET:
            following = ChangeCursor(following.start, following.since + timedelta(milliseconds=1))
        by_id = {ticket_id(ticket): ticket for ticket in listed}
        tickets = [
            raw for changed_id in trail.fresh(changes) if (raw := await self._whole(changed_id, by_id[changed_id]))
        ]
        return TicketPage(tickets, cursor_of(following.dumped()), more=full)

    def verify(self, headers: Mapping[str, str], body: bytes, now: datetime) -> VerifiedDelivery:
        return self._receiver.verify(headers, body, now)

    async def subscribe(self, callback: str) -> str:
        try:
            hooks = entries((await self._client.get("webhooks")).get("data"))
            known = next((identity(hook.get("id")) for hook in hooks if hook.get("url") == callback), "")
            webhook_id = known or await self._new_webhook(callback)
        except (DeskRefused, ZohoNotFound) as error:
            return f"Zoho Desk lets Gaby make no webhook ({error}). Polling brings every ticket all the same."
        self._receiver.webhook_id = webhook_id
        await self._dependencies.remember({"webhook_id": webhook_id})
        await self._refresh_keys()
        return f"Zoho Desk delivers new and changed tickets to {callback}."

    def normalize(self, raw: RawTicket) -> IncomingTicket:
        return normalized(raw, self._config.priorities)

    async def post_reply(self, external_id: str, reply: DeskReply, metadata: Mapping[str, Any]) -> str:
        ticket = _path(external_id)
        content = _markup(reply)
        to = email(metadata.get("email"))
        try:
            if to and not reply.private:
                body = {"channel": "EMAIL", "to": to, "fromEmailAddress": self._config.from_address}
                posted = await self._client.post(
                    f"{ticket}/sendReply", {**body, "contentType": "html", "content": content, "isForward": False}
                )
            else:
                # Without an address, what everybody on the portal sees is the way to the customer.
                comment = {"isPublic": not reply.private, "contentType": "html", "content": content}
                posted = await self._client.post(f"{ticket}/comments", comment)
        except ZohoNotFound:
            raise DeskRefused("Zoho Desk has this ticket no longer.") from None
        thread_id = identity(posted.get("id"))
        if not thread_id:
            raise DeskOutcomeUnknown
        return thread_id

    async def find_reply(self, external_id: str, marker: str, metadata: Mapping[str, Any]) -> str | None:
        ticket = _path(external_id)
        try:
            for comment in await self._client.all_of(f"{ticket}/comments"):
                if holds_marker(comment, marker):
                    return identity(comment.get("id"))
            threads = await self._client.all_of(f"{ticket}/threads")
            for thread in sorted(threads, key=_created, reverse=True):
                # A customer's answer quotes the marker; it is no reply of Gaby's.
                if thread.get("direction") == "out" and holds_marker(await self._thread(ticket, thread), marker):
                    return identity(thread.get("id"))
        except ZohoNotFound:
            raise DeskRefused("Zoho Desk has this ticket no longer.") from None
        return None

    async def update_status(self, external_id: str, verdict: Verdict, metadata: Mapping[str, Any]) -> None:
        status = self._config.statuses.get(verdict)
        if status:
            await self._change(_path(external_id), {"status": status})

    async def log_time_entry(
        self, external_id: str, minutes: int, note: str, marker: str, metadata: Mapping[str, Any]
    ) -> None:
        path = f"{_path(external_id)}/timeEntry"
        try:
            if any(marker in line(entry.get("description"), 10_000) for entry in await self._client.all_of(path)):
                return
            spent = {"hoursSpent": str(minutes // 60), "minutesSpent": str(minutes % 60), "secondsSpent": "0"}
            executed = {"executedTime": _format_time(self._dependencies.clock.now()), "description": f"{note} {marker}"}
            await self._client.post(path, {**executed, **spent})
        except ZohoNotFound:
            raise DeskRefused("Zoho Desk has this ticket no longer.") from None

    async def aclose(self) -> None:
        """The connections are shared, and closed by their owner."""

    async def _whole(self, changed_id: str, listed: Mapping[str, Any]) -> RawTicket | None:
        """None when it is gone by now. One that Gaby may not open comes as it was listed, and the others go on."""
        path = _path(changed_id)
        try:
            ticket = await self._client.get(path, {"include": "contacts"})
            threads = sorted(await self._client.all_of(f"{path}/threads"), key=_created)
            older, newer = threads[:-_WHOLE_THREADS], threads[-_WHOLE_THREADS:]
            whole = [*older, *[await self._thread(path, thread) for thread in newer]]
            comments = await self._client.all_of(f"{path}/comments")
        except ZohoNotFound:
            return None
        except DeskRefused:
            return RawTicket(changed_id, {"ticket": listed})
        return RawTicket(changed_id, {"ticket": ticket, "threads": whole, "comments": comments})

    async def _thread(self, ticket: str, listed: Mapping[str, Any]) -> Mapping[str, Any]:
        thread_id = identity(listed.get("id"))
        try:
            return {**listed, **await self._client.get(f"{ticket}/threads/{thread_id}")} if thread_id else listed
        except (ZohoNotFound, DeskRefused):
            return listed

    async def _get(self, path: str, query: Mapping[str, str] | None = None) -> dict[str, Any]:
        try:
            return await self._client.get(path, query)
        except ZohoNotFound:
            raise DeskRefused("There is no Zoho Desk at this address, or not for this organization.") from None

    async def _change(self, path: str, body: Mapping[str, object]) -> None:
        try:
            await self._client.patch(path, body)
        except ZohoNotFound:
            raise DeskRefused("Zoho Desk has this ticket no longer.") from None

    async def _new_webhook(self, callback: str) -> str:
        subscriptions = {event: {"departmentIds": self._config.departments or None} for event in EVENTS}
        asked = {"name": "Gaby", "description": "Tickets for Gaby", "url": callback, "subscriptions": subscriptions}
        webhook_id = identity((await self._client.post("webhooks", asked)).get("id"))
        if not webhook_id:
            raise DeskOutcomeUnknown
        return webhook_id

    async def _refresh_keys(self) -> None:
        """Zoho changes its keys now and then. While they cannot be had, those that are known are used."""
        now = self._dependencies.clock.now()
        if not self._receiver.webhook_id or (self._keys_at and now < self._keys_at + _KEYS_FOR):
            return
        try:
            keys = mapping(await self._client.keys())
        except (DeskUnavailable, DeskRefused):
            return
        self._keys_at = now
        encoded = orjson.dumps({"keys": keys.get("keys")}).decode()
        if entries(keys.get("keys")) and encoded != self._receiver.keys:
            self._receiver.keys = encoded
            await self._dependencies.remember({"webhook_keys": encoded})


def _path(external_id: str) -> str:
    if not (external_id.isascii() and external_id.isdigit()):
        raise DeskRefused("This is no ticket of Zoho Desk.")
    return f"tickets/{external_id}"


def _markup(reply: DeskReply) -> str:
    """The answer, and the marker where hardly anybody looks."""
    return f'{as_html(reply.body)}<div style="color:#999;font-size:9px">{reply.marker}</div>'


def _format_time(at: datetime) -> str:
    return at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.") + f"{at.microsecond // 1000:03d}Z"


def _aware(at: datetime | None) -> datetime | None:
    return at.replace(tzinfo=UTC) if at and at.tzinfo is None else at


def _created(thread: Mapping[str, Any]) -> datetime:
    return moment(within(thread, "createdTime")) or datetime.min.replace(tzinfo=UTC)
