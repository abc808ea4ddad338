"""What a run has changed, or may have, in words: told wherever it ends, so that nobody does again what was done."""

from collections.abc import Sequence
from uuid import UUID

from gaby.agent.memory import CallRecord
from gaby.audit import IntentOutcome, recall_calls
from gaby.kernel.database import ReadSession
from gaby.kernel.outcomes import CallOutcome

_OUTCOMES: dict[IntentOutcome | None, CallOutcome] = {IntentOutcome.SUCCEEDED: "done", IntentOutcome.FAILED: "failed"}
_IN_WORDS: dict[CallOutcome, str] = {
    "done": "was done.",
    "failed": "failed; nothing was changed.",
    "unknown": "may have happened: look before you do it again.",
}


async def begun_changes(session: ReadSession, run_id: UUID, calls: Sequence[CallRecord] = ()) -> str:
    """Each with its outcome, by the run's record and, for what was cut off before it was recorded, by the log."""
    changes = {call.id: (call.tool, call.outcome) for call in calls if call.access == "write"}
    for call_id, each in (await recall_calls(session, run_id)).items():
        if call_id not in changes and not each.reads:
            changes[call_id] = each.tool, _OUTCOMES.get(each.outcome, "unknown")
    lines = [f"- `{tool}` {_IN_WORDS[outcome]}" for tool, outcome in changes.values() if outcome in _IN_WORDS]
    return "\n".join(("What Gaby began to change:", *lines)) if lines else ""
