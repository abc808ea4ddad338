"""Desks at which every reply waits for a person."""

import sqlalchemy as sa
from alembic import op

revision = "0015"
down_revision = "0014"


def upgrade() -> None:
    op.add_column("desks", sa.Column("drafts", sa.Boolean(), server_default=sa.false(), nullable=False))
