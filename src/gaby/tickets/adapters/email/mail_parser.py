"""A mail as JSON: what Gaby needs of it, bounded, and nothing that breaks what comes after."""

import re
from datetime import datetime
from typing import Any

from gaby.tickets.adapters.email import headers
from gaby.tickets.adapters.email.config import EmailConfig
from gaby.tickets.adapters.email.mime import MimePart, part, read

MOST_BYTES = 8_000_000
"""Of a larger mail, the rest is not fetched."""
_MOST_SUBJECT = 300
_RETURNED_ID = re.compile(rb"<(gaby-[0-9a-z]{32}@[A-Za-z0-9.-]{1,253})>")
_WRONG = (ValueError, LookupError, TypeError, AttributeError, ArithmeticError, RecursionError, AssertionError)
"""What the standard library raises on mails that its authors did not think of."""


def payload(mail: bytes, at: datetime | None, config: EmailConfig, *, whole: bool = True) -> dict[str, Any]:
    """Whatever the mail is; when it is none, it says so."""
    try:
        return _payload(part(mail), mail, at, config, whole=whole)
    except _WRONG as error:
        return {"id": headers.digest_id(mail), "parents": [], "unreadable": type(error).__name__}


def _payload(parsed: MimePart, mail: bytes, at: datetime | None, config: EmailConfig, *, whole: bool) -> dict[str, Any]:
    head = summary(mail, config)
    content = read(parsed)
    body = content.text()
    return {
        **head,
        "at": at.isoformat() if at else None,
        "parents": head["parents"] or _returned(parsed, config),
        "body": body,
        "attachments": content.attachments,
        "shortened": content.shortened or not whole,
        "urgency": _urgency(parsed),
    }


def summary(mail: bytes, config: EmailConfig) -> dict[str, Any]:
    """What the head says."""
    parsed = part(mail)
    head = parsed.head
    sender = headers.address(head, "from")
    message = headers.message_id(head, mail)
    ours = config.from_address.lower()
    if sender == ours and headers.is_own_id(message, config.domain):
        return _own(message, parsed)
    to = (headers.address(head, "reply-to") if config.follow_reply_to else None) or sender
    return {
        "id": message,
        "parents": headers.parents(head),
        "own": False,
        "from": sender,
        "to": to,
        "subject": headers.words(head, "subject", _MOST_SUBJECT),
        "verified": headers.is_verified(head, config.authserv_id),
        # A head that goes on for ever may hide what tells a program from a person.
        "automatic": parsed.head_cut or to == ours or headers.is_automatic(head, to),
    }


def _own(message: str, parsed: MimePart) -> dict[str, Any]:
    """An answer of Gaby's says itself to which ticket it belongs, and to whom that ticket does."""
    customer = headers.address(parsed.head, "to")
    ticket = headers.ids(parsed.head, headers.TICKET)[:1]
    return {"id": message, "parents": ticket, "own": True, "from": customer, "to": customer, "automatic": False}


def _returned(parsed: MimePart, config: EmailConfig) -> list[str]:
    """The answer of Gaby's that a mail server returns, which says so in its body only."""
    if parsed.head.get_content_type() != "multipart/report":
        return []
    returned = (match[1].decode() for match in _RETURNED_ID.finditer(parsed.body))
    return [message for message in returned if headers.is_own_id(message, config.domain)][:1]


def _urgency(parsed: MimePart) -> str:
    said = (headers.raw(parsed.head, "importance") or headers.raw(parsed.head, "x-priority")).lower()
    return "high" if said.startswith(("high", "1", "2")) else "low" if said.startswith(("low", "4", "5")) else "medium"
