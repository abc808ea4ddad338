"""A ticket of Zoho Desk as the canonical ticket."""

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

from gaby.tickets.adapters.adapter import RawTicket, TicketUnreadable
from gaby.tickets.adapters.html_text import html_to_text
from gaby.tickets.adapters.payload import (
    MARKER,
    email,
    entries,
    identity,
    line,
    link,
    mapping,
    moment,
    text,
    within,
)
from gaby.tickets.canonical_ticket import Author, IncomingMessage, IncomingTicket, Priority

_LONGEST_MARKUP = 1_000_000


def normalized(raw: RawTicket, priorities: Mapping[str, Priority]) -> IncomingTicket:
    ticket = mapping(raw.payload.get("ticket"))
    number = ticket_id(ticket)
    if number is None or number != raw.external_id:
        raise TicketUnreadable
    requester = email(within(ticket, "contact", "email")) or email(ticket.get("email"))
    body = _words(ticket.get("description"))
    title = line(ticket.get("subject")) or line(body, 80)
    if not title:
        raise TicketUnreadable("The ticket has neither a subject nor a text.")
    metadata = {
        "number": identity(ticket.get("ticketNumber")),
        "link": link(ticket.get("webUrl")),
        "email": requester or "",
        "channel": line(ticket.get("channel"), 40),
    }
    return IncomingTicket(
        external_id=number,
        title=title,
        body=body,
        requester_email=requester,
        # Zoho does not tell whether a mail's sender was checked, so only its portal can vouch for anybody.
        requester_verified=_is_portal(ticket),
        customer=line(within(ticket, "contact", "account", "accountName"), 120),
        priority=priorities.get(line(ticket.get("priority"), 40).lower(), "medium"),
        sla_at=moment(ticket.get("dueDate")),
        received_at=moment(ticket.get("createdTime")),
        changed_at=moment(ticket.get("modifiedTime")),
        closed=line(ticket.get("statusType"), 40).lower() == "closed",
        messages=tuple(sorted(_messages(raw.payload), key=_when)),
        metadata={name: value for name, value in metadata.items() if value},
    )


def ticket_id(ticket: Mapping[str, Any]) -> str | None:
    desk_id = identity(ticket.get("id"))
    return desk_id if desk_id.isdigit() else None


def holds_marker(entry: Mapping[str, Any], marker: str) -> bool:
    return any(marker in value for name in ("content", "summary") if isinstance(value := entry.get(name), str))


def _messages(payload: Mapping[str, Any]) -> Iterator[IncomingMessage]:
    for thread in entries(payload.get("threads")):
        draft = line(thread.get("status"), 40).upper() == "DRAFT"
        if identity(thread.get("id")) and not draft and thread.get("isDescriptionThread") is not True:
            yield _thread(thread)
    for comment in entries(payload.get("comments")):
        if identity(comment.get("id")):
            yield _comment(comment)


def _thread(thread: Mapping[str, Any]) -> IncomingMessage:
    body = _words(thread.get("content")) or _words(thread.get("summary"))
    outgoing = line(thread.get("direction"), 10).lower() == "out"
    return IncomingMessage(
        external_id=f"thread-{identity(thread.get('id'))}",
        author=_author(body, by_desk=outgoing),
        body=body,
        at=moment(thread.get("createdTime")),
        author_email=email(within(thread, "author", "email")),
        verified_by="desk" if _is_portal(thread) else "nobody",
        private=line(thread.get("visibility"), 20).lower() == "private",
    )


def _comment(comment: Mapping[str, Any]) -> IncomingMessage:
    body = _words(comment.get("content"))
    return IncomingMessage(
        external_id=f"comment-{identity(comment.get('id'))}",
        author=_author(body, by_desk=line(within(comment, "commenter", "type"), 20).upper() != "END_USER"),
        body=body,
        at=moment(comment.get("commentedTime")),
        author_email=email(within(comment, "commenter", "email")),
        private=comment.get("isPublic") is not True,
    )


def _is_portal(entry: Mapping[str, Any]) -> bool:
    return line(entry.get("channel"), 40).upper() == "WEB"


def _author(body: str, *, by_desk: bool) -> Author:
    """A customer's mail quotes the reply with its marker, and stays the customer's."""
    if not by_desk:
        return "requester"
    return "gaby" if MARKER.search(body) else "agent"


def _words(value: object) -> str:
    return text(html_to_text(value[:_LONGEST_MARKUP])) if isinstance(value, str) else ""


def _when(message: IncomingMessage) -> datetime:
    return message.at or datetime.max.replace(tzinfo=UTC)
