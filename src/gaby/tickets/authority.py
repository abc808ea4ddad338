"""Authority: in whose name an investigation may act. It belongs to messages, not to the ticket that they stand on."""

from collections.abc import Sequence
from typing import NamedTuple

from gaby.kernel.mail_addresses import canonical_address, same_address
from gaby.tickets.intake import OriginalMessage
from gaby.tickets.models import Ticket, TicketMessage


class Authority(NamedTuple):
    """Whom a run acts for, and whether that is certain."""

    requester: str | None
    """The address that the ticket is about, in its canonical spelling. Certain only if `verified`."""
    verified: bool
    because: str
    """Why, in a sentence for people."""


Message = TicketMessage | OriginalMessage


def is_instruction(ticket: Ticket, messages: Sequence[Message]) -> bool:
    """Whether an operator wrote it, and nobody else anything on it: whoever writes on an instruction gives none."""
    return ticket.operator is not None and all(message.author == "gaby" for message in messages)


def authority_of(ticket: Ticket, messages: Sequence[Message]) -> Authority:
    """The requester's authority, if the whole thread is verified to be from the requester.

    Messages by Gaby and by colleagues neither give authority nor take it. Any other message that is not verified, or is
    from another address, takes it away for the whole run: whoever wrote it would otherwise ask for something in the
    requester's name.
    """
    requester = canonical_address(ticket.requester_email) if ticket.requester_email is not None else None
    if requester is None:
        return Authority(None, verified=False, because="The ticket does not say who asks.")
    if not ticket.requester_verified:
        return Authority(requester, verified=False, because=f"Nobody vouches that {requester} wrote the first text.")
    for message in messages:
        if (doubt := _doubt(message, requester)) is not None:
            return Authority(requester, verified=False, because=doubt)
    return Authority(
        requester, verified=True, because=f"Everything that is answered is verified to be from {requester}."
    )


def _doubt(message: Message, requester: str) -> str | None:
    if message.author in ("agent", "gaby"):
        return None
    if message.author_email is None:
        return "A message on the ticket does not say who wrote it."
    if not same_address(message.author_email, requester):
        return f"Somebody else, {message.author_email}, has written on the ticket of {requester}."
    if message.verified_by == "nobody":
        return f"Nobody vouches that {requester} wrote the latest messages."
    return None
