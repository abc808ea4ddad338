"""Models: accounts, routes and prices, and the ledger of what they cost."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import JSONB

revision = "0003"
down_revision = "0002"

JSON = sa.JSON().with_variant(JSONB(), "postgresql")


def upgrade() -> None:
    op.create_table(
        "usage_counters",
        sa.Column("workspace_id", sa.Uuid(), nullable=False),
        sa.Column("span", sa.String(length=5), nullable=False),
        sa.Column("key", sa.String(length=36), nullable=False),
        sa.Column("used_tokens", sa.BigInteger(), nullable=False),
        sa.Column("held_tokens", sa.BigInteger(), nullable=False),
        sa.Column("used_nano_usd", sa.BigInteger(), nullable=False),
        sa.Column("held_nano_usd", sa.BigInteger(), nullable=False),
        sa.Column("runs", sa.Integer(), nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), nullable=False),
        sa.CheckConstraint("span IN ('run', 'day', 'month')", name=op.f("ck_usage_counters_span")),
        sa.PrimaryKeyConstraint("workspace_id", "span", "key", name=op.f("pk_usage_counters")),
    )
    op.create_table(
        "llm_calls",
        sa.Column("run_id", sa.Uuid(), nullable=False),
        sa.Column("skill", sa.String(length=60), nullable=False),
        sa.Column("tier", sa.String(length=10), nullable=False),
        sa.Column("provider", sa.String(length=40), nullable=False),
        sa.Column("model", sa.String(length=200), nullable=False),
        sa.Column("state", sa.String(length=10), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("hop", sa.Integer(), nullable=False),
        sa.Column("held_tokens", sa.BigInteger(), nullable=False),
        sa.Column("held_nano_usd", sa.BigInteger(), nullable=True),
        sa.Column("prompt_hash", sa.String(length=64), nullable=True),
        sa.Column("answered_by", sa.String(length=200), nullable=True),
        sa.Column("error", sa.String(length=60), nullable=True),
        sa.Column("input_tokens", sa.BigInteger(), nullable=False),
        sa.Column("output_tokens", sa.BigInteger(), nullable=False),
        sa.Column("cache_read_tokens", sa.BigInteger(), nullable=False),
        sa.Column("cache_write_tokens", sa.BigInteger(), nullable=False),
        sa.Column("cost_nano_usd", sa.BigInteger(), nullable=True),
        sa.Column("counted_tokens", sa.BigInteger(), nullable=False),
        sa.Column("counted_nano_usd", sa.BigInteger(), nullable=False),
        sa.Column("milliseconds", sa.Integer(), nullable=True),
        sa.Column("settled_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("workspace_id", sa.Uuid(), nullable=False),
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.CheckConstraint("state IN ('held', 'done', 'failed', 'unknown', 'lost')", name=op.f("ck_llm_calls_state")),
        sa.ForeignKeyConstraint(["workspace_id"], ["workspaces.id"], name=op.f("fk_llm_calls_workspace_id")),
        sa.PrimaryKeyConstraint("workspace_id", "id", name=op.f("pk_llm_calls")),
    )
    held = sa.text("state = 'held'")
    op.create_index(
        "ix_llm_calls_held", "llm_calls", ["created_at"], unique=False, sqlite_where=held, postgresql_where=held
    )
    op.create_index(
        op.f("ix_llm_calls_workspace_id_llm_calls_created_at"),
        "llm_calls",
        ["workspace_id", "created_at"],
        unique=False,
    )
    op.create_index(
        op.f("ix_llm_calls_workspace_id_llm_calls_run_id"), "llm_calls", ["workspace_id", "run_id"], unique=False
    )
    op.create_table(
        "model_accounts",
        sa.Column("name", sa.String(length=40), nullable=False),
        sa.Column("kind", sa.String(length=20), nullable=False),
        sa.Column("options", JSON, nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("changed_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("base_url", sa.String(length=500), nullable=True),
        sa.Column("key", sa.Text(), nullable=True),
        sa.Column("workspace_id", sa.Uuid(), nullable=False),
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.ForeignKeyConstraint(["workspace_id"], ["workspaces.id"], name=op.f("fk_model_accounts_workspace_id")),
        sa.PrimaryKeyConstraint("workspace_id", "id", name=op.f("pk_model_accounts")),
        sa.UniqueConstraint("workspace_id", "name", name=op.f("uq_model_accounts_workspace_id_name")),
    )
    op.create_table(
        "model_prices",
        sa.Column("workspace_id", sa.Uuid(), nullable=False),
        sa.Column("model", sa.String(length=200), nullable=False),
        sa.Column("input", sa.BigInteger(), nullable=False),
        sa.Column("output", sa.BigInteger(), nullable=False),
        sa.Column("cache_read", sa.BigInteger(), nullable=False),
        sa.Column("cache_write", sa.BigInteger(), nullable=False),
        sa.Column("changed_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["workspace_id"], ["workspaces.id"], name=op.f("fk_model_prices_workspace_id")),
        sa.PrimaryKeyConstraint("workspace_id", "model", name=op.f("pk_model_prices")),
    )
    op.create_table(
        "model_routes",
        sa.Column("workspace_id", sa.Uuid(), nullable=False),
        sa.Column("name", sa.String(length=60), nullable=False),
        sa.Column("chain", JSON, nullable=False),
        sa.Column("changed_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["workspace_id"], ["workspaces.id"], name=op.f("fk_model_routes_workspace_id")),
        sa.PrimaryKeyConstraint("workspace_id", "name", name=op.f("pk_model_routes")),
    )
    op.create_table(
        "usage_limits",
        sa.Column("workspace_id", sa.Uuid(), nullable=False),
        sa.Column("plan", sa.String(length=10), nullable=True),
        sa.Column("run_tokens", sa.BigInteger(), nullable=True),
        sa.Column("run_nano_usd", sa.BigInteger(), nullable=True),
        sa.Column("day_tokens", sa.BigInteger(), nullable=True),
        sa.Column("day_nano_usd", sa.BigInteger(), nullable=True),
        sa.Column("month_tokens", sa.BigInteger(), nullable=True),
        sa.Column("month_nano_usd", sa.BigInteger(), nullable=True),
        sa.CheckConstraint("plan IN ('free', 'starter', 'pro', 'business')", name=op.f("ck_usage_limits_plan")),
        sa.ForeignKeyConstraint(["workspace_id"], ["workspaces.id"], name=op.f("fk_usage_limits_workspace_id")),
        sa.PrimaryKeyConstraint("workspace_id", name=op.f("pk_usage_limits")),
    )
    op.create_table(
        "embeddings",
        sa.Column("workspace_id", sa.Uuid(), nullable=False),
        sa.Column("model", sa.String(length=200), nullable=False),
        sa.Column("text_hash", sa.LargeBinary(length=32), nullable=False),
        sa.Column("vector", sa.LargeBinary(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("workspace_id", "model", "text_hash", name=op.f("pk_embeddings")),
    )
    op.create_table(
        "reindexings",
        sa.Column("collection", sa.String(length=80), nullable=False),
        sa.Column("model", sa.String(length=200), nullable=False),
        sa.Column("state", sa.String(length=20), nullable=False),
        sa.Column("total", sa.Integer(), nullable=False),
        sa.Column("started_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("done", sa.Integer(), nullable=False),
        sa.Column("cursor", sa.Text(), nullable=True),
        sa.Column("error", sa.String(length=1000), nullable=True),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("retry_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("finished_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("workspace_id", sa.Uuid(), nullable=False),
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.CheckConstraint("state IN ('running', 'done', 'failed')", name=op.f("ck_reindexings_state")),
        sa.PrimaryKeyConstraint("workspace_id", "id", name=op.f("pk_reindexings")),
        sa.UniqueConstraint("workspace_id", "collection", name=op.f("uq_reindexings_workspace_id_collection")),
    )
