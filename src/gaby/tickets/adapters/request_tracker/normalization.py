"""A ticket of Request Tracker as a canonical ticket."""

import re
from typing import Any

from pydantic import ValidationError

from gaby.tickets.adapters.adapter import RawTicket, TicketUnreadable
from gaby.tickets.adapters.request_tracker.config import RequestTrackerConfig
from gaby.tickets.adapters.request_tracker.payloads import Text, TrackerModel, TrackerTicket, TrackerTransaction
from gaby.tickets.adapters.request_tracker.tickets import MOST_TEXT
from gaby.tickets.canonical_ticket import Author, IncomingMessage, IncomingTicket
from gaby.tickets.text_cleanup import clean, clean_line

_SIGNED = re.compile(r"(?:^|\n)gaby-[0-9a-z]{32}\s*\Z")


class _Message(TrackerTransaction):
    text: Text = ""


class _TicketPayload(TrackerModel):
    ticket: TrackerTicket
    messages: tuple[_Message, ...]


def incoming(raw: RawTicket, config: RequestTrackerConfig) -> IncomingTicket:
    if "unreadable" in raw.payload:
        raise TicketUnreadable(f"This ticket cannot be read: {clean_line(str(raw.payload['unreadable']), 200)}")
    try:
        whole = _TicketPayload.model_validate(raw.payload)
    except ValidationError:
        raise TicketUnreadable from None
    ticket = whole.ticket
    requester = next(iter(ticket.requestors), None)
    return IncomingTicket(
        external_id=raw.external_id,
        title=clean_line(ticket.subject, 300) or "(no subject)",
        body=clean("".join(message.text for message in whole.messages if message.is_first), MOST_TEXT),
        requester_email=requester.address if requester else None,
        customer=clean_line(requester.organization, 200) if requester else "",
        priority=config.priority(ticket.priority),
        sla_at=ticket.due_at,
        received_at=ticket.created,
        changed_at=ticket.updated,
        closed=ticket.status in config.closed_statuses,
        messages=tuple(_message(message, ticket) for message in whole.messages if message.is_message),
        metadata=_metadata(ticket, config),
    )


def _message(message: _Message, ticket: TrackerTicket) -> IncomingMessage:
    return IncomingMessage(
        external_id=str(message.id),
        author=_author(message, ticket),
        body=clean(message.text, MOST_TEXT),
        at=message.created,
        author_email=message.creator.address,
        private=message.is_private,
    )


def _author(message: _Message, ticket: TrackerTicket) -> Author:
    """A customer who quotes an answer of Gaby's quotes its marker too, and is still the customer."""
    if any(message.creator.id == person.id for person in ticket.requestors):
        return "requester"
    return "gaby" if _SIGNED.search(message.text) else "agent"


def _metadata(ticket: TrackerTicket, config: RequestTrackerConfig) -> dict[str, Any]:
    return {
        "queue": clean_line(ticket.queue.name, 200),
        "status": clean_line(ticket.status, 100),
        "url": f"{config.base_url}/Ticket/Display.html?id={ticket.id}",
    }
