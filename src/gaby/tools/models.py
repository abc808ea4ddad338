"""Tables of connectors, kill switches and approvals."""

from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import CheckConstraint, ForeignKeyConstraint, Index, String, Text, UniqueConstraint, text
from sqlalchemy.orm import Mapped, mapped_column

from gaby.kernel.database import Base, JsonColumn, Referenced, WorkspaceOwned
from gaby.kernel.ids import ApprovalId


class ConnectorRecord(Base, WorkspaceOwned):
    """An MCP server as its operators set it up: how it starts, what it may do, and which tools they accepted."""

    __tablename__ = "connectors"
    __table_args__ = (
        UniqueConstraint("workspace_id", "name"),
        ForeignKeyConstraint(["workspace_id"], ["workspaces.id"]),
        CheckConstraint("autonomy IN ('off', 'investigate', 'propose', 'act')", name="autonomy"),
    )

    name: Mapped[str] = mapped_column(String(40))
    kind: Mapped[str] = mapped_column(String(40))
    launch: Mapped[dict[str, Any]]
    autonomy: Mapped[str] = mapped_column(String(20))
    scopes: Mapped[dict[str, Any]]
    reads_per_minute: Mapped[int]
    writes_per_minute: Mapped[int]
    created_at: Mapped[datetime]
    secrets: Mapped[str | None] = mapped_column(Text, default=None)
    """Sealed: what goes into the environment or the headers."""
    manifest: Mapped[dict[str, Any] | None] = mapped_column(default=None)
    """Written by an operator for a server that has none of its own."""
    accepted: Mapped[dict[str, Any] | None] = mapped_column(default=None)
    """The definitions of the tools as a person accepted them."""
    accepted_at: Mapped[datetime | None] = mapped_column(default=None)
    accepted_by: Mapped[str | None] = mapped_column(String(200), default=None)
    seen: Mapped[dict[str, Any] | None] = mapped_column(default=None)
    """Definitions that differ from the accepted ones. While there are any, the connector is in quarantine."""
    seen_at: Mapped[datetime | None] = mapped_column(default=None)
    auth_expired_at: Mapped[datetime | None] = mapped_column(default=None)


class KillSwitch(Base, WorkspaceOwned):
    """A stop, pulled by somebody and not yet lifted. The one for everything belongs to the installation's workspace."""

    __tablename__ = "kill_switches"
    __table_args__ = (
        ForeignKeyConstraint(
            ["workspace_id", "connector_id"], ["connectors.workspace_id", "connectors.id"], ondelete="CASCADE"
        ),
    )

    reason: Mapped[str] = mapped_column(String(500))
    pulled_by: Mapped[str] = mapped_column(String(200))
    pulled_at: Mapped[datetime]
    connector_id: Mapped[UUID | None] = mapped_column(default=None)


class PolicyEpoch(Base):
    """Counts every change to what may be done in a workspace. An intent is written only under the count it knew."""

    __tablename__ = "policy_epochs"

    workspace_id: Mapped[UUID] = mapped_column(primary_key=True)
    epoch: Mapped[int]


MAY_EXPIRE = text("state IN ('waiting', 'approved')")
"""For queries too: an index of some rows is used only where the same condition is spelled out."""


class Approval(Base, Referenced):
    """A question to a person, and their answer. The arguments are sealed; only a redacted copy stands in clear."""

    __tablename__ = "approvals"
    __table_args__ = (
        ForeignKeyConstraint(["workspace_id"], ["workspaces.id"]),
        CheckConstraint(
            "state IN ('waiting', 'approved', 'refused', 'escalated', 'expired', 'used')",
            name="state",
        ),
        Index("ix_approvals_with_state", "workspace_id", "state", "id"),
        Index("ix_approvals_of_run", "workspace_id", "run_id", "id"),
        Index("ix_approvals_number", "workspace_id", "number", unique=True),
        Index("ix_approvals_expiring", "expires_at", sqlite_where=MAY_EXPIRE, postgresql_where=MAY_EXPIRE),
    )

    PREFIX = "A"

    run_id: Mapped[UUID]
    connector: Mapped[str] = mapped_column(String(40))
    tool: Mapped[str] = mapped_column(String(128))
    state: Mapped[str] = mapped_column(String(20))
    sealed_call: Mapped[str] = mapped_column(Text)
    shown: Mapped[dict[str, Any]]
    """The arguments, redacted."""
    concerns: Mapped[list[dict[str, Any]]] = mapped_column(JsonColumn)
    dangerous: Mapped[bool]
    fingerprint: Mapped[str] = mapped_column(String(64))
    binding: Mapped[str] = mapped_column(String(64))
    requested_by: Mapped[str] = mapped_column(String(200))
    requested_at: Mapped[datetime]
    expires_at: Mapped[datetime]
    reason: Mapped[str] = mapped_column(String(2000), default="")
    preview: Mapped[dict[str, Any] | None] = mapped_column(default=None)
    preview_digest: Mapped[str | None] = mapped_column(String(64), default=None)
    decided_at: Mapped[datetime | None] = mapped_column(default=None)
    decided_by: Mapped[str | None] = mapped_column(String(200), default=None)
    answer: Mapped[str | None] = mapped_column(String(2000), default=None)
    """Why it was refused or escalated, in the person's words."""
    modified: Mapped[bool] = mapped_column(default=False)
    used_at: Mapped[datetime | None] = mapped_column(default=None)
    call_id: Mapped[UUID | None] = mapped_column(default=None)
    """The same call asks only once, also when it is asked again after a crash."""
    step_id: Mapped[UUID | None] = mapped_column(default=None)
    """Calls of one step are one question."""
    ticket: Mapped[str] = mapped_column(String(300), default="")
    requester: Mapped[str] = mapped_column(String(320), default="")
    requester_verified: Mapped[bool] = mapped_column(default=False)
    effect: Mapped[str] = mapped_column(String(500), default="")
    """What will happen, in one sentence."""
    owners: Mapped[list[dict[str, Any]]] = mapped_column(JsonColumn, default_factory=list[dict[str, Any]])
    """For each value that chooses something: who stands behind it."""

    @property
    def typed_id(self) -> ApprovalId:
        return ApprovalId(self.id)


class SessionNote(Base, WorkspaceOwned):
    """An operator agreed to this kind of action and need not be asked again in the same sitting."""

    __tablename__ = "session_notes"
    __table_args__ = (Index(None, "workspace_id", "tool"),)

    person_id: Mapped[UUID]
    tool: Mapped[str] = mapped_column(String(200))
    fingerprint: Mapped[str] = mapped_column(String(64))
    expires_at: Mapped[datetime]
