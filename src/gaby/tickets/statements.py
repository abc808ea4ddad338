"""What an investigation writes to tickets, as statements for the transaction of its own transition."""

from datetime import datetime
from typing import NamedTuple
from uuid import UUID

from gaby.kernel.database.raw_sql import SqlStatement
from gaby.kernel.ids import WorkspaceId

_POSTING = (
    "INSERT INTO postings (workspace_id, id, run_id, ticket_id, kind, state, marker, content, shown, created_at, "
    "tries) VALUES (?, ?, ?, ?, ?, 'due', ?, ?, ?, ?, 0)"
)
_LONGEST_SHOWN = 20_000


class NewPosting(NamedTuple):
    kind: str
    marker: str
    sealed: bytes
    """What is sent."""
    shown: str
    """The same without personal data, for the timeline."""


def set_status(workspace_id: WorkspaceId, ticket_id: UUID, status: str) -> SqlStatement:
    return SqlStatement(
        "UPDATE tickets SET status = ? WHERE workspace_id = ? AND id = ?", (status, workspace_id.hex, ticket_id.hex)
    )


def set_investigating(workspace_id: WorkspaceId, ticket_id: UUID, priority: str) -> SqlStatement:
    return SqlStatement(
        "UPDATE tickets SET status = 'investigating', priority = ? WHERE workspace_id = ? AND id = ?",
        (priority, workspace_id.hex, ticket_id.hex),
    )


def set_queued_with(workspace_id: WorkspaceId, ticket_id: UUID, run_id: UUID) -> SqlStatement:
    """Queued again, if the investigation that is to follow was really begun."""
    place = workspace_id.hex
    return SqlStatement(
        "UPDATE tickets SET status = 'queued' WHERE workspace_id = ? AND id = ? AND EXISTS "
        "(SELECT 1 FROM investigations WHERE workspace_id = ? AND id = ?)",
        (place, ticket_id.hex, place, run_id.hex),
    )


def insert_posting(
    workspace_id: WorkspaceId,
    posting_id: UUID,
    posting: NewPosting,
    *,
    run_id: UUID,
    ticket_id: UUID,
    at: datetime,
) -> SqlStatement:
    place = (workspace_id.hex, posting_id.hex, run_id.hex, ticket_id.hex)
    shown = posting.shown[:_LONGEST_SHOWN]
    return SqlStatement(_POSTING, (*place, posting.kind, posting.marker, posting.sealed, shown, at))
