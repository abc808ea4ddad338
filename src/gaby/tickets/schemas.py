"""What the API takes and gives about tickets and desks."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Annotated, Any, Literal, Self
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field, model_validator

from gaby.kernel.text import CleanText
from gaby.tickets.canonical_ticket import IncomingTicket, Priority, TicketStatus, Voucher
from gaby.tickets.desks import USUAL_POLL, NewDesk
from gaby.tickets.intake import OriginalTicket
from gaby.tickets.models import DeadLetter, Desk, Ticket, TicketMessage
from gaby.tickets.receiver import ReceiveCounts

Body = Annotated[str, CleanText(max_length=1_000_000)]
Seconds = Annotated[int, Field(strict=True, ge=5, le=7 * 86400, description="Null: never by itself.")]


class TicketIn(BaseModel):
    model_config = ConfigDict(extra="forbid")

    title: Annotated[str, CleanText(max_length=500, one_line=True)] = ""
    body: Body = ""
    external_id: Annotated[
        str | None,
        CleanText(max_length=200, min_length=1, one_line=True),
        Field(description="By which you know the ticket. The same again is the same ticket. Left out: a new one."),
    ] = None
    requester_email: Annotated[str | None, Field(max_length=320)] = None
    requester_verified: Annotated[
        bool, Field(strict=True, description="Whether you vouch that the requester is who they say.")
    ] = False
    customer: Annotated[str, CleanText(max_length=300, one_line=True)] = ""
    priority: Priority = "medium"

    @model_validator(mode="after")
    def _says_something(self) -> Self:
        if not self.title.strip() and not self.body.strip():
            raise ValueError("a ticket needs a title or a body")
        return self

    def incoming(self, otherwise: str) -> IncomingTicket:
        return IncomingTicket(
            external_id=self.external_id or otherwise,
            title=self.title,
            body=self.body,
            requester_email=self.requester_email,
            requester_verified=self.requester_verified,
            customer=self.customer,
            priority=self.priority,
        )


class MessageIn(BaseModel):
    model_config = ConfigDict(extra="forbid")

    body: Annotated[str, CleanText(max_length=200_000, min_length=1)]
    author: Literal["requester", "agent"] = "requester"
    requester_verified: Annotated[
        bool, Field(strict=True, description="Whether you vouch that the ticket's requester wrote it.")
    ] = False


class TicketOut(BaseModel):
    """Texts are without personal data."""

    id: UUID
    desk_id: UUID
    external_id: str
    title: str
    customer: str
    requester_email: str | None
    requester_verified: bool
    priority: str
    status: TicketStatus
    received_at: datetime
    sla_at: datetime | None
    closed_at: datetime | None
    incident_id: UUID | None

    @classmethod
    def from_domain(cls, row: Ticket) -> Self:
        return cls.model_validate(row, from_attributes=True)


class MessageOut(BaseModel):
    author: str
    author_email: str | None
    verified: Annotated[bool, Field(description="Whether somebody vouches that this address wrote it.")]
    verified_by: Voucher
    body: str
    private: bool
    at: datetime

    @classmethod
    def from_domain(cls, row: TicketMessage) -> Self:
        return cls.model_validate(row, from_attributes=True)


class TicketDetailOut(TicketOut):
    body: str
    messages: list[MessageOut] = []

    @classmethod
    def with_messages(cls, row: Ticket, messages: Sequence[TicketMessage]) -> Self:
        detail = cls.from_domain(row)
        return detail.model_copy(update={"messages": [MessageOut.from_domain(each) for each in messages]})


class OriginalOut(BaseModel):
    """What was really written."""

    title: str
    body: str
    messages: list[MessageOut]

    @classmethod
    def from_domain(cls, written: OriginalTicket) -> Self:
        messages = [MessageOut.model_validate(each, from_attributes=True) for each in written.messages]
        return cls(title=written.title, body=written.body, messages=messages)


class DeskIn(BaseModel):
    model_config = ConfigDict(extra="forbid")

    name: Annotated[str, CleanText(max_length=39, one_line=True)]
    kind: Annotated[str, CleanText(max_length=40, one_line=True)]
    settings: Annotated[dict[Annotated[str, CleanText(max_length=60, one_line=True)], Any], Field(max_length=60)] = (
        Field(default_factory=dict[str, Any])
    )
    every_seconds: Seconds | None = int(USUAL_POLL.total_seconds())
    vouched_by: Annotated[
        Voucher | None,
        Field(
            description="Who is believed about who a requester is: the desk's own sign-in, the authentication of mail, "
            "or nobody. Null: what is usual for the kind."
        ),
    ] = None

    def new(self) -> NewDesk:
        every = None if self.every_seconds is None else timedelta(seconds=self.every_seconds)
        return NewDesk(self.name, self.kind, self.settings, every, self.vouched_by)


class DeskChangeIn(BaseModel):
    """What is left out stays as it is."""

    model_config = ConfigDict(extra="forbid")

    every_seconds: Seconds | None = None
    drafts: Annotated[
        bool | None, Field(strict=True, description="Whether every reply to a requester waits for a person.")
    ] = None

    @model_validator(mode="after")
    def _changes_something(self) -> Self:
        if not self.model_fields_set or ("drafts" in self.model_fields_set and self.drafts is None):
            raise ValueError("say every_seconds (null: no polling), drafts, or both")
        return self


class DeskOut(BaseModel):
    id: UUID
    name: str
    kind: str
    config: dict[str, Any]
    vouched_by: Voucher
    drafts: Annotated[bool, Field(description="Whether every reply to a requester waits for a person.")]
    any_address: Annotated[
        bool, Field(description="Set up by somebody who manages the installation, so it may be inside the network.")
    ]
    every_seconds: int | None
    polled_at: datetime | None
    failures: int
    last_error: str | None

    @classmethod
    def from_domain(cls, row: Desk) -> Self:
        return cls.model_validate(row, from_attributes=True)


class ReceivedOut(BaseModel):
    new: int
    messages: int
    unreadable: int

    @classmethod
    def from_domain(cls, received: ReceiveCounts) -> Self:
        return cls(new=received.new, messages=received.messages, unreadable=received.unreadable)


class DeadLetterOut(BaseModel):
    id: UUID
    external_id: str
    state: str
    reason: str
    tries: int
    last_at: datetime

    @classmethod
    def from_domain(cls, row: DeadLetter) -> Self:
        return cls.model_validate(row, from_attributes=True)
