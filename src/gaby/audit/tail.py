"""The tail for a SIEM: every row after a cursor, each at least once, however often one side restarts."""

import asyncio
import os
from collections.abc import AsyncGenerator, Mapping
from pathlib import Path
from uuid import UUID

import httpx2
from pydantic import RootModel

from gaby.audit.canonical import canonical
from gaby.audit.formats import json_line
from gaby.audit.line_reader import parse
from gaby.audit.rows import AuditRow
from gaby.audit.signing_key import sync_folder
from gaby.audit.source import snapshot
from gaby.audit.statements import Size, understand
from gaby.kernel.database import Database
from gaby.kernel.ids import WorkspaceId
from gaby.kernel.log import get_log

BATCH = 500
_LONGEST_WAIT = 60.0

_log = get_log(__name__)


class TailCursor(RootModel[dict[UUID, Size]], frozen=True):
    """How many rows of each workspace were delivered. Workspaces have no common order, so each counts for itself."""

    def after(self, rows: list[AuditRow]) -> "TailCursor":
        return TailCursor(self.root | {row.workspace_id: row.seq + 1 for row in rows})


START = TailCursor({})


class CursorFile:
    """A cursor that survives restarts. Replaced whole, so a crash leaves the old or the new one."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def load(self) -> TailCursor:
        return understand(TailCursor, parse(self._path.read_bytes())) if self._path.exists() else START

    def save(self, cursor: TailCursor) -> None:
        draft = self._path.with_name(self._path.name + ".tmp")
        with draft.open("wb") as file:
            file.write(canonical(cursor.model_dump(mode="json")))
            file.flush()
            os.fsync(file.fileno())
        draft.replace(self._path)
        sync_folder(self._path.parent)


async def follow(
    db: Database, cursor: TailCursor = START, *, only: WorkspaceId | None = None, poll: float = 1.0
) -> AsyncGenerator[tuple[list[AuditRow], TailCursor]]:
    """Batches of rows, and the cursor to keep once a batch is delivered. Never ends by itself."""
    while True:
        rows = await asyncio.to_thread(rows_after, db, cursor, only)
        if rows:
            cursor = cursor.after(rows)
            yield rows, cursor
        else:
            await asyncio.sleep(poll)


def rows_after(db: Database, cursor: TailCursor, only: WorkspaceId | None = None) -> list[AuditRow]:
    """The next rows in the order of each workspace, at most `BATCH`. Empty when all were delivered."""
    rows: list[AuditRow] = []
    with snapshot(db) as source:
        for log in sorted(source.sizes(), key=lambda log: log.workspace_id):
            delivered = cursor.root.get(log.workspace_id, 0)
            if only in {None, log.workspace_id} and delivered < log.size and len(rows) < BATCH:
                limit = BATCH - len(rows)
                rows += source.some_rows(log.workspace_id, after=delivered - 1, limit=limit)
    return rows


class WebhookSink:
    """Posts rows as JSON lines. The cursor moves on only after the other side said 2xx."""

    def __init__(
        self,
        url: str,
        client: httpx2.AsyncClient,
        cursor_file: CursorFile,
        *,
        headers: Mapping[str, str] | None = None,
        first_wait: float = 1.0,
    ) -> None:
        self._url = url
        self._client = client
        self._cursor_file = cursor_file
        self._first_wait = first_wait
        self._headers = {"Content-Type": "application/x-ndjson", **(headers or {})}

    async def run(self, db: Database, *, only: WorkspaceId | None = None, poll: float = 1.0) -> None:
        """Until cancelled. Only one process may run it with the same cursor file."""
        async for rows, cursor in follow(db, self._cursor_file.load(), only=only, poll=poll):
            await self._deliver(b"".join(map(json_line, rows)))
            await asyncio.to_thread(self._cursor_file.save, cursor)

    async def _deliver(self, body: bytes) -> None:
        wait = self._first_wait
        while True:
            try:
                answer = await self._client.post(self._url, content=body, headers=self._headers, timeout=30)
                answer.raise_for_status()
            except httpx2.HTTPError as error:
                _log.warning("audit.delivery_failed", again_in=wait, error=repr(error))
                await asyncio.sleep(wait)
                wait = min(wait * 2, _LONGEST_WAIT)
            else:
                return
