"""Files of a source that are of kinds which are not read."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import JSONB

revision = "0016"
down_revision = "0015"


def upgrade() -> None:
    column = sa.JSON().with_variant(JSONB(), "postgresql")
    op.add_column("knowledge_sources", sa.Column("skipped", column, server_default="{}", nullable=False))
