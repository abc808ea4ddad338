"""Tools: connectors, kill switches, approvals."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import JSONB

revision = "0002"
down_revision = "0001"

JSON = sa.JSON().with_variant(JSONB(), "postgresql")


def upgrade() -> None:
    op.create_table(
        "policy_epochs",
        sa.Column("workspace_id", sa.Uuid(), nullable=False),
        sa.Column("epoch", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("workspace_id", name=op.f("pk_policy_epochs")),
    )
    op.create_table(
        "session_notes",
        sa.Column("person_id", sa.Uuid(), nullable=False),
        sa.Column("tool", sa.String(length=200), nullable=False),
        sa.Column("fingerprint", sa.String(length=64), nullable=False),
        sa.Column("expires_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("workspace_id", sa.Uuid(), nullable=False),
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.PrimaryKeyConstraint("workspace_id", "id", name=op.f("pk_session_notes")),
    )
    op.create_index(
        op.f("ix_session_notes_workspace_id_session_notes_tool"),
        "session_notes",
        ["workspace_id", "tool"],
        unique=False,
    )
    op.create_table(
        "approvals",
        sa.Column("run_id", sa.Uuid(), nullable=False),
        sa.Column("connector", sa.String(length=40), nullable=False),
        sa.Column("tool", sa.String(length=128), nullable=False),
        sa.Column("state", sa.String(length=20), nullable=False),
        sa.Column("sealed_call", sa.Text(), nullable=False),
        sa.Column("shown", JSON, nullable=False),
        sa.Column("concerns", JSON, nullable=False),
        sa.Column("dangerous", sa.Boolean(), nullable=False),
        sa.Column("fingerprint", sa.String(length=64), nullable=False),
        sa.Column("binding", sa.String(length=64), nullable=False),
        sa.Column("preview", JSON, nullable=True),
        sa.Column("preview_digest", sa.String(length=64), nullable=True),
        sa.Column("reason", sa.String(length=2000), nullable=False),
        sa.Column("requested_by", sa.String(length=200), nullable=False),
        sa.Column("requested_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("expires_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("decided_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("decided_by", sa.String(length=200), nullable=True),
        sa.Column("answer", sa.String(length=2000), nullable=True),
        sa.Column("modified", sa.Boolean(), nullable=False),
        sa.Column("used_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("workspace_id", sa.Uuid(), nullable=False),
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.CheckConstraint(
            "state IN ('waiting', 'approved', 'refused', 'escalated', 'expired', 'used')",
            name=op.f("ck_approvals_state"),
        ),
        sa.ForeignKeyConstraint(["workspace_id"], ["workspaces.id"], name=op.f("fk_approvals_workspace_id")),
        sa.PrimaryKeyConstraint("workspace_id", "id", name=op.f("pk_approvals")),
    )
    op.create_index(
        op.f("ix_approvals_workspace_id_approvals_state_approvals_requested_at"),
        "approvals",
        ["workspace_id", "state", "requested_at"],
        unique=False,
    )
    op.create_table(
        "connectors",
        sa.Column("name", sa.String(length=40), nullable=False),
        sa.Column("kind", sa.String(length=40), nullable=False),
        sa.Column("launch", JSON, nullable=False),
        sa.Column("secrets", sa.Text(), nullable=True),
        sa.Column("autonomy", sa.String(length=20), nullable=False),
        sa.Column("scopes", JSON, nullable=False),
        sa.Column("reads_per_minute", sa.Integer(), nullable=False),
        sa.Column("writes_per_minute", sa.Integer(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("manifest", JSON, nullable=True),
        sa.Column("accepted", JSON, nullable=True),
        sa.Column("accepted_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("accepted_by", sa.String(length=200), nullable=True),
        sa.Column("seen", JSON, nullable=True),
        sa.Column("seen_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("auth_expired_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("workspace_id", sa.Uuid(), nullable=False),
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.CheckConstraint("autonomy IN ('off', 'investigate', 'propose', 'act')", name=op.f("ck_connectors_autonomy")),
        sa.ForeignKeyConstraint(["workspace_id"], ["workspaces.id"], name=op.f("fk_connectors_workspace_id")),
        sa.PrimaryKeyConstraint("workspace_id", "id", name=op.f("pk_connectors")),
        sa.UniqueConstraint("workspace_id", "name", name=op.f("uq_connectors_workspace_id_name")),
    )
    op.create_table(
        "kill_switches",
        sa.Column("connector_id", sa.Uuid(), nullable=True),
        sa.Column("reason", sa.String(length=500), nullable=False),
        sa.Column("pulled_by", sa.String(length=200), nullable=False),
        sa.Column("pulled_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("workspace_id", sa.Uuid(), nullable=False),
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.ForeignKeyConstraint(
            ["workspace_id", "connector_id"],
            ["connectors.workspace_id", "connectors.id"],
            name=op.f("fk_kill_switches_workspace_id_connector_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("workspace_id", "id", name=op.f("pk_kill_switches")),
    )
