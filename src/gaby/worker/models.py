"""Tables of the schedules: who leads, and when each was done last."""

from datetime import datetime

from sqlalchemy import BigInteger, String
from sqlalchemy.orm import Mapped, mapped_column

from gaby.kernel.database import Base


class Leader(Base):
    """The process that does what is done once for the whole installation."""

    __tablename__ = "leaders"

    role: Mapped[str] = mapped_column(String(40), primary_key=True)
    holder: Mapped[str | None] = mapped_column(String(100))
    beat: Mapped[int] = mapped_column(BigInteger)
    """Counted up by the holder as long as it lives."""
    seen_at: Mapped[datetime]
    """When it last was, by the wall clock: one that is earlier now was set back. Who leads is decided by the count."""


class ScheduleRecord(Base):
    __tablename__ = "schedules"

    name: Mapped[str] = mapped_column(String(60), primary_key=True)
    every_seconds: Mapped[int]
    due_at: Mapped[datetime]
    began_at: Mapped[datetime | None] = mapped_column(default=None)
    """While it is being done."""
    ran_at: Mapped[datetime | None] = mapped_column(default=None)
    problem: Mapped[str | None] = mapped_column(String(300), default=None)
    """Why it failed the last time."""
