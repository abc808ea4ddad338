"""The table of data keys."""

from datetime import datetime

from sqlalchemy import LargeBinary, String, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from gaby.kernel.database import Base, WorkspaceOwned


class DataKey(Base, WorkspaceOwned):
    """The key of one subject, wrapped by the master key. Without it, what was sealed for the subject stays shut."""

    __tablename__ = "data_keys"
    __table_args__ = (UniqueConstraint("workspace_id", "subject"),)

    subject: Mapped[str] = mapped_column(String(200))
    created_at: Mapped[datetime]
    wrapped: Mapped[bytes | None] = mapped_column(LargeBinary, default=None)
    master_key_id: Mapped[str | None] = mapped_column(String(32), default=None)
    shredded_at: Mapped[datetime | None] = mapped_column(default=None)
