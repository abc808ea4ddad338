"""People: accounts that one workspace vouches for, makers of keys and invitations, limits on guessing passwords."""

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"


def upgrade() -> None:
    with op.batch_alter_table("people") as people:
        people.add_column(sa.Column("home_workspace_id", sa.Uuid(), nullable=True))
        people.drop_constraint(op.f("uq_people_email"), type_="unique")
    op.create_index("ix_people_email_home_workspace_id", "people", ["email", "home_workspace_id"], unique=True)
    op.create_index(
        "ix_people_email_of_installation",
        "people",
        ["email"],
        unique=True,
        sqlite_where=sa.text("home_workspace_id IS NULL"),
        postgresql_where=sa.text("home_workspace_id IS NULL"),
    )
    op.add_column("api_keys", sa.Column("parent_id", sa.Uuid(), nullable=True))
    op.create_index("ix_api_keys_parent", "api_keys", ["workspace_id", "parent_id"], unique=False)
    op.add_column("invitations", sa.Column("invited_by", sa.Uuid(), nullable=True))
    op.add_column("invitations", sa.Column("invited_by_key", sa.Uuid(), nullable=True))
    op.create_table(
        "sign_in_limits",
        sa.Column("bucket", sa.LargeBinary(length=32), nullable=False),
        sa.Column("started_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("bucket", name=op.f("pk_sign_in_limits")),
    )
    op.create_index(op.f("ix_sign_in_limits_started_at"), "sign_in_limits", ["started_at"], unique=False)
    op.create_table(
        "known_devices",
        sa.Column("token_hash", sa.LargeBinary(length=32), nullable=False),
        sa.Column("person_id", sa.Uuid(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["person_id"], ["people.id"], name=op.f("fk_known_devices_person_id")),
        sa.PrimaryKeyConstraint("token_hash", name=op.f("pk_known_devices")),
    )
    op.create_index(op.f("ix_known_devices_person_id"), "known_devices", ["person_id"], unique=False)
