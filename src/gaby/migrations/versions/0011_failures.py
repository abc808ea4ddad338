"""How often a run failed by itself."""

import sqlalchemy as sa
from alembic import op

revision = "0011"
down_revision = "0010"


def upgrade() -> None:
    op.add_column("investigations", sa.Column("failures", sa.Integer(), nullable=False, server_default="0"))
