"""What models were asked and what they answered, sealed."""

import sqlalchemy as sa
from alembic import op

revision = "0014"
down_revision = "0013"


def upgrade() -> None:
    op.create_table(
        "llm_call_traces",
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("subject", sa.String(length=200), nullable=False),
        sa.Column("outcome", sa.String(length=60), nullable=False),
        sa.Column("content", sa.LargeBinary(), nullable=False),
        sa.Column("workspace_id", sa.Uuid(), nullable=False),
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.ForeignKeyConstraint(
            ["workspace_id", "id"],
            ["llm_calls.workspace_id", "llm_calls.id"],
            name=op.f("fk_llm_call_traces_workspace_id_id"),
        ),
        sa.PrimaryKeyConstraint("workspace_id", "id", name=op.f("pk_llm_call_traces")),
    )
    op.create_index("ix_llm_call_traces_created_at", "llm_call_traces", ["created_at"], unique=False)
