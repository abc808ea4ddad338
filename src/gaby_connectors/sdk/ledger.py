"""Remembers the writes that were done, by their idempotency key, so that a retry has no second effect."""

import hashlib
import sqlite3
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import orjson

KEPT = timedelta(days=30)
_BUSY_SECONDS = 10.0
_SCHEMA = """
CREATE TABLE IF NOT EXISTS calls (
    key TEXT PRIMARY KEY,
    tool TEXT NOT NULL,
    arguments TEXT NOT NULL,
    started_at TEXT NOT NULL,
    result TEXT
) STRICT
"""


@dataclass(frozen=True)
class UnusedKey:
    """Nobody has used this key: go ahead."""


@dataclass(frozen=True)
class FinishedCall:
    """It was done before; this is what was answered."""

    result: dict[str, Any]


@dataclass(frozen=True)
class UnfinishedCall:
    """It was begun and never finished: the effect may have happened."""

    started_at: str


@dataclass(frozen=True)
class KeyConflict:
    """The key belongs to another tool or to other arguments."""

    tool: str


Standing = UnusedKey | FinishedCall | UnfinishedCall | KeyConflict


class IdempotencyLedger:
    """In a file of the connector's state folder; in memory when it has none."""

    def __init__(self, folder: Path | None, *, now: Callable[[], datetime] = lambda: datetime.now(UTC)) -> None:
        self._now = now
        if folder is not None:
            folder.mkdir(parents=True, exist_ok=True)
        place = ":memory:" if folder is None else str(folder / "idempotency.db")
        self._db = sqlite3.connect(place, isolation_level=None, check_same_thread=False, timeout=_BUSY_SECONDS)
        _switch_to_wal(self._db)
        self._db.execute("PRAGMA synchronous = FULL")
        self._db.execute(_SCHEMA)
        self._db.execute("DELETE FROM calls WHERE started_at < ?", ((now() - KEPT).isoformat(),))

    def begin(self, key: str, tool: str, arguments: Any) -> Standing:
        """Note that the call starts, before it has any effect, unless the key is known already."""
        digest = _digest(arguments)
        self._db.execute("BEGIN IMMEDIATE")
        try:
            row = self._db.execute(
                "SELECT tool, arguments, started_at, result FROM calls WHERE key = ?", (key,)
            ).fetchone()
            if row is None:
                started = self._now().isoformat()
                self._db.execute("INSERT INTO calls VALUES (?, ?, ?, ?, NULL)", (key, tool, digest, started))
        finally:
            self._db.execute("COMMIT")
        if row is None:
            return UnusedKey()
        if (row[0], row[1]) != (tool, digest):
            return KeyConflict(row[0])
        return UnfinishedCall(row[2]) if row[3] is None else FinishedCall(orjson.loads(row[3]))

    def finish(self, key: str, result: dict[str, Any]) -> None:
        self._db.execute("UPDATE calls SET result = ? WHERE key = ?", (orjson.dumps(result).decode(), key))

    def forget(self, key: str) -> None:
        """The call had no effect, so that the key may be used again."""
        self._db.execute("DELETE FROM calls WHERE key = ? AND result IS NULL", (key,))

    def close(self) -> None:
        self._db.close()


def _digest(arguments: Any) -> str:
    return hashlib.sha256(orjson.dumps(arguments, option=orjson.OPT_SORT_KEYS)).hexdigest()


def _switch_to_wal(connection: sqlite3.Connection) -> None:
    """SQLite does not always wait for its busy timeout here: of two processes that open a new file, one is refused."""
    give_up_at = time.monotonic() + _BUSY_SECONDS
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() > give_up_at:
                raise
            time.sleep(0.02)
        else:
            return
