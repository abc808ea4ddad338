"""Tables of investigations: where each stands, every transition it made, and the timeline that people read."""

from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from sqlalchemy import CheckConstraint, ColumnElement, ForeignKeyConstraint, Index, LargeBinary, String, Text, text
from sqlalchemy.orm import Mapped, mapped_column

from gaby.kernel.database import Base, Referenced
from gaby.kernel.ids import RunId

_OPEN = text("wake_at IS NOT NULL")
_HELD = text("lease_until IS NOT NULL")
_UNWEIGHED = text("weigh_at IS NOT NULL")
_LONG_AGO = datetime(1970, 1, 1, tzinfo=UTC)


class Investigation(Base, Referenced):
    """One row is also one place in the queue: whoever holds its lease carries it on.

    That none is forgotten is a rule of the table: what has not ended has a time at which it is taken up again.
    """

    __tablename__ = "investigations"
    __table_args__ = (
        ForeignKeyConstraint(["workspace_id", "ticket_id"], ["tickets.workspace_id", "tickets.id"]),
        CheckConstraint(
            "state IN ('created', 'planning', 'retrieving', 'safety_check', 'waiting_approval', 'acting', 'observing', "
            "'verdict', 'writing_back', 'done', 'halted')",
            name="state",
        ),
        CheckConstraint("(state IN ('done', 'halted')) = (wake_at IS NULL)", name="none_forgotten"),
        Index("ix_investigations_of_ticket", "workspace_id", "ticket_id", "created_at"),
        Index(
            "ix_investigations_queue",
            "workspace_id",
            "rank",
            "created_at",
            sqlite_where=_OPEN,
            postgresql_where=_OPEN,
        ),
        Index("ix_investigations_wake", "wake_at", sqlite_where=_OPEN, postgresql_where=_OPEN),
        # Without statistics SQLite prefers the index of which it can use the most columns, and takes one of all runs
        # for as good as one of those that are open.
        Index("ix_investigations_open", "workspace_id", "wake_at", sqlite_where=_OPEN, postgresql_where=_OPEN),
        Index("ix_investigations_held", "workspace_id", "lease_until", sqlite_where=_HELD, postgresql_where=_HELD),
        Index("ix_investigations_weigh", "weigh_at", sqlite_where=_UNWEIGHED, postgresql_where=_UNWEIGHED),
        CheckConstraint("rating BETWEEN 1 AND 5", name="rating"),
        Index(None, "workspace_id", "created_at"),
        Index("ix_investigations_number", "workspace_id", "number", unique=True),
    )

    PREFIX = "R"

    ticket_id: Mapped[UUID]
    state: Mapped[str] = mapped_column(String(20))
    rank: Mapped[int]
    """0 for critical tickets, 3 for low ones."""
    created_at: Mapped[datetime]
    wake_at: Mapped[datetime | None]
    lease_until: Mapped[datetime | None] = mapped_column(default=None)
    """Changes as long as somebody holds it. When it was last renewed is for people; nobody compares it with a clock."""
    lease_token: Mapped[int] = mapped_column(default=0)
    """Counts the claims. A worker that lost its lease holds an old number and can write nothing any more."""
    lease_owner: Mapped[str | None] = mapped_column(String(100), default=None)
    edges: Mapped[int] = mapped_column(default=0)
    claims_without_progress: Mapped[int] = mapped_column(default=0)
    """How often in a row somebody took it up and died before the next edge."""
    failures: Mapped[int] = mapped_column(default=0, server_default="0")
    """How often in a row it failed by itself: with an error, or by ending a process in which nothing else ran."""
    started_at: Mapped[datetime | None] = mapped_column(default=None)
    finished_at: Mapped[datetime | None] = mapped_column(default=None)
    verdict: Mapped[str | None] = mapped_column(String(20), default=None)
    reason: Mapped[str | None] = mapped_column(String(500), default=None)
    summary: Mapped[str | None] = mapped_column(Text, default=None)
    """Without personal data."""
    halt: Mapped[str | None] = mapped_column(String(300), default=None)
    """Who wants it to stop, and why. Heeded at the next edge."""
    weigh_at: Mapped[datetime | None] = mapped_column(default=None)
    """When it is looked at whether there is something to learn from it; None when that is settled, or nothing is."""
    rating: Mapped[int | None] = mapped_column(default=None)
    """What somebody thought of it, from 1 to 5."""

    @property
    def typed_id(self) -> RunId:
        return RunId(self.id)


def has_not_ended() -> ColumnElement[bool]:
    """`wake_at IS NOT NULL`, said as a range: for a range SQLite looks into an index, for that it does not."""
    return Investigation.wake_at > _LONG_AGO


class InvestigationTransition(Base):
    """One transition: the state that it led to, and what it added to the working memory. Never changed."""

    __tablename__ = "investigation_edges"
    __table_args__ = (
        ForeignKeyConstraint(["workspace_id", "run_id"], ["investigations.workspace_id", "investigations.id"]),
        {"info": {"append_only": True}, "sqlite_with_rowid": False},
    )

    workspace_id: Mapped[UUID] = mapped_column(primary_key=True)
    run_id: Mapped[UUID] = mapped_column(primary_key=True)
    n: Mapped[int] = mapped_column(primary_key=True)
    state: Mapped[str] = mapped_column(String(20))
    delta: Mapped[bytes] = mapped_column(LargeBinary)
    """Sealed and compressed."""
    at: Mapped[datetime]


class InvestigationStep(Base):
    """A line of the timeline, without personal data. Never changed."""

    __tablename__ = "investigation_steps"
    __table_args__ = (
        ForeignKeyConstraint(["workspace_id", "run_id"], ["investigations.workspace_id", "investigations.id"]),
        Index(None, "workspace_id", "at"),
        {"info": {"append_only": True}, "sqlite_with_rowid": False},
    )

    workspace_id: Mapped[UUID] = mapped_column(primary_key=True)
    run_id: Mapped[UUID] = mapped_column(primary_key=True)
    n: Mapped[int] = mapped_column(primary_key=True)
    """Of the edge that it belongs to."""
    place: Mapped[int] = mapped_column(primary_key=True)
    """Among the lines of its edge."""
    system: Mapped[str] = mapped_column(String(80))
    action: Mapped[str] = mapped_column(String(120))
    detail: Mapped[str] = mapped_column(Text)
    kind: Mapped[str] = mapped_column(String(20))
    at: Mapped[datetime]


class AgentConfig(Base):
    """How Gaby investigates in a workspace, where that differs from the installation's settings."""

    __tablename__ = "agent_configs"
    __table_args__ = (ForeignKeyConstraint(["workspace_id"], ["workspaces.id"]),)

    workspace_id: Mapped[UUID] = mapped_column(primary_key=True)
    config: Mapped[dict[str, Any]]
    changed_at: Mapped[datetime]
    secrets: Mapped[str | None] = mapped_column(Text, default=None)
    """Sealed: where escalations go."""
