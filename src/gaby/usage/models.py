"""Tables of the budget ledger."""

from datetime import datetime
from uuid import UUID

from sqlalchemy import BigInteger, CheckConstraint, ForeignKeyConstraint, Index, LargeBinary, String, text
from sqlalchemy.orm import Mapped, mapped_column

from gaby.kernel.database import Base, WorkspaceOwned

_HELD = text("state = 'held'")
OF_RUN = text("span = 'run'")
"""For queries too: an index of some rows is used only where the same condition is spelled out."""


class LlmCall(Base, WorkspaceOwned):
    """One call to a model, from the moment its budget was taken. Money is in billionths of a dollar: sums are exact."""

    __tablename__ = "llm_calls"
    __table_args__ = (
        ForeignKeyConstraint(["workspace_id"], ["workspaces.id"]),
        CheckConstraint("state IN ('held', 'done', 'failed', 'unknown', 'lost')", name="state"),
        Index(None, "workspace_id", "created_at"),
        Index("ix_llm_calls_of_run", "workspace_id", "run_id", "created_at", "id"),
        Index("ix_llm_calls_held", "created_at", sqlite_where=_HELD, postgresql_where=_HELD),
    )

    run_id: Mapped[UUID]
    skill: Mapped[str] = mapped_column(String(60))
    tier: Mapped[str] = mapped_column(String(10))
    provider: Mapped[str] = mapped_column(String(40))
    model: Mapped[str] = mapped_column(String(200))
    state: Mapped[str] = mapped_column(String(10))
    created_at: Mapped[datetime]
    hop: Mapped[int]
    held_tokens: Mapped[int] = mapped_column(BigInteger)
    held_nano_usd: Mapped[int | None] = mapped_column(BigInteger)
    prompt_hash: Mapped[str | None] = mapped_column(String(64))
    answered_by: Mapped[str | None] = mapped_column(String(200), default=None)
    error: Mapped[str | None] = mapped_column(String(60), default=None)
    input_tokens: Mapped[int] = mapped_column(BigInteger, default=0)
    output_tokens: Mapped[int] = mapped_column(BigInteger, default=0)
    cache_read_tokens: Mapped[int] = mapped_column(BigInteger, default=0)
    cache_write_tokens: Mapped[int] = mapped_column(BigInteger, default=0)
    cost_nano_usd: Mapped[int | None] = mapped_column(BigInteger, default=None)
    counted_tokens: Mapped[int] = mapped_column(BigInteger, default=0)
    """What the limits were charged. More than the tokens above when the vendor may have charged without telling."""
    counted_nano_usd: Mapped[int] = mapped_column(BigInteger, default=0)
    milliseconds: Mapped[int | None] = mapped_column(default=None)
    settled_at: Mapped[datetime | None] = mapped_column(default=None)


class LlmCallTrace(Base, WorkspaceOwned):
    """What was asked and answered in the call of the same id."""

    __tablename__ = "llm_call_traces"
    __table_args__ = (
        ForeignKeyConstraint(["workspace_id", "id"], ["llm_calls.workspace_id", "llm_calls.id"]),
        Index("ix_llm_call_traces_created_at", "created_at"),
    )

    created_at: Mapped[datetime]
    subject: Mapped[str] = mapped_column(String(200))
    """Whose key it is sealed with."""
    outcome: Mapped[str] = mapped_column(String(60))
    content: Mapped[bytes] = mapped_column(LargeBinary)
    """Compressed and sealed."""


class UsageCounter(Base):
    """What a run, a day or a month has used, and what is held back for calls that are on their way."""

    __tablename__ = "usage_counters"
    __table_args__ = (
        CheckConstraint("span IN ('run', 'day', 'month')", name="span"),
        Index("ix_usage_counters_of_runs", "updated_at", sqlite_where=OF_RUN, postgresql_where=OF_RUN),
    )

    workspace_id: Mapped[UUID] = mapped_column(primary_key=True)
    span: Mapped[str] = mapped_column(String(5), primary_key=True)
    key: Mapped[str] = mapped_column(String(36), primary_key=True)
    used_tokens: Mapped[int] = mapped_column(BigInteger)
    held_tokens: Mapped[int] = mapped_column(BigInteger)
    used_nano_usd: Mapped[int] = mapped_column(BigInteger)
    held_nano_usd: Mapped[int] = mapped_column(BigInteger)
    runs: Mapped[int]
    updated_at: Mapped[datetime]


class UsageLimit(Base):
    """A workspace's plan, and the limits that differ from the installation's."""

    __tablename__ = "usage_limits"
    __table_args__ = (
        ForeignKeyConstraint(["workspace_id"], ["workspaces.id"]),
        CheckConstraint("plan IN ('free', 'starter', 'pro', 'business')", name="plan"),
    )

    workspace_id: Mapped[UUID] = mapped_column(primary_key=True)
    plan: Mapped[str | None] = mapped_column(String(10), default=None)
    run_tokens: Mapped[int | None] = mapped_column(BigInteger, default=None)
    run_nano_usd: Mapped[int | None] = mapped_column(BigInteger, default=None)
    day_tokens: Mapped[int | None] = mapped_column(BigInteger, default=None)
    day_nano_usd: Mapped[int | None] = mapped_column(BigInteger, default=None)
    month_tokens: Mapped[int | None] = mapped_column(BigInteger, default=None)
    month_nano_usd: Mapped[int | None] = mapped_column(BigInteger, default=None)
