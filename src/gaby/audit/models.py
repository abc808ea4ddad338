"""Tables of the audit log. Rows, checkpoints and keys are only ever added; tiles and open intents follow from them."""

from typing import Any
from uuid import UUID

from sqlalchemy import BigInteger, LargeBinary, String, Text
from sqlalchemy.orm import Mapped, mapped_column

from gaby.kernel.database import Base

# Without a hidden row number SQLite keeps the rows in the order of their key, in one tree instead of two.
APPEND_ONLY: dict[str, Any] = {"info": {"append_only": True}, "sqlite_with_rowid": False}


class AuditRowRecord(Base):
    __tablename__ = "audit_rows"
    __table_args__ = APPEND_ONLY

    workspace_id: Mapped[UUID] = mapped_column(primary_key=True)
    seq: Mapped[int] = mapped_column(BigInteger, primary_key=True, autoincrement=False)
    id: Mapped[UUID] = mapped_column(unique=True)
    # Text, because the hash is over the text.
    ts: Mapped[str] = mapped_column(String(27))
    actor_kind: Mapped[str] = mapped_column(String(20))
    actor_id: Mapped[str] = mapped_column(String(200))
    event: Mapped[str] = mapped_column(String(100))
    payload: Mapped[str] = mapped_column(Text)
    prev_hash: Mapped[bytes] = mapped_column(LargeBinary(32))
    hash: Mapped[bytes] = mapped_column(LargeBinary(32))


class AuditCheckpointRecord(Base):
    __tablename__ = "audit_checkpoints"
    __table_args__ = APPEND_ONLY

    workspace_id: Mapped[UUID] = mapped_column(primary_key=True)
    size: Mapped[int] = mapped_column(BigInteger, primary_key=True, autoincrement=False)
    ts: Mapped[str] = mapped_column(String(27), primary_key=True)
    root: Mapped[bytes] = mapped_column(LargeBinary(32))
    key_id: Mapped[str] = mapped_column(String(16))
    signature: Mapped[bytes] = mapped_column(LargeBinary(64))


class AuditTileRecord(Base):
    """Hashes of the Merkle tree, 256 side by side. Can be built again from the rows at any time."""

    __tablename__ = "audit_tiles"

    workspace_id: Mapped[UUID] = mapped_column(primary_key=True)
    level: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    idx: Mapped[int] = mapped_column(BigInteger, primary_key=True, autoincrement=False)
    hashes: Mapped[bytes] = mapped_column(LargeBinary)


class AuditIntentRecord(Base):
    """An effect that began and whose outcome is not in the log yet."""

    __tablename__ = "audit_intents"

    workspace_id: Mapped[UUID] = mapped_column(primary_key=True)
    id: Mapped[UUID] = mapped_column(primary_key=True)
    seq: Mapped[int] = mapped_column(BigInteger)


class AuditKeyRecord(Base):
    """The public keys that signed, in the order they served."""

    __tablename__ = "audit_keys"
    __table_args__ = APPEND_ONLY

    term: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    key_id: Mapped[str] = mapped_column(String(16), unique=True)
    public_key: Mapped[bytes] = mapped_column(LargeBinary(32))
    rotation: Mapped[str | None] = mapped_column(Text)
    ts: Mapped[str] = mapped_column(String(27))
