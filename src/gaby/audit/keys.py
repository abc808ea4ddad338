"""Which key signs, and how one hands over to the next: both sign, the log records it, then the file is replaced."""

from pathlib import Path
from typing import Protocol

from gaby.audit.canonical import canonical, canonical_payload
from gaby.audit.errors import SigningKeyUnusable
from gaby.audit.rows import RowDraft, timestamp
from gaby.audit.signing_key import SigningKey, load, load_or_create, sync_folder
from gaby.audit.source import DatabaseSource
from gaby.audit.statements import KeyRotation, sign_rotation
from gaby.audit.store import Appender, lock_number
from gaby.audit.transactions import in_transaction
from gaby.kernel.actors import Actor
from gaby.kernel.clock import Clock
from gaby.kernel.database import Database
from gaby.kernel.database.raw_sql import Connection, Dialect, SqlRunner
from gaby.kernel.ids import SYSTEM

ROTATION_EVENT = "audit.key_rotated"
CHECKPOINT_LOCK = lock_number("checkpoints")


class KeyHolder(Protocol):
    def current(self, serving: str | None) -> SigningKey:
        """The signing key, given the id of the key that the log says is serving."""
        ...


class ConfiguredKey:
    """A key from the settings, for machines that share one."""

    def __init__(self, key: SigningKey) -> None:
        self._key = key

    def current(self, serving: str | None) -> SigningKey:
        return _serving(self._key, serving, "GABY_AUDIT_SIGNING_KEY")


class KeyFile:
    """The key in its file, with the next one beside it while a rotation is under way."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._next = path.with_name(path.name + ".next")

    def current(self, serving: str | None) -> SigningKey:
        if serving is None:
            return load_or_create(self._path)
        if self._next.exists() and load(self._next).id == serving:
            # The log recorded the new key and then the process died.
            self.accept()
        return _serving(load(self._path), serving, str(self._path))

    def prepare(self) -> SigningKey:
        self._next.unlink(missing_ok=True)
        key = SigningKey.generate()
        key.save(self._next)
        return key

    def accept(self) -> None:
        self._next.replace(self._path)
        sync_folder(self._path.parent)


def current_key(source: DatabaseSource, sql: SqlRunner, holder: KeyHolder, ts: str) -> SigningKey:
    """The key to sign with now. The first one ever is recorded on the way."""
    entries = source.keys()
    key = holder.current(entries[-1].key_id if entries else None)
    if not entries:
        _record(sql, 0, key, None, ts)
    return key


class Rotation:
    """One handing over. Done once, then thrown away."""

    def __init__(self, db: Database, file: KeyFile, appender: Appender, clock: Clock) -> None:
        self._db = db
        self._file = file
        self._appender = appender
        self._clock = clock

    async def run(self, actor: Actor) -> KeyRotation:
        """Let a new key take over. From then on a checkpoint signed by the old one counts as forged."""
        rotation = await in_transaction(self._db, lambda connection: self._record(connection, actor))
        self._file.accept()
        return rotation

    def _record(self, connection: Connection, actor: Actor) -> KeyRotation:
        dialect: Dialect = self._db.dialect
        sql, source = SqlRunner(connection, dialect), DatabaseSource(connection, dialect)
        if dialect == "postgresql":
            sql.run("SELECT pg_advisory_xact_lock(?)", CHECKPOINT_LOCK)
        ts = timestamp(self._clock.now())
        old, new = current_key(source, sql, self._file, ts), self._file.prepare()
        rotation = sign_rotation(old, new, ts)
        _record(sql, len(source.keys()), new, rotation, ts)
        payload = canonical_payload({"old": old.id, "new": new.id, "statement": rotation.model_dump(mode="json")})
        self._appender.append(connection, dialect, [RowDraft(SYSTEM, actor.kind, actor.id, ROTATION_EVENT, payload)])
        return rotation


def _record(sql: SqlRunner, term: int, key: SigningKey, rotation: KeyRotation | None, ts: str) -> None:
    statement = None if rotation is None else canonical(rotation.model_dump(mode="json")).decode()
    sql.run(
        "INSERT INTO audit_keys (term, key_id, public_key, rotation, ts) VALUES (?, ?, ?, ?, ?)",
        term,
        key.id,
        key.public_key,
        statement,
        ts,
    )


def _serving(key: SigningKey, serving: str | None, where: str) -> SigningKey:
    if serving not in {None, key.id}:
        raise SigningKeyUnusable(
            f"The audit log is signed by key {serving}, but {where} holds {key.id}. Restore the right one from your "
            "backup; another key takes over only with `gaby audit rotate-key`, which needs the old one."
        )
    return key
