"""Text from desks, made fit to be stored: whatever somebody sends, a ticket comes of it."""

import re
import unicodedata

from gaby.kernel.mail_addresses import canonical_address
from gaby.tickets.canonical_ticket import IncomingMessage, IncomingTicket

LONGEST_TITLE = 500
LONGEST_BODY = 200_000
LONGEST_ID = 200
MOST_MESSAGES = 500
_CUT = "\n\n[The text is longer; the rest was left out.]"
_SURROGATES = re.compile("[\ud800-\udfff]")
# Invisible, or they reorder what a reader sees. Joiners stay: scripts and emoji need them.
_CONTROLS = [*range(0x09), 0x0B, 0x0C, *range(0x0E, 0x20), 0x7F, *range(0x80, 0xA0)]
_DIRECTIONS = [0x061C, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A)]
_INVISIBLE = [0x180E, 0x200B, 0x2060, *range(0x206A, 0x2070), 0xFEFF, *range(0xE0000, 0xE0080)]
_HIDDEN = dict.fromkeys([*_CONTROLS, *_DIRECTIONS, *_INVISIBLE])
_COMPOSED_OF = 4


def clean(text: str, longest: int) -> str:
    """Without what cannot be stored or seen, and not longer than that."""
    text = _SURROGATES.sub("\ufffd", text[: longest * _COMPOSED_OF + 1])
    text = text.replace("\r\n", "\n").replace("\r", "\n").replace("\u2028", "\n").replace("\u2029", "\n")
    text = unicodedata.normalize("NFC", text.translate(_HIDDEN)).strip()
    return text if len(text) <= longest else text[: longest - len(_CUT)] + _CUT


def clean_line(text: str, longest: int) -> str:
    line = " ".join(clean(text, longest * _COMPOSED_OF).split())
    return line if len(line) <= longest else line[: longest - 1] + "…"


def clean_email(address: str | None) -> str | None:
    """In the one spelling that addresses are compared in. Nothing is evened out before: that would make one address of
    two that only look alike."""
    return canonical_address(address.strip()) if address is not None else None


def cleaned(ticket: IncomingTicket) -> IncomingTicket:
    body = clean(ticket.body, LONGEST_BODY)
    return IncomingTicket(
        external_id=ticket.external_id,
        title=clean_line(ticket.title, LONGEST_TITLE) or clean_line(body, 80) or "(no subject)",
        body=body,
        requester_email=clean_email(ticket.requester_email),
        requester_verified=ticket.requester_verified and clean_email(ticket.requester_email) is not None,
        verified_by=ticket.verified_by,
        customer=clean_line(ticket.customer, 300),
        priority=ticket.priority,
        sla_at=ticket.sla_at,
        received_at=ticket.received_at,
        changed_at=ticket.changed_at,
        closed=ticket.closed,
        messages=tuple(_message(each) for each in ticket.messages[-MOST_MESSAGES:]),
        metadata=ticket.metadata,
    )


def _message(message: IncomingMessage) -> IncomingMessage:
    return IncomingMessage(
        external_id=clean_line(message.external_id, LONGEST_ID),
        author=message.author,
        body=clean(message.body, LONGEST_BODY),
        at=message.at,
        author_email=clean_email(message.author_email),
        private=message.private,
        verified_by=message.verified_by,
    )
