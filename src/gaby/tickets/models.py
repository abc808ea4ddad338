"""Tables of desks, tickets and what is posted back."""

from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import (
    CheckConstraint,
    ForeignKeyConstraint,
    Index,
    LargeBinary,
    String,
    Text,
    UniqueConstraint,
    false,
    text,
)
from sqlalchemy.orm import Mapped, mapped_column

from gaby.kernel.database import Base, Referenced, WorkspaceOwned
from gaby.kernel.ids import DeskId, TicketId

_DUE = text("due_at IS NOT NULL")
UNDER_WAY = text("status IN ('queued', 'investigating')")
_ALIKE = text("incident_id IS NOT NULL")


class Desk(Base, WorkspaceOwned):
    """A help desk as its operators connected it."""

    __tablename__ = "desks"
    __table_args__ = (
        UniqueConstraint("workspace_id", "name"),
        ForeignKeyConstraint(["workspace_id"], ["workspaces.id"]),
        CheckConstraint("vouched_by IN ('nobody', 'desk', 'mail')", name="vouched_by"),
        Index("ix_desks_due", "due_at", sqlite_where=_DUE, postgresql_where=_DUE),
    )

    name: Mapped[str] = mapped_column(String(40))
    kind: Mapped[str] = mapped_column(String(40))
    config: Mapped[dict[str, Any]]
    created_at: Mapped[datetime]
    secrets: Mapped[str | None] = mapped_column(Text, default=None)
    """Sealed: what only the desk may see."""
    vouched_by: Mapped[str] = mapped_column(String(10), server_default="nobody", default="nobody")
    """Who is believed when it is said that a requester is who they claim to be."""
    any_address: Mapped[bool] = mapped_column(server_default=false(), default=False)
    """Somebody who manages the installation set it up, so its servers may be anywhere."""
    drafts: Mapped[bool] = mapped_column(server_default=false(), default=False)
    """Every reply to a requester waits for a person, who may change it."""
    every_seconds: Mapped[int | None] = mapped_column(default=None)
    due_at: Mapped[datetime | None] = mapped_column(default=None)
    """When it is polled next; never, for a desk that is not polled."""
    lease_token: Mapped[int] = mapped_column(default=0)
    cursor: Mapped[str | None] = mapped_column(Text, default=None)
    polled_at: Mapped[datetime | None] = mapped_column(default=None)
    failures: Mapped[int] = mapped_column(default=0)
    """In a row."""
    last_error: Mapped[str | None] = mapped_column(String(500), default=None)

    @property
    def typed_id(self) -> DeskId:
        return DeskId(self.id)


class Ticket(Base, Referenced):
    """The working copy is redacted. What was really written stands only in the encrypted column."""

    __tablename__ = "tickets"
    __table_args__ = (
        UniqueConstraint("workspace_id", "desk_id", "external_id"),
        ForeignKeyConstraint(["workspace_id", "desk_id"], ["desks.workspace_id", "desks.id"]),
        CheckConstraint("priority IN ('low', 'medium', 'high', 'critical')", name="priority"),
        CheckConstraint(
            "status IN ('new', 'queued', 'investigating', 'auto_resolved', 'needs_tech', 'needs_client', 'needs_l2', "
            "'failed', 'skipped', 'failed_budget')",
            name="status",
        ),
        Index(None, "workspace_id", "received_at"),
        Index("ix_tickets_number", "workspace_id", "number", unique=True),
        Index("ix_tickets_with_status", "workspace_id", "status", "received_at"),
        Index("ix_tickets_under_way", "changed_at", sqlite_where=UNDER_WAY, postgresql_where=UNDER_WAY),
        Index("ix_tickets_of_incident", "workspace_id", "incident_id", sqlite_where=_ALIKE, postgresql_where=_ALIKE),
    )

    PREFIX = "T"

    desk_id: Mapped[UUID]
    external_id: Mapped[str] = mapped_column(String(200))
    title: Mapped[str] = mapped_column(String(500))
    body: Mapped[str] = mapped_column(Text)
    body_encrypted: Mapped[str] = mapped_column(Text)
    """Sealed: the title and the text as they were written."""
    customer: Mapped[str] = mapped_column(String(300))
    requester_email: Mapped[str | None] = mapped_column(String(320))
    requester_verified: Mapped[bool]
    priority: Mapped[str] = mapped_column(String(10))
    status: Mapped[str] = mapped_column(String(15))
    received_at: Mapped[datetime]
    changed_at: Mapped[datetime]
    """When anything about it was stored last."""
    source_metadata: Mapped[dict[str, Any]]
    fingerprint: Mapped[str] = mapped_column(String(64))
    """Of all that the desk last told of it: the same again changes nothing."""
    sla_at: Mapped[datetime | None] = mapped_column(default=None)
    closed_at: Mapped[datetime | None] = mapped_column(default=None)
    """When a person closed it at the desk."""
    incident_id: Mapped[UUID | None] = mapped_column(default=None)
    desk_changed_at: Mapped[datetime | None] = mapped_column(default=None)
    """When it last changed by the desk's own clock, for desks that tell. What is older says nothing new."""
    operator: Mapped[str | None] = mapped_column(String(200), default=None)
    """Who of those who decide approvals wrote its text as their own instruction, signed in."""

    @property
    def typed_id(self) -> TicketId:
        return TicketId(self.id)


class TicketMessage(Base, WorkspaceOwned):
    """What was written on a ticket after its first text."""

    __tablename__ = "ticket_messages"
    __table_args__ = (
        UniqueConstraint("workspace_id", "ticket_id", "external_id"),
        ForeignKeyConstraint(["workspace_id", "ticket_id"], ["tickets.workspace_id", "tickets.id"]),
        CheckConstraint("author IN ('requester', 'agent', 'gaby')", name="author"),
        CheckConstraint("verified_by IN ('nobody', 'desk', 'mail')", name="verified_by"),
    )

    ticket_id: Mapped[UUID]
    external_id: Mapped[str] = mapped_column(String(200))
    author: Mapped[str] = mapped_column(String(10))
    body: Mapped[str] = mapped_column(Text)
    body_encrypted: Mapped[str] = mapped_column(Text)
    private: Mapped[bool]
    at: Mapped[datetime]
    automatic: Mapped[bool] = mapped_column(server_default=false())
    """A machine wrote it, so it sets nobody to work."""
    author_email: Mapped[str | None] = mapped_column(String(320), default=None)
    """Who wrote it, as the message itself says."""
    verified_by: Mapped[str] = mapped_column(String(10), server_default="nobody", default="nobody")
    """Who says that this is true."""

    @property
    def verified(self) -> bool:
        return self.verified_by != "nobody"


class WebhookDelivery(Base):
    """A delivery that was taken in, remembered so that it is not taken in twice."""

    __tablename__ = "webhook_deliveries"
    __table_args__ = (
        ForeignKeyConstraint(["workspace_id", "desk_id"], ["desks.workspace_id", "desks.id"], ondelete="CASCADE"),
        Index(None, "received_at"),
    )

    workspace_id: Mapped[UUID] = mapped_column(primary_key=True)
    desk_id: Mapped[UUID] = mapped_column(primary_key=True)
    delivery_id: Mapped[str] = mapped_column(String(200), primary_key=True)
    received_at: Mapped[datetime]


class DeadLetter(Base, WorkspaceOwned):
    """What a desk sent and Gaby could not take in: tried again, and after some tries left to a person."""

    __tablename__ = "dead_letters"
    __table_args__ = (
        UniqueConstraint("workspace_id", "desk_id", "external_id"),
        ForeignKeyConstraint(["workspace_id", "desk_id"], ["desks.workspace_id", "desks.id"], ondelete="CASCADE"),
        CheckConstraint("state IN ('trying', 'dead', 'mended')", name="state"),
    )

    desk_id: Mapped[UUID]
    external_id: Mapped[str] = mapped_column(String(200))
    state: Mapped[str] = mapped_column(String(10))
    reason: Mapped[str] = mapped_column(String(500))
    tries: Mapped[int]
    payload: Mapped[str] = mapped_column(Text)
    """Sealed, as the desk sent it."""
    first_at: Mapped[datetime]
    last_at: Mapped[datetime]


class Posting(Base, WorkspaceOwned):
    """Something that an investigation sends: once, whatever happens on the way."""

    __tablename__ = "postings"
    __table_args__ = (
        UniqueConstraint("workspace_id", "run_id", "kind"),
        ForeignKeyConstraint(["workspace_id", "ticket_id"], ["tickets.workspace_id", "tickets.id"]),
        CheckConstraint("kind IN ('reply', 'ack', 'status', 'time', 'escalation')", name="kind"),
        CheckConstraint("state IN ('due', 'sending', 'posted', 'unknown', 'refused', 'dropped')", name="state"),
    )

    run_id: Mapped[UUID]
    ticket_id: Mapped[UUID]
    kind: Mapped[str] = mapped_column(String(10))
    state: Mapped[str] = mapped_column(String(10))
    marker: Mapped[str] = mapped_column(String(60))
    content: Mapped[bytes] = mapped_column(LargeBinary)
    """Sealed: what is sent."""
    shown: Mapped[str] = mapped_column(Text)
    """The same without personal data, for the timeline."""
    created_at: Mapped[datetime]
    external_id: Mapped[str | None] = mapped_column(String(300), default=None)
    tries: Mapped[int] = mapped_column(default=0)
    last_error: Mapped[str | None] = mapped_column(String(500), default=None)
    posted_at: Mapped[datetime | None] = mapped_column(default=None)
    again_at: Mapped[datetime | None] = mapped_column(default=None)
    approval_id: Mapped[UUID | None] = mapped_column(default=None)
    """The question to a person who has to see it first."""


class Incident(Base, WorkspaceOwned):
    """Tickets that look alike and came close together: one trouble, looked into once."""

    __tablename__ = "incidents"
    __table_args__ = (
        ForeignKeyConstraint(["workspace_id", "lead_ticket_id"], ["tickets.workspace_id", "tickets.id"]),
        Index(None, "workspace_id", "last_at"),
        Index("ix_incidents_of_lead", "workspace_id", "lead_ticket_id"),
    )

    title: Mapped[str] = mapped_column(String(500))
    lead_ticket_id: Mapped[UUID]
    """The ticket whose investigation speaks for all."""
    opened_at: Mapped[datetime]
    last_at: Mapped[datetime]
