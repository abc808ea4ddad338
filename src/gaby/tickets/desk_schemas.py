"""What the API takes and gives about desks."""

from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Annotated, Any, Self
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field, model_validator

from gaby.kernel.text import CleanText
from gaby.tickets.canonical_ticket import Voucher
from gaby.tickets.desk_queries import USUAL_POLL, NewDesk
from gaby.tickets.models import DeadLetter, Desk

if TYPE_CHECKING:
    from gaby.tickets.receiver import ReceiveCounts

Seconds = Annotated[int, Field(strict=True, ge=5, le=7 * 86400, description="Null: never by itself.")]


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
    def from_domain(cls, received: "ReceiveCounts") -> Self:
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
