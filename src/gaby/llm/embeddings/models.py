"""Tables of kept vectors and of re-indexing."""

from datetime import datetime
from uuid import UUID

from sqlalchemy import CheckConstraint, LargeBinary, String, Text, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from gaby.kernel.database import Base, WorkspaceOwned


class CachedVector(Base):
    """What a model made of a text. Each workspace has its own, or else the time of an answer would tell one
    workspace what another has read."""

    __tablename__ = "embeddings"

    workspace_id: Mapped[UUID] = mapped_column(primary_key=True)
    model: Mapped[str] = mapped_column(String(200), primary_key=True)
    text_hash: Mapped[bytes] = mapped_column(LargeBinary(32), primary_key=True)
    vector: Mapped[bytes] = mapped_column(LargeBinary)
    """float32, little endian."""
    created_at: Mapped[datetime]


class ReindexState(Base, WorkspaceOwned):
    """How far a collection is on its way to another model. The next change of the model starts it over."""

    __tablename__ = "reindexings"
    __table_args__ = (
        UniqueConstraint("workspace_id", "collection"),
        CheckConstraint("state IN ('running', 'done', 'failed')", name="state"),
    )

    collection: Mapped[str] = mapped_column(String(80))
    model: Mapped[str] = mapped_column(String(200))
    state: Mapped[str] = mapped_column(String(20))
    total: Mapped[int]
    """As counted at the start; texts may have come or gone since."""
    started_at: Mapped[datetime]
    done: Mapped[int] = mapped_column(default=0)
    cursor: Mapped[str | None] = mapped_column(Text, default=None)
    """The last key whose vector is stored."""
    error: Mapped[str | None] = mapped_column(String(1000), default=None)
    """Why it failed; or, while it runs, why the last attempt did."""
    attempts: Mapped[int] = mapped_column(default=0)
    """That failed in a row."""
    retry_at: Mapped[datetime | None] = mapped_column(default=None)
    finished_at: Mapped[datetime | None] = mapped_column(default=None)
