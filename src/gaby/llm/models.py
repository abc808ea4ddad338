"""Tables of model accounts, routes and agreed prices."""

from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import BigInteger, ForeignKeyConstraint, String, Text, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from gaby.kernel.database import Base, JsonColumn, WorkspaceOwned


class ModelAccount(Base, WorkspaceOwned):
    """An account at a vendor, or a server of one's own. The key is sealed."""

    __tablename__ = "model_accounts"
    __table_args__ = (
        UniqueConstraint("workspace_id", "name"),
        ForeignKeyConstraint(["workspace_id"], ["workspaces.id"]),
    )

    name: Mapped[str] = mapped_column(String(40))
    kind: Mapped[str] = mapped_column(String(20))
    options: Mapped[dict[str, Any]]
    created_at: Mapped[datetime]
    changed_at: Mapped[datetime]
    base_url: Mapped[str | None] = mapped_column(String(500), default=None)
    key: Mapped[str | None] = mapped_column(Text, default=None)


class ModelRoute(Base):
    """Which models are asked for a skill, a tier, or for embeddings; the first choice first."""

    __tablename__ = "model_routes"
    __table_args__ = (ForeignKeyConstraint(["workspace_id"], ["workspaces.id"]),)

    workspace_id: Mapped[UUID] = mapped_column(primary_key=True)
    name: Mapped[str] = mapped_column(String(60), primary_key=True)
    chain: Mapped[list[str]] = mapped_column(JsonColumn)
    changed_at: Mapped[datetime]


class ModelPrice(Base):
    """What a workspace agreed with its vendor, in millionths of a dollar for a million tokens."""

    __tablename__ = "model_prices"
    __table_args__ = (ForeignKeyConstraint(["workspace_id"], ["workspaces.id"]),)

    workspace_id: Mapped[UUID] = mapped_column(primary_key=True)
    model: Mapped[str] = mapped_column(String(200), primary_key=True)
    input: Mapped[int] = mapped_column(BigInteger)
    output: Mapped[int] = mapped_column(BigInteger)
    cache_read: Mapped[int] = mapped_column(BigInteger)
    cache_write: Mapped[int] = mapped_column(BigInteger)
    changed_at: Mapped[datetime]
