"""The company's back office: one SQLite file, made and filled on first use."""

import json
import os
import sqlite3
from collections.abc import Generator
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from importlib.resources import files
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel

from gaby_connectors.sample_company.config import SampleCompanyConfig
from gaby_connectors.sample_company.seed import fill
from gaby_connectors.sdk.backend import Backend
from gaby_connectors.sdk.errors import not_found, transient
from gaby_connectors.sdk.tool import Lookup, WriteCall

ResultT = TypeVar("ResultT", bound=BaseModel)
Row = dict[str, Any]
Value = str | int | None


class CompanyBackend(Backend):
    config: SampleCompanyConfig

    def __init__(self, config: SampleCompanyConfig) -> None:
        super().__init__(config)
        self._path = config.folder / "lanternfish.db"
        self._opened: sqlite3.Connection | None = None

    def now(self) -> datetime:
        return self.config.now or datetime.now(UTC)

    def stamp(self) -> str:
        return self.now().isoformat(timespec="seconds")

    def rows(self, query: str, *values: Value) -> list[Row]:
        return [dict(row) for row in self._db().execute(query, values)]

    def row(self, what: str, query: str, *values: Value) -> Row:
        """The one row that must be there."""
        rows = self.rows(query, *values)
        if not rows:
            raise not_found(f"There is no such {what}.")
        return rows[0]

    def effect(
        self, tool: str, call: WriteCall, result: ResultT, *statements: tuple[str, *tuple[Value, ...]]
    ) -> ResultT:
        """Makes a change and notes it under its key, both or neither; in a dry run it is taken back."""
        with self._transaction(keep=not call.dry_run) as db:
            for statement, *values in statements:
                db.execute(statement, values)
            if call.idempotency_key is not None:
                stored = json.dumps(result.model_dump(mode="json"))
                db.execute(
                    "INSERT OR IGNORE INTO effects VALUES (?, ?, ?, ?)",
                    (call.idempotency_key, tool, stored, self.stamp()),
                )
        return result

    async def check(self) -> str:
        users = self.rows("SELECT count(*) AS n FROM users WHERE status != 'deleted'")[0]["n"]
        return f"Lanternfish's back office answers; it has {users} users."

    async def close(self) -> None:
        if self._opened is not None:
            self._opened.close()

    def explain(self, error: Exception) -> Exception:
        if isinstance(error, sqlite3.OperationalError):
            return transient("The company's database does not answer. Is its folder there, and writable?")
        return error

    @contextmanager
    def _transaction(self, *, keep: bool) -> Generator[sqlite3.Connection]:
        db = self._db()
        db.execute("BEGIN IMMEDIATE")
        try:
            yield db
        except BaseException:
            db.execute("ROLLBACK")
            raise
        db.execute("COMMIT" if keep else "ROLLBACK")

    def _db(self) -> sqlite3.Connection:
        if self._opened is None:
            if not self._path.exists():
                create_company(self._path, self.now())
            self._opened = sqlite3.connect(self._path, isolation_level=None, timeout=10)
            self._opened.row_factory = sqlite3.Row
            self._opened.execute("PRAGMA foreign_keys = ON")
        return self._opened


def create_company(path: Path, now: datetime) -> None:
    """Makes the database, complete or not at all: two processes may try at once."""
    path.parent.mkdir(parents=True, exist_ok=True)
    half = path.with_name(f"{path.name}.{os.getpid()}")
    half.unlink(missing_ok=True)
    with closing(sqlite3.connect(half)) as db, db:
        db.executescript(files(__package__ or "").joinpath("schema.sql").read_text())
        fill(db, now)
    half.replace(path)


def done_before(model: type[ResultT]) -> Lookup:
    """Finds what a call that was cut off has done: the company notes the key together with the effect."""

    async def lookup(company: CompanyBackend, key: str) -> BaseModel | None:
        rows = company.rows("SELECT result FROM effects WHERE key = ?", key)
        return model.model_validate_json(rows[0]["result"]) if rows else None

    return lookup
