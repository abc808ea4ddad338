"""The canonical ticket: whatever a help desk calls it, Gaby sees this."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal, get_args

from gaby.kernel.outcomes import Verdict

Priority = Literal["low", "medium", "high", "critical"]
PRIORITIES: tuple[Priority, ...] = get_args(Priority)
"""From the least to the most urgent."""


def rank_of(priority: str) -> int:
    """0 for the most urgent."""
    return len(PRIORITIES) - 1 - list[str](PRIORITIES).index(priority)


TicketStatus = Literal["new", "queued", "investigating", Verdict]

Voucher = Literal["nobody", "desk", "mail"]
"""Who says that an author is who they claim to be: nobody, the desk's own sign-in, or the authentication of mail."""

Author = Literal["requester", "agent", "gaby"]
"""Who wrote a message: the person with the problem, a colleague at the desk, or Gaby."""


@dataclass(frozen=True)
class IncomingMessage:
    """A message on a ticket after the first, as the desk tells it."""

    external_id: str
    """The desk's own id of the message; the same message always has the same."""
    author: Author
    body: str
    at: datetime | None = None
    author_email: str | None = None
    private: bool = False
    """Only colleagues see it."""
    verified_by: Voucher = "nobody"
    """Who says that `author_email` wrote it. It counts only if the desk is set to be believed in this."""


@dataclass(frozen=True)
class IncomingTicket:
    """A ticket as an adapter understood it: plain text, nothing redacted or stored yet."""

    external_id: str
    title: str
    body: str
    requester_email: str | None = None
    requester_verified: bool = False
    """Whether somebody vouches that the requester wrote the first text: a sign-in at the desk, or mail that passed
    DMARC. It counts only if the desk is set to be believed in this."""
    verified_by: Voucher = "desk"
    """Who that is, if so."""
    customer: str = ""
    priority: Priority = "medium"
    sla_at: datetime | None = None
    received_at: datetime | None = None
    changed_at: datetime | None = None
    """By the desk's own clock: of two versions, the older one says nothing new."""
    closed: bool = False
    """A person has closed it at the desk, so Gaby lets it be."""
    messages: tuple[IncomingMessage, ...] = ()
    """What was written after the first message, as far as the desk told with it."""
    metadata: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """Small JSON that the adapter needs again when it writes back: a queue, a number people know, a link."""
