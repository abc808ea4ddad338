"""Preparation: cleaning and redacting a ticket, which takes time, before the transaction that stores it is opened."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import Any, cast

from gaby.kernel.text_work import LONG, run_text_work
from gaby.tickets.adapters.adapter import TicketUnreadable
from gaby.tickets.canonical_ticket import IncomingMessage, IncomingTicket
from gaby.tickets.text_cleanup import LONGEST_ID, LONGEST_TITLE, clean_line, cleaned

Redact = Callable[[str], str]


@dataclass(frozen=True)
class PreparedMessage:
    message: IncomingMessage
    redacted: str


@dataclass(frozen=True)
class PreparedTicket:
    """A ticket that only has to be stored."""

    ticket: IncomingTicket
    """Cleaned; as it was written."""
    external_id: str
    fingerprint: str
    title: str
    """Redacted, as the body."""
    body: str
    messages: tuple[PreparedMessage, ...]
    unchanged: bool = False
    """It is the same as what is stored, so nothing was redacted."""

    @property
    def edit(self) -> PreparedMessage:
        """The text as a message, for when it turns out to be another one than before."""
        ticket = self.ticket
        edited = IncomingMessage(
            external_id=f"edit-{sha256(ticket.body.encode()).hexdigest()[:16]}",
            author="requester",
            body=ticket.body,
            author_email=ticket.requester_email,
            verified_by=ticket.verified_by if ticket.requester_verified else "nobody",
        )
        return PreparedMessage(edited, self.body)


async def prepare_ticket(incoming: IncomingTicket, redact: Redact, known: str | None = None) -> PreparedTicket:
    """`known` is the fingerprint of what is stored: the same again need not be redacted."""
    texts = [incoming.title, incoming.body, *(each.body for each in incoming.messages)]
    return await run_text_work(text_size(texts), _prepared, incoming, redact, known)


async def prepare_message(message: IncomingMessage, redact: Redact) -> PreparedMessage:
    return PreparedMessage(message, await run_text_work(len(message.body), redact, message.body))


def believed_ticket(ticket: IncomingTicket, voucher: str) -> IncomingTicket:
    """The ticket with only that verified for which the desk's own voucher stands."""
    return replace(
        ticket,
        requester_verified=ticket.requester_verified and ticket.verified_by == voucher != "nobody",
        messages=tuple(_believed_message(message, voucher) for message in ticket.messages),
    )


def _believed_message(message: IncomingMessage, voucher: str) -> IncomingMessage:
    return message if message.verified_by == voucher else replace(message, verified_by="nobody")


def _prepared(incoming: IncomingTicket, redact: Redact, known: str | None) -> PreparedTicket:
    ticket = cleaned(incoming)
    external_id = clean_line(ticket.external_id, LONGEST_ID)
    if not external_id:
        raise TicketUnreadable("It has no id by which the desk knows it.")
    fingerprint = _fingerprint(ticket)
    if fingerprint == known:
        return PreparedTicket(ticket, external_id, fingerprint, "", "", (), unchanged=True)
    return PreparedTicket(
        ticket=ticket,
        external_id=external_id,
        fingerprint=fingerprint,
        title=redact(ticket.title)[:LONGEST_TITLE],
        body=redact(ticket.body),
        messages=tuple(PreparedMessage(each, redact(each.body)) for each in ticket.messages),
    )


def _fingerprint(ticket: IncomingTicket) -> str:
    messages = sorted((each.external_id, each.body, each.author) for each in ticket.messages)
    fields = [ticket.title, ticket.body, ticket.priority, ticket.closed, str(ticket.sla_at), messages]
    return sha256(json.dumps(fields).encode()).hexdigest()


def text_size(value: object) -> int:
    """The characters in it, counted until they are many. No stack: what a desk sends may be nested as it likes."""
    size, waiting = 0, [value]
    while waiting and size <= LONG:
        value = waiting.pop()
        if isinstance(value, str | bytes):
            size += len(value)
        elif isinstance(value, Mapping):
            fields = cast("Mapping[Any, Any]", value)
            size += len(fields)
            waiting.extend(fields.values())
        elif isinstance(value, list | tuple):
            parts = cast("Sequence[Any]", value)
            size += len(parts)
            waiting.extend(parts)
    return size
