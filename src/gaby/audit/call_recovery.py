"""What the log knows of the calls of one run, for whoever takes the run up again after a crash."""

from typing import Any, NamedTuple
from uuid import UUID

import orjson
from sqlalchemy import select

from gaby.audit.intents import IntentOutcome
from gaby.audit.models import AuditRowRecord
from gaby.kernel.database import ReadSession

_INTENT, _OUTCOME, _EDGE = "tool.call.intent", "tool.call.outcome", "investigation.moved"
_PAGE = 500


class RecordedCall(NamedTuple):
    """A call that was about to be made, and how it ended; None when the log does not say."""

    tool: str
    reads: bool
    """It could change nothing. Rows of older versions do not say."""
    outcome: IntentOutcome | None
    detail: dict[str, Any]


async def recall_calls(session: ReadSession, run_id: UUID) -> dict[UUID, RecordedCall]:
    """By the ids of the calls. Reads the log from its end back to the first edge of the run.

    Not by the time of day: after a clock was set back, what is newer seems older.
    """
    intents: dict[str, tuple[UUID, str, bool]] = {}
    outcomes: dict[str, dict[str, Any]] = {}
    below: int | None = None
    began = False
    while True:
        rows = await _page(session, below)
        for row in rows:
            payload = orjson.loads(row.payload)
            if row.event == _OUTCOME:
                outcomes[str(payload.get("intent"))] = payload
            elif payload.get("run_id") == str(run_id):
                if row.event == _INTENT:
                    reads = payload.get("lane") == "read"
                    intents[str(row.id)] = UUID(payload["call_id"]), str(payload["tool"]), reads
                began |= row.event == _EDGE and payload.get("n") == 1
        if len(rows) < _PAGE or began:
            # The newest comes first here, and of several tries the newest tells how it stands.
            newest_first = reversed(intents.items())
            return {
                call: _recalled(tool, outcomes.get(intent), reads=reads) for intent, (call, tool, reads) in newest_first
            }
        below = rows[-1].seq


async def _page(session: ReadSession, below: int | None) -> list[AuditRowRecord]:
    query = select(AuditRowRecord).where(AuditRowRecord.workspace_id == session.workspace_id)
    if below is not None:
        query = query.where(AuditRowRecord.seq < below)
    return list((await session.scalars(query.order_by(AuditRowRecord.seq.desc()).limit(_PAGE))).all())


def _recalled(tool: str, outcome: dict[str, Any] | None, *, reads: bool) -> RecordedCall:
    if outcome is None:
        return RecordedCall(tool, reads, None, {})
    return RecordedCall(tool, reads, IntentOutcome(outcome["outcome"]), dict(outcome.get("detail") or {}))
