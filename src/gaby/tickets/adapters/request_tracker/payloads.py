"""What Request Tracker sends, as far as Gaby reads it. Numbers come as texts, and times that are not set as 1970."""

from datetime import UTC, datetime
from typing import Annotated, Any, TypeVar

from pydantic import AwareDatetime, BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from gaby.tickets.adapters.adapter import DeskUnavailable

_UNSET_BEFORE = datetime(1970, 1, 2, tzinfo=UTC)
_FIRST, _LATER = "Create", ("Correspond", "Comment")
ShapeT = TypeVar("ShapeT", bound="TrackerModel")


def _text(value: Any) -> Any:
    return "" if value is None else value


Text = Annotated[str, BeforeValidator(_text)]


class TrackerModel(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")


class TrackerUser(TrackerModel):
    id: Text = ""
    email: Text = Field(default="", alias="EmailAddress")
    organization: Text = Field(default="", alias="Organization")

    @property
    def address(self) -> str | None:
        """Who writes in by mail is often known by the address only."""
        return next((known.lower() for known in (self.email, self.id) if "@" in known), None)


class TrackerQueue(TrackerModel):
    name: Text = Field(default="", alias="Name")


class ListedTicket(TrackerModel):
    """A ticket in a list, with nothing but when it changed."""

    id: int
    updated: AwareDatetime = Field(alias="LastUpdated")

    @property
    def place(self) -> tuple[datetime, int]:
        return self.updated, self.id


class TrackerTicket(ListedTicket):
    subject: Text = Field(default="", alias="Subject")
    status: Text = Field(default="", alias="Status")
    priority: int = Field(default=0, alias="Priority")
    created: AwareDatetime | None = Field(default=None, alias="Created")
    due: AwareDatetime | None = Field(default=None, alias="Due")
    queue: TrackerQueue = Field(default=TrackerQueue(), alias="Queue")
    requestors: tuple[TrackerUser, ...] = Field(default=(), alias="Requestor")

    @property
    def due_at(self) -> datetime | None:
        return self.due if self.due is not None and self.due > _UNSET_BEFORE else None


TICKET_FIELDS = {
    "fields": "LastUpdated,Subject,Status,Priority,Created,Due,Queue,Requestor",
    "fields[Queue]": "Name",
    "fields[Requestor]": "EmailAddress,Organization",
}


class TrackerTransaction(TrackerModel):
    id: int
    kind: Text = Field(default="", alias="Type")
    created: AwareDatetime | None = Field(default=None, alias="Created")
    creator: TrackerUser = Field(default=TrackerUser(), alias="Creator")

    @property
    def is_first(self) -> bool:
        return self.kind == _FIRST

    @property
    def is_message(self) -> bool:
        return self.kind in _LATER

    @property
    def is_private(self) -> bool:
        return self.kind == "Comment"


TRANSACTION_FIELDS = {"fields": "Type,Created,Creator", "fields[Creator]": "EmailAddress"}


class TrackerAttachment(TrackerModel):
    id: int
    transaction: int = Field(alias="TransactionId")
    kind: Text = Field(default="", alias="ContentType")
    name: Text = Field(default="", alias="Filename")
    content: Text = Field(default="", alias="Content")


ATTACHMENT_FIELDS = {"fields": "TransactionId,ContentType,Filename,Content"}


class _Collection(TrackerModel):
    items: list[dict[str, Any]]


def shaped(kind: type[ShapeT], body: Any) -> ShapeT:
    try:
        return kind.model_validate(body)
    except ValidationError:
        raise DeskUnavailable("The help desk answers with something that is not of Request Tracker's form.") from None


def items(kind: type[ShapeT], body: Any) -> list[ShapeT]:
    return [shaped(kind, item) for item in shaped(_Collection, body).items]
