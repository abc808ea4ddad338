"""Schedules: who leads, and when each was done last."""

from datetime import UTC, datetime

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"


def upgrade() -> None:
    leaders = op.create_table(
        "leaders",
        sa.Column("role", sa.String(length=40), nullable=False),
        sa.Column("holder", sa.String(length=100), nullable=True),
        sa.Column("beat", sa.BigInteger(), nullable=False),
        sa.Column("seen_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("role", name=op.f("pk_leaders")),
    )
    # So that whoever takes over only ever changes a row.
    never = datetime(2000, 1, 1, tzinfo=UTC)
    op.bulk_insert(leaders, [{"role": "schedules", "holder": None, "beat": 0, "seen_at": never}])
    op.create_table(
        "schedules",
        sa.Column("name", sa.String(length=60), nullable=False),
        sa.Column("every_seconds", sa.Integer(), nullable=False),
        sa.Column("due_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("began_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("ran_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("problem", sa.String(length=300), nullable=True),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_schedules")),
    )
