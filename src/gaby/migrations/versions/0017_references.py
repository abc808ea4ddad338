"""Short references for people: tickets, runs and approvals are numbered in each workspace."""

import sqlalchemy as sa
from alembic import op

revision = "0017"
down_revision = "0016"

_PREFIXES = {"tickets": "T", "investigations": "R", "approvals": "A"}


def upgrade() -> None:
    op.create_table(
        "reference_counters",
        sa.Column("workspace_id", sa.Uuid(), nullable=False),
        sa.Column("prefix", sa.String(length=1), nullable=False),
        sa.Column("last", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("workspace_id", "prefix", name=op.f("pk_reference_counters")),
    )
    for table, prefix in _PREFIXES.items():
        op.add_column(table, sa.Column("number", sa.Integer(), nullable=True))
        # Ids begin with the time, so the oldest gets the first number.
        op.execute(
            f"UPDATE {table} SET number = counted.number FROM (SELECT workspace_id, id, ROW_NUMBER() OVER "  # noqa: S608
            f"(PARTITION BY workspace_id ORDER BY id) AS number FROM {table}) AS counted "
            f"WHERE counted.workspace_id = {table}.workspace_id AND counted.id = {table}.id"
        )
        op.execute(
            f"INSERT INTO reference_counters (workspace_id, prefix, last) SELECT workspace_id, '{prefix}', "  # noqa: S608
            f"MAX(number) FROM {table} GROUP BY workspace_id"
        )
        op.create_index(f"ix_{table}_number", table, ["workspace_id", "number"], unique=True)
