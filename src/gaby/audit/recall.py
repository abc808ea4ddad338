"""What the log knows of the calls of one run, for whoever takes the run up again after a crash."""

from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

import orjson
from sqlalchemy import select

from gaby.audit.intents import Outcome
from gaby.audit.models import AuditRowRecord
from gaby.audit.rows import timestamp
from gaby.kernel.database import ReadSession

_INTENT, _OUTCOME = "tool.call.intent", "tool.call.outcome"
_PAGE = 500


class Recalled(NamedTuple):
    """A call that was about to be made, and how it ended; None when the log does not say."""

    tool: str
    outcome: Outcome | None
    detail: dict[str, Any]


async def recall_calls(session: ReadSession, run_id: UUID, since: datetime) -> dict[UUID, Recalled]:
    """By the ids of the calls. Reads the log from its end back to `since`."""
    intents: dict[str, tuple[UUID, str]] = {}
    outcomes: dict[str, dict[str, Any]] = {}
    below: int | None = None
    oldest = timestamp(since)
    while True:
        rows = await _page(session, below)
        for row in rows:
            payload = orjson.loads(row.payload)
            if row.event == _OUTCOME:
                outcomes[str(payload.get("intent"))] = payload
            elif row.event == _INTENT and payload.get("run_id") == str(run_id):
                intents[str(row.id)] = UUID(payload["call_id"]), str(payload["tool"])
        if len(rows) < _PAGE or rows[-1].ts < oldest:
            # The newest comes first here, and of several tries the newest tells how it stands.
            told = reversed(intents.items())
            return {call: _recalled(tool, outcomes.get(intent)) for intent, (call, tool) in told}
        below = rows[-1].seq


async def _page(session: ReadSession, below: int | None) -> list[AuditRowRecord]:
    query = select(AuditRowRecord).where(AuditRowRecord.workspace_id == session.workspace_id)
    if below is not None:
        query = query.where(AuditRowRecord.seq < below)
    return list((await session.scalars(query.order_by(AuditRowRecord.seq.desc()).limit(_PAGE))).all())


def _recalled(tool: str, told: dict[str, Any] | None) -> Recalled:
    if told is None:
        return Recalled(tool, None, {})
    return Recalled(tool, Outcome(told["outcome"]), dict(told.get("detail") or {}))
