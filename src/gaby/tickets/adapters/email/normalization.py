"""A mail as a ticket, or as a message on one."""

from typing import Any

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, ValidationError

from gaby.kernel.mail_addresses import same_address
from gaby.tickets.adapters.adapter import RawTicket, TicketUnreadable
from gaby.tickets.adapters.email.config import EmailConfig
from gaby.tickets.canonical_ticket import Author, IncomingMessage, IncomingTicket, Priority
from gaby.tickets.text_cleanup import clean_line


class _ThreadRoot(BaseModel):
    model_config = ConfigDict(frozen=True, populate_by_name=True)

    id: str
    sender: str | None = Field(default=None, alias="from")
    to: str | None = None
    verified: bool = False
    automatic: bool = False


class _MailPayload(BaseModel):
    model_config = ConfigDict(frozen=True, populate_by_name=True)

    id: str
    root: _ThreadRoot
    parents: list[str]
    own: bool
    sender: str | None = Field(alias="from")
    to: str | None
    subject: str
    verified: bool
    automatic: bool
    at: AwareDatetime | None
    body: str
    attachments: list[dict[str, str | int]]
    shortened: bool
    urgency: Priority


def incoming(raw: RawTicket, config: EmailConfig) -> IncomingTicket:
    if "unreadable" in raw.payload:
        raise TicketUnreadable(f"This mail cannot be read ({clean_line(str(raw.payload['unreadable']), 60)}).")
    try:
        mail = _MailPayload.model_validate(raw.payload)
    except ValidationError:
        raise TicketUnreadable from None
    first = mail.root.id == mail.id
    # Answers go to whoever began, not to whoever joined: a stranger who writes into the thread learns nothing.
    known = mail.root.sender is not None
    return IncomingTicket(
        external_id=mail.root.id,
        title=mail.subject or clean_line(mail.body[:400], 80) or "(no subject)",
        body=mail.body,
        requester_email=mail.root.sender if known else mail.sender,
        requester_verified=_wrote_first_text(mail, known=known),
        verified_by="mail",
        priority=mail.urgency,
        received_at=mail.at,
        messages=() if first else (_message(mail, config),),
        metadata=_metadata(mail, known=known),
    )


def _message(mail: _MailPayload, config: EmailConfig) -> IncomingMessage:
    return IncomingMessage(
        external_id=mail.id,
        author=_author(mail, config),
        body=mail.body,
        at=mail.at,
        author_email=mail.sender,
        verified_by="mail" if mail.verified else "nobody",
    )


def _wrote_first_text(mail: _MailPayload, *, known: bool) -> bool:
    """Whether the requester is verified to have written this mail. It becomes the first text of a ticket whose
    beginning Gaby never saw, and then whoever began vouches for nothing that somebody else wrote."""
    return mail.verified and (not known or (mail.root.verified and same_address(mail.sender, mail.root.sender)))


def _author(mail: _MailPayload, config: EmailConfig) -> Author:
    if mail.own:
        return "gaby"
    sender = mail.sender or ""
    ours = (config.from_address.lower(), *config.colleagues)
    # Who is not verified may be anybody, and so is not a colleague.
    return "agent" if mail.verified and (sender in ours or f"@{sender.partition('@')[2]}" in ours) else "requester"


def _metadata(mail: _MailPayload, *, known: bool) -> dict[str, Any]:
    to, automatic = (mail.root.to, mail.root.automatic) if known else (mail.to, mail.automatic)
    return {
        # Nobody, when a program began: programs are not answered.
        "to": None if automatic else to,
        "subject": mail.subject,
        "thread": [*mail.parents, mail.id],
        "automatic": mail.automatic,
        "attachments": mail.attachments,
        "shortened": mail.shortened,
    }
