"""The spine: workspaces, people, sign-ins, API keys, data keys, the audit log."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import JSONB

from gaby.audit import ddl

revision = "0001"
down_revision = None

JSON = sa.JSON().with_variant(JSONB(), "postgresql")


def upgrade() -> None:
    _people()
    _encryption()
    _audit()


def _people() -> None:
    op.create_table(
        "bootstrap",
        sa.Column("id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("token_hash", sa.LargeBinary(length=32), nullable=False),
        sa.Column("issued_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("expires_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("used_at", sa.DateTime(timezone=True), nullable=True),
        sa.CheckConstraint("id = 1", name=op.f("ck_bootstrap_single")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_bootstrap")),
    )
    op.create_table(
        "people",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("email", sa.String(length=320), nullable=False),
        sa.Column("name", sa.String(length=200), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("password_hash", sa.String(length=200), nullable=True),
        sa.Column("manages_installation", sa.Boolean(), nullable=False),
        sa.Column("disabled_at", sa.DateTime(timezone=True), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_people")),
        sa.UniqueConstraint("email", name=op.f("uq_people_email")),
    )
    op.create_table(
        "workspaces",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("slug", sa.String(length=63), nullable=False),
        sa.Column("name", sa.String(length=200), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_workspaces")),
        sa.UniqueConstraint("slug", name=op.f("uq_workspaces_slug")),
    )
    op.create_table(
        "api_keys",
        sa.Column("name", sa.String(length=100), nullable=False),
        sa.Column("prefix", sa.String(length=16), nullable=False),
        sa.Column("secret_hash", sa.LargeBinary(length=32), nullable=False),
        sa.Column("scopes", JSON, nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("created_by", sa.Uuid(), nullable=True),
        sa.Column("expires_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("last_used_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("revoked_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("workspace_id", sa.Uuid(), nullable=False),
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.ForeignKeyConstraint(["created_by"], ["people.id"], name=op.f("fk_api_keys_created_by")),
        sa.ForeignKeyConstraint(["workspace_id"], ["workspaces.id"], name=op.f("fk_api_keys_workspace_id")),
        sa.PrimaryKeyConstraint("workspace_id", "id", name=op.f("pk_api_keys")),
        sa.UniqueConstraint("prefix", name=op.f("uq_api_keys_prefix")),
    )
    op.create_table(
        "groups",
        sa.Column("name", sa.String(length=100), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("workspace_id", sa.Uuid(), nullable=False),
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.ForeignKeyConstraint(["workspace_id"], ["workspaces.id"], name=op.f("fk_groups_workspace_id")),
        sa.PrimaryKeyConstraint("workspace_id", "id", name=op.f("pk_groups")),
        sa.UniqueConstraint("workspace_id", "name", name=op.f("uq_groups_workspace_id_name")),
    )
    op.create_table(
        "invitations",
        sa.Column("email", sa.String(length=320), nullable=False),
        sa.Column("role", sa.String(length=20), nullable=False),
        sa.Column("token_hash", sa.LargeBinary(length=32), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("expires_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("used_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("workspace_id", sa.Uuid(), nullable=False),
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.ForeignKeyConstraint(["workspace_id"], ["workspaces.id"], name=op.f("fk_invitations_workspace_id")),
        sa.PrimaryKeyConstraint("workspace_id", "id", name=op.f("pk_invitations")),
        sa.UniqueConstraint("token_hash", name=op.f("uq_invitations_token_hash")),
    )
    op.create_table(
        "memberships",
        sa.Column("workspace_id", sa.Uuid(), nullable=False),
        sa.Column("person_id", sa.Uuid(), nullable=False),
        sa.Column("role", sa.String(length=20), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.CheckConstraint(
            "role IN ('viewer', 'operator', 'curator', 'admin', 'owner')", name=op.f("ck_memberships_role")
        ),
        sa.ForeignKeyConstraint(["person_id"], ["people.id"], name=op.f("fk_memberships_person_id")),
        sa.ForeignKeyConstraint(["workspace_id"], ["workspaces.id"], name=op.f("fk_memberships_workspace_id")),
        sa.PrimaryKeyConstraint("workspace_id", "person_id", name=op.f("pk_memberships")),
    )
    op.create_index(op.f("ix_memberships_person_id"), "memberships", ["person_id"], unique=False)
    op.create_table(
        "sign_ins",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("person_id", sa.Uuid(), nullable=False),
        sa.Column("token_hash", sa.LargeBinary(length=32), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("last_seen_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("expires_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("current_workspace_id", sa.Uuid(), nullable=True),
        sa.Column("revoked_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("user_agent", sa.String(length=300), nullable=False),
        sa.Column("address", sa.String(length=64), nullable=False),
        sa.ForeignKeyConstraint(
            ["current_workspace_id"], ["workspaces.id"], name=op.f("fk_sign_ins_current_workspace_id")
        ),
        sa.ForeignKeyConstraint(["person_id"], ["people.id"], name=op.f("fk_sign_ins_person_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_sign_ins")),
        sa.UniqueConstraint("token_hash", name=op.f("uq_sign_ins_token_hash")),
    )
    op.create_index(op.f("ix_sign_ins_person_id"), "sign_ins", ["person_id"], unique=False)
    op.create_table(
        "group_members",
        sa.Column("workspace_id", sa.Uuid(), nullable=False),
        sa.Column("group_id", sa.Uuid(), nullable=False),
        sa.Column("person_id", sa.Uuid(), nullable=False),
        sa.ForeignKeyConstraint(
            ["workspace_id", "group_id"],
            ["groups.workspace_id", "groups.id"],
            name=op.f("fk_group_members_workspace_id_group_id"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["workspace_id", "person_id"],
            ["memberships.workspace_id", "memberships.person_id"],
            name=op.f("fk_group_members_workspace_id_person_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("workspace_id", "group_id", "person_id", name=op.f("pk_group_members")),
    )


def _encryption() -> None:
    op.create_table(
        "data_keys",
        sa.Column("subject", sa.String(length=200), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("wrapped", sa.LargeBinary(), nullable=True),
        sa.Column("master_key_id", sa.String(length=32), nullable=True),
        sa.Column("shredded_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("workspace_id", sa.Uuid(), nullable=False),
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.PrimaryKeyConstraint("workspace_id", "id", name=op.f("pk_data_keys")),
        sa.UniqueConstraint("workspace_id", "subject", name=op.f("uq_data_keys_workspace_id_subject")),
    )


def _audit() -> None:
    op.create_table(
        "audit_checkpoints",
        sa.Column("workspace_id", sa.Uuid(), nullable=False),
        sa.Column("size", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("ts", sa.String(length=27), nullable=False),
        sa.Column("root", sa.LargeBinary(length=32), nullable=False),
        sa.Column("key_id", sa.String(length=16), nullable=False),
        sa.Column("signature", sa.LargeBinary(length=64), nullable=False),
        sa.PrimaryKeyConstraint("workspace_id", "size", "ts", name=op.f("pk_audit_checkpoints")),
        info={"append_only": True},
        sqlite_with_rowid=False,
    )
    op.create_table(
        "audit_intents",
        sa.Column("workspace_id", sa.Uuid(), nullable=False),
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("seq", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("workspace_id", "id", name=op.f("pk_audit_intents")),
    )
    op.create_table(
        "audit_keys",
        sa.Column("term", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("key_id", sa.String(length=16), nullable=False),
        sa.Column("public_key", sa.LargeBinary(length=32), nullable=False),
        sa.Column("rotation", sa.Text(), nullable=True),
        sa.Column("ts", sa.String(length=27), nullable=False),
        sa.PrimaryKeyConstraint("term", name=op.f("pk_audit_keys")),
        sa.UniqueConstraint("key_id", name=op.f("uq_audit_keys_key_id")),
        info={"append_only": True},
        sqlite_with_rowid=False,
    )
    op.create_table(
        "audit_rows",
        sa.Column("workspace_id", sa.Uuid(), nullable=False),
        sa.Column("seq", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("ts", sa.String(length=27), nullable=False),
        sa.Column("actor_kind", sa.String(length=20), nullable=False),
        sa.Column("actor_id", sa.String(length=200), nullable=False),
        sa.Column("event", sa.String(length=100), nullable=False),
        sa.Column("payload", sa.Text(), nullable=False),
        sa.Column("prev_hash", sa.LargeBinary(length=32), nullable=False),
        sa.Column("hash", sa.LargeBinary(length=32), nullable=False),
        sa.PrimaryKeyConstraint("workspace_id", "seq", name=op.f("pk_audit_rows")),
        sa.UniqueConstraint("id", name=op.f("uq_audit_rows_id")),
        info={"append_only": True},
        sqlite_with_rowid=False,
    )
    op.create_table(
        "audit_tiles",
        sa.Column("workspace_id", sa.Uuid(), nullable=False),
        sa.Column("level", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("idx", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("hashes", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("workspace_id", "level", "idx", name=op.f("pk_audit_tiles")),
    )
    for statement in ddl.SQLITE if op.get_bind().dialect.name == "sqlite" else ddl.POSTGRES:
        op.execute(statement)
