"""Indexes by which every query of the daily work finds its rows, however many tickets are closed.

Each holds either the few rows that are still open, or the order in which the query wants its rows.
"""

import sqlalchemy as sa
from alembic import op

revision = "0012"
down_revision = "0011"

_OPEN = sa.text("wake_at IS NOT NULL")
_HELD = sa.text("lease_until IS NOT NULL")
_ALIKE = sa.text("incident_id IS NOT NULL")
_UNDER_WAY = sa.text("status IN ('queued', 'investigating')")
_MAY_EXPIRE = sa.text("state IN ('waiting', 'approved')")
_OF_RUN = sa.text("span = 'run'")
_STAGED = sa.text("state = 'staged'")


def upgrade() -> None:
    _add("ix_investigations_open", "investigations", ["workspace_id", "wake_at"], _OPEN)
    _add("ix_investigations_held", "investigations", ["workspace_id", "lease_until"], _HELD)
    _add("ix_investigations_of_ticket", "investigations", ["workspace_id", "ticket_id", "created_at"])
    _add("ix_tickets_with_status", "tickets", ["workspace_id", "status", "received_at"])
    _add("ix_tickets_under_way", "tickets", ["changed_at"], _UNDER_WAY)
    _add("ix_tickets_of_incident", "tickets", ["workspace_id", "incident_id"], _ALIKE)
    _add("ix_incidents_of_lead", "incidents", ["workspace_id", "lead_ticket_id"])
    _add("ix_approvals_with_state", "approvals", ["workspace_id", "state", "id"])
    _add("ix_approvals_of_run", "approvals", ["workspace_id", "run_id", "id"])
    _add("ix_approvals_expiring", "approvals", ["expires_at"], _MAY_EXPIRE)
    _add("ix_llm_calls_of_run", "llm_calls", ["workspace_id", "run_id", "created_at", "id"])
    _add("ix_usage_counters_of_runs", "usage_counters", ["updated_at"], _OF_RUN)
    _add("ix_kb_candidates_newest", "kb_candidates", ["workspace_id", "staged_at"])
    _add("ix_kb_candidates_staged", "kb_candidates", ["staged_at"], _STAGED)
    # The new ones begin with the same columns.
    op.drop_index("ix_investigations_ticket", "investigations")
    op.drop_index(op.f("ix_llm_calls_workspace_id_llm_calls_run_id"), "llm_calls")
    op.drop_index(op.f("ix_tickets_workspace_id_tickets_status"), "tickets")
    op.drop_index(op.f("ix_approvals_workspace_id_approvals_state_approvals_requested_at"), "approvals")
    op.drop_index(op.f("ix_approvals_workspace_id_approvals_run_id"), "approvals")


def _add(name: str, table: str, columns: list[str], where: sa.TextClause | None = None) -> None:
    op.create_index(name, table, columns, unique=False, sqlite_where=where, postgresql_where=where)
