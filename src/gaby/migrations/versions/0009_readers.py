"""Readers: what an approver is shown, drafts of replies, and who may be told of a source of knowledge."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import JSONB

revision = "0009"
down_revision = "0008"

JSON = sa.JSON().with_variant(JSONB(), "postgresql")


def upgrade() -> None:
    op.add_column("approvals", sa.Column("step_id", sa.Uuid(), nullable=True))
    for name, length in (("ticket", 300), ("requester", 320), ("effect", 500)):
        op.add_column("approvals", sa.Column(name, sa.String(length), server_default="", nullable=False))
    verified = sa.Column("requester_verified", sa.Boolean(), server_default=sa.false(), nullable=False)
    op.add_column("approvals", verified)
    op.add_column("approvals", sa.Column("owners", JSON, server_default="[]", nullable=False))
    op.add_column("postings", sa.Column("approval_id", sa.Uuid(), nullable=True))
    op.add_column("tickets", sa.Column("operator", sa.String(200), nullable=True))
    audience = sa.Column("audience", sa.String(10), server_default="staff", nullable=False)
    op.add_column("knowledge_sources", audience)
    op.add_column("knowledge_documents", sa.Column("audience", sa.String(10), nullable=True))
