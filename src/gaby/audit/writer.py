"""Appends audit rows of their own, many to one commit."""

from collections.abc import Sequence

from gaby.audit.errors import AuditUnavailable, AuditWouldWaitForItself, FenceBroken
from gaby.audit.fences import standing
from gaby.audit.rows import AuditRow, RowDraft
from gaby.audit.store import Appender
from gaby.kernel.database import Database
from gaby.kernel.database.group_commit import GroupCommit
from gaby.kernel.database.raw_sql import Connection, SqlRunner


class AuditWriter:
    def __init__(self, db: Database, appender: Appender, *, max_batch: int = 512) -> None:
        self._db = db
        self._appender = appender
        self._commits = GroupCommit[RowDraft, AuditRow](
            db,
            self._write,
            name="audit",
            unavailable=AuditUnavailable,
            nested=AuditWouldWaitForItself,
            max_batch=max_batch,
        )

    @property
    def trouble(self) -> str | None:
        return self._commits.trouble

    async def append(self, draft: RowDraft) -> AuditRow:
        """Returns when the row is on disk. `AuditUnavailable` means that it must be taken as not written."""
        return await self._commits.put(draft)

    async def stop(self) -> None:
        """Writes what is waiting, then ends."""
        await self._commits.stop()

    def _write(self, connection: Connection, drafts: Sequence[RowDraft]) -> list[AuditRow | FenceBroken]:
        """A row for each draft, in order; an error for a draft whose fence is broken."""
        holds = self._standing(connection, drafts)
        kept = [draft for draft, held in zip(drafts, holds, strict=True) if held]
        rows = iter(self._appender.append(connection, self._db.dialect, kept))
        return [next(rows) if held else FenceBroken() for held in holds]

    def _standing(self, connection: Connection, drafts: Sequence[RowDraft]) -> list[bool]:
        if not any(draft.fence for draft in drafts):
            return [True] * len(drafts)
        sql = SqlRunner(connection, self._db.dialect)
        try:
            return standing(sql, [draft.fence for draft in drafts])
        finally:
            sql.close()
