"""Failures of a run by itself, and an index of what is held."""

import sqlalchemy as sa
from alembic import op

revision = "0011"
down_revision = "0010"

_HELD = sa.text("lease_until IS NOT NULL")


def upgrade() -> None:
    op.add_column("investigations", sa.Column("failures", sa.Integer(), nullable=False, server_default="0"))
    op.create_index(
        "ix_investigations_held", "investigations", ["lease_until"], sqlite_where=_HELD, postgresql_where=_HELD
    )
