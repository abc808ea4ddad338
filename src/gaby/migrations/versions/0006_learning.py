"""Learning: what an investigation was rated and when it is weighed; what came late, and what a machine wrote."""

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"


def upgrade() -> None:
    op.add_column("tickets", sa.Column("desk_changed_at", sa.DateTime(timezone=True), nullable=True))
    automatic = sa.Column("automatic", sa.Boolean(), server_default=sa.false(), nullable=False)
    op.add_column("ticket_messages", automatic)
    op.add_column("investigations", sa.Column("weigh_at", sa.DateTime(timezone=True), nullable=True))
    rating = sa.CheckConstraint("rating BETWEEN 1 AND 5", name=op.f("ck_investigations_rating"))
    op.add_column("investigations", sa.Column("rating", sa.Integer(), rating, nullable=True))
    op.create_index(
        "ix_investigations_weigh",
        "investigations",
        ["weigh_at"],
        unique=False,
        sqlite_where=sa.text("weigh_at IS NOT NULL"),
        postgresql_where=sa.text("weigh_at IS NOT NULL"),
    )
