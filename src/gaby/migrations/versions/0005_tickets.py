"""Tickets: desks, tickets, investigations with every edge they took, and what is posted back."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import JSONB

revision = "0005"
down_revision = "0004"

JSON = sa.JSON().with_variant(JSONB(), "postgresql")


def upgrade() -> None:
    op.create_table(
        "agent_configs",
        sa.Column("workspace_id", sa.Uuid(), nullable=False),
        sa.Column("config", JSON, nullable=False),
        sa.Column("changed_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("secrets", sa.Text(), nullable=True),
        sa.ForeignKeyConstraint(["workspace_id"], ["workspaces.id"], name=op.f("fk_agent_configs_workspace_id")),
        sa.PrimaryKeyConstraint("workspace_id", name=op.f("pk_agent_configs")),
    )
    op.create_table(
        "desks",
        sa.Column("name", sa.String(length=40), nullable=False),
        sa.Column("kind", sa.String(length=40), nullable=False),
        sa.Column("config", JSON, nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("secrets", sa.Text(), nullable=True),
        sa.Column("every_seconds", sa.Integer(), nullable=True),
        sa.Column("due_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("lease_token", sa.Integer(), nullable=False),
        sa.Column("cursor", sa.Text(), nullable=True),
        sa.Column("polled_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("failures", sa.Integer(), nullable=False),
        sa.Column("last_error", sa.String(length=500), nullable=True),
        sa.Column("workspace_id", sa.Uuid(), nullable=False),
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.ForeignKeyConstraint(["workspace_id"], ["workspaces.id"], name=op.f("fk_desks_workspace_id")),
        sa.PrimaryKeyConstraint("workspace_id", "id", name=op.f("pk_desks")),
        sa.UniqueConstraint("workspace_id", "name", name=op.f("uq_desks_workspace_id_name")),
    )
    op.create_index(
        "ix_desks_due",
        "desks",
        ["due_at"],
        unique=False,
        sqlite_where=sa.text("due_at IS NOT NULL"),
        postgresql_where=sa.text("due_at IS NOT NULL"),
    )
    op.create_table(
        "dead_letters",
        sa.Column("desk_id", sa.Uuid(), nullable=False),
        sa.Column("external_id", sa.String(length=200), nullable=False),
        sa.Column("state", sa.String(length=10), nullable=False),
        sa.Column("reason", sa.String(length=500), nullable=False),
        sa.Column("tries", sa.Integer(), nullable=False),
        sa.Column("payload", sa.Text(), nullable=False),
        sa.Column("first_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("last_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("workspace_id", sa.Uuid(), nullable=False),
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.CheckConstraint("state IN ('trying', 'dead', 'mended')", name=op.f("ck_dead_letters_state")),
        sa.ForeignKeyConstraint(
            ["workspace_id", "desk_id"],
            ["desks.workspace_id", "desks.id"],
            name=op.f("fk_dead_letters_workspace_id_desk_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("workspace_id", "id", name=op.f("pk_dead_letters")),
        sa.UniqueConstraint(
            "workspace_id", "desk_id", "external_id", name=op.f("uq_dead_letters_workspace_id_desk_id_external_id")
        ),
    )
    op.create_table(
        "tickets",
        sa.Column("desk_id", sa.Uuid(), nullable=False),
        sa.Column("external_id", sa.String(length=200), nullable=False),
        sa.Column("title", sa.String(length=500), nullable=False),
        sa.Column("body", sa.Text(), nullable=False),
        sa.Column("body_encrypted", sa.Text(), nullable=False),
        sa.Column("customer", sa.String(length=300), nullable=False),
        sa.Column("requester_email", sa.String(length=320), nullable=True),
        sa.Column("requester_verified", sa.Boolean(), nullable=False),
        sa.Column("priority", sa.String(length=10), nullable=False),
        sa.Column("status", sa.String(length=15), nullable=False),
        sa.Column("received_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("changed_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("source_metadata", JSON, nullable=False),
        sa.Column("fingerprint", sa.String(length=64), nullable=False),
        sa.Column("sla_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("closed_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("incident_id", sa.Uuid(), nullable=True),
        sa.Column("workspace_id", sa.Uuid(), nullable=False),
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.CheckConstraint("priority IN ('low', 'medium', 'high', 'critical')", name=op.f("ck_tickets_priority")),
        sa.CheckConstraint(
            "status IN ('new', 'queued', 'investigating', 'auto_resolved', 'needs_tech', 'needs_client', "
            "'needs_l2', 'failed', 'skipped', 'failed_budget')",
            name=op.f("ck_tickets_status"),
        ),
        sa.ForeignKeyConstraint(
            ["workspace_id", "desk_id"],
            ["desks.workspace_id", "desks.id"],
            name=op.f("fk_tickets_workspace_id_desk_id"),
        ),
        sa.PrimaryKeyConstraint("workspace_id", "id", name=op.f("pk_tickets")),
        sa.UniqueConstraint(
            "workspace_id", "desk_id", "external_id", name=op.f("uq_tickets_workspace_id_desk_id_external_id")
        ),
    )
    op.create_index(
        op.f("ix_tickets_workspace_id_tickets_received_at"), "tickets", ["workspace_id", "received_at"], unique=False
    )
    op.create_index(op.f("ix_tickets_workspace_id_tickets_status"), "tickets", ["workspace_id", "status"], unique=False)
    op.create_table(
        "webhook_deliveries",
        sa.Column("workspace_id", sa.Uuid(), nullable=False),
        sa.Column("desk_id", sa.Uuid(), nullable=False),
        sa.Column("delivery_id", sa.String(length=200), nullable=False),
        sa.Column("received_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["workspace_id", "desk_id"],
            ["desks.workspace_id", "desks.id"],
            name=op.f("fk_webhook_deliveries_workspace_id_desk_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("workspace_id", "desk_id", "delivery_id", name=op.f("pk_webhook_deliveries")),
    )
    op.create_index(op.f("ix_webhook_deliveries_received_at"), "webhook_deliveries", ["received_at"], unique=False)
    op.create_table(
        "incidents",
        sa.Column("title", sa.String(length=500), nullable=False),
        sa.Column("lead_ticket_id", sa.Uuid(), nullable=False),
        sa.Column("opened_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("last_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("workspace_id", sa.Uuid(), nullable=False),
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.ForeignKeyConstraint(
            ["workspace_id", "lead_ticket_id"],
            ["tickets.workspace_id", "tickets.id"],
            name=op.f("fk_incidents_workspace_id_lead_ticket_id"),
        ),
        sa.PrimaryKeyConstraint("workspace_id", "id", name=op.f("pk_incidents")),
    )
    op.create_index(
        op.f("ix_incidents_workspace_id_incidents_last_at"), "incidents", ["workspace_id", "last_at"], unique=False
    )
    op.create_table(
        "investigations",
        sa.Column("ticket_id", sa.Uuid(), nullable=False),
        sa.Column("state", sa.String(length=20), nullable=False),
        sa.Column("rank", sa.Integer(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("wake_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("lease_until", sa.DateTime(timezone=True), nullable=True),
        sa.Column("lease_token", sa.Integer(), nullable=False),
        sa.Column("lease_owner", sa.String(length=100), nullable=True),
        sa.Column("edges", sa.Integer(), nullable=False),
        sa.Column("claims_without_progress", sa.Integer(), nullable=False),
        sa.Column("started_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("finished_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("verdict", sa.String(length=20), nullable=True),
        sa.Column("reason", sa.String(length=500), nullable=True),
        sa.Column("summary", sa.Text(), nullable=True),
        sa.Column("halt", sa.String(length=300), nullable=True),
        sa.Column("workspace_id", sa.Uuid(), nullable=False),
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.CheckConstraint(
            "(state IN ('done', 'halted')) = (wake_at IS NULL)", name=op.f("ck_investigations_none_forgotten")
        ),
        sa.CheckConstraint(
            "state IN ('created', 'planning', 'retrieving', 'safety_check', 'waiting_approval', "
            "'acting', 'observing', 'verdict', 'writing_back', 'done', 'halted')",
            name=op.f("ck_investigations_state"),
        ),
        sa.ForeignKeyConstraint(
            ["workspace_id", "ticket_id"],
            ["tickets.workspace_id", "tickets.id"],
            name=op.f("fk_investigations_workspace_id_ticket_id"),
        ),
        sa.PrimaryKeyConstraint("workspace_id", "id", name=op.f("pk_investigations")),
    )
    op.create_index(
        "ix_investigations_queue",
        "investigations",
        ["workspace_id", "rank", "created_at"],
        unique=False,
        sqlite_where=sa.text("wake_at IS NOT NULL"),
        postgresql_where=sa.text("wake_at IS NOT NULL"),
    )
    op.create_index("ix_investigations_ticket", "investigations", ["workspace_id", "ticket_id"], unique=False)
    op.create_index(
        "ix_investigations_wake",
        "investigations",
        ["wake_at"],
        unique=False,
        sqlite_where=sa.text("wake_at IS NOT NULL"),
        postgresql_where=sa.text("wake_at IS NOT NULL"),
    )
    op.create_index(
        op.f("ix_investigations_workspace_id_investigations_created_at"),
        "investigations",
        ["workspace_id", "created_at"],
        unique=False,
    )
    op.create_table(
        "postings",
        sa.Column("run_id", sa.Uuid(), nullable=False),
        sa.Column("ticket_id", sa.Uuid(), nullable=False),
        sa.Column("kind", sa.String(length=10), nullable=False),
        sa.Column("state", sa.String(length=10), nullable=False),
        sa.Column("marker", sa.String(length=60), nullable=False),
        sa.Column("content", sa.LargeBinary(), nullable=False),
        sa.Column("shown", sa.Text(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("external_id", sa.String(length=300), nullable=True),
        sa.Column("tries", sa.Integer(), nullable=False),
        sa.Column("last_error", sa.String(length=500), nullable=True),
        sa.Column("posted_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("again_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("workspace_id", sa.Uuid(), nullable=False),
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.CheckConstraint("kind IN ('reply', 'status', 'time', 'escalation')", name=op.f("ck_postings_kind")),
        sa.CheckConstraint(
            "state IN ('due', 'sending', 'posted', 'unknown', 'refused', 'dropped')", name=op.f("ck_postings_state")
        ),
        sa.ForeignKeyConstraint(
            ["workspace_id", "ticket_id"],
            ["tickets.workspace_id", "tickets.id"],
            name=op.f("fk_postings_workspace_id_ticket_id"),
        ),
        sa.PrimaryKeyConstraint("workspace_id", "id", name=op.f("pk_postings")),
        sa.UniqueConstraint("workspace_id", "run_id", "kind", name=op.f("uq_postings_workspace_id_run_id_kind")),
    )
    op.create_table(
        "ticket_messages",
        sa.Column("ticket_id", sa.Uuid(), nullable=False),
        sa.Column("external_id", sa.String(length=200), nullable=False),
        sa.Column("author", sa.String(length=10), nullable=False),
        sa.Column("body", sa.Text(), nullable=False),
        sa.Column("body_encrypted", sa.Text(), nullable=False),
        sa.Column("private", sa.Boolean(), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("workspace_id", sa.Uuid(), nullable=False),
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.CheckConstraint("author IN ('requester', 'agent', 'gaby')", name=op.f("ck_ticket_messages_author")),
        sa.ForeignKeyConstraint(
            ["workspace_id", "ticket_id"],
            ["tickets.workspace_id", "tickets.id"],
            name=op.f("fk_ticket_messages_workspace_id_ticket_id"),
        ),
        sa.PrimaryKeyConstraint("workspace_id", "id", name=op.f("pk_ticket_messages")),
        sa.UniqueConstraint(
            "workspace_id",
            "ticket_id",
            "external_id",
            name=op.f("uq_ticket_messages_workspace_id_ticket_id_external_id"),
        ),
    )
    op.create_table(
        "investigation_edges",
        sa.Column("workspace_id", sa.Uuid(), nullable=False),
        sa.Column("run_id", sa.Uuid(), nullable=False),
        sa.Column("n", sa.Integer(), nullable=False),
        sa.Column("state", sa.String(length=20), nullable=False),
        sa.Column("delta", sa.LargeBinary(), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["workspace_id", "run_id"],
            ["investigations.workspace_id", "investigations.id"],
            name=op.f("fk_investigation_edges_workspace_id_run_id"),
        ),
        sa.PrimaryKeyConstraint("workspace_id", "run_id", "n", name=op.f("pk_investigation_edges")),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "investigation_steps",
        sa.Column("workspace_id", sa.Uuid(), nullable=False),
        sa.Column("run_id", sa.Uuid(), nullable=False),
        sa.Column("n", sa.Integer(), nullable=False),
        sa.Column("place", sa.Integer(), nullable=False),
        sa.Column("system", sa.String(length=80), nullable=False),
        sa.Column("action", sa.String(length=120), nullable=False),
        sa.Column("detail", sa.Text(), nullable=False),
        sa.Column("kind", sa.String(length=20), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["workspace_id", "run_id"],
            ["investigations.workspace_id", "investigations.id"],
            name=op.f("fk_investigation_steps_workspace_id_run_id"),
        ),
        sa.PrimaryKeyConstraint("workspace_id", "run_id", "n", "place", name=op.f("pk_investigation_steps")),
        sqlite_with_rowid=False,
    )
    op.create_index(
        op.f("ix_investigation_steps_workspace_id_investigation_steps_at"),
        "investigation_steps",
        ["workspace_id", "at"],
        unique=False,
    )
    op.add_column("approvals", sa.Column("call_id", sa.Uuid(), nullable=True))
    op.create_index(
        op.f("ix_approvals_workspace_id_approvals_run_id"), "approvals", ["workspace_id", "run_id"], unique=False
    )
