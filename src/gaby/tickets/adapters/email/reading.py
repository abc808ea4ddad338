"""A mail as JSON: what Gaby needs of it, bounded, and nothing that breaks what comes after."""

import re
from datetime import datetime
from typing import Any

from gaby.tickets.adapters.email import heads
from gaby.tickets.adapters.email.config import EmailConfig
from gaby.tickets.adapters.email.mime import Part, part, read

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
        return {"id": heads.digest_id(mail), "parents": [], "unreadable": type(error).__name__}


def _payload(parsed: Part, mail: bytes, at: datetime | None, config: EmailConfig, *, whole: bool) -> dict[str, Any]:
    head = summary(mail, config)
    found = read(parsed)
    body = found.text()
    return {
        **head,
        "at": at.isoformat() if at else None,
        "parents": head["parents"] or _returned(parsed, config),
        "body": body,
        "attachments": found.attachments,
        "shortened": found.shortened or not whole,
        "urgency": _urgency(parsed),
    }


def summary(mail: bytes, config: EmailConfig) -> dict[str, Any]:
    """What the head says."""
    parsed = part(mail)
    head = parsed.head
    sender = heads.address(head, "from")
    message = heads.message_id(head, mail)
    ours = config.from_address.lower()
    if sender == ours and heads.is_own_id(message, config.domain):
        return _own(message, parsed)
    to = (heads.address(head, "reply-to") if config.follow_reply_to else None) or sender
    return {
        "id": message,
        "parents": heads.parents(head),
        "own": False,
        "from": sender,
        "to": to,
        "subject": heads.words(head, "subject", _MOST_SUBJECT),
        "verified": heads.is_verified(head, config.authserv_id),
        # A head that goes on for ever may hide what tells a program from a person.
        "automatic": parsed.head_cut or to == ours or heads.is_automatic(head, to),
    }


def _own(message: str, parsed: Part) -> dict[str, Any]:
    """An answer of Gaby's says itself to which ticket it belongs, and to whom that ticket does."""
    customer = heads.address(parsed.head, "to")
    ticket = heads.ids(parsed.head, heads.TICKET)[:1]
    return {"id": message, "parents": ticket, "own": True, "from": customer, "to": customer, "automatic": False}


def _returned(parsed: Part, config: EmailConfig) -> list[str]:
    """The answer of Gaby's that a mail server returns, which says so in its body only."""
    if parsed.head.get_content_type() != "multipart/report":
        return []
    returned = (found[1].decode() for found in _RETURNED_ID.finditer(parsed.body))
    return [message for message in returned if heads.is_own_id(message, config.domain)][:1]


def _urgency(parsed: Part) -> str:
    said = (heads.raw(parsed.head, "importance") or heads.raw(parsed.head, "x-priority")).lower()
    return "high" if said.startswith(("high", "1", "2")) else "low" if said.startswith(("low", "4", "5")) else "medium"
