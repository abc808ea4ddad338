"""What came of the calls of a step: the records that are kept, and their lines of the timeline."""

from dataclasses import dataclass
from typing import Any
from uuid import UUID

from gaby.agent.memory import CallRecord
from gaby.agent.retry_later import may_wait, waited_too_long
from gaby.agent.run_context import InvestigationContext
from gaby.agent.transitions import TimelineStep
from gaby.kernel.outcomes import CallOutcome
from gaby.tools import Asked, Denied, Done, Failed, RetryLater, Simulated, ToolCall, ToolOutcome, Unknown
from gaby.tools.catalogue import ToolEntry

_KEPT_CHARACTERS = 200_000


@dataclass(frozen=True)
class StepCallRecords:
    """What came of the calls of one step."""

    run: InvestigationContext
    outcomes: dict[UUID, ToolOutcome]
    later: dict[UUID, RetryLater]
    missed: set[UUID]
    """Those that would have to wait for longer than the run may."""

    def note(self, call: ToolCall, outcome: ToolOutcome) -> None:
        if not isinstance(outcome, RetryLater):
            self.outcomes[call.id] = outcome
        elif may_wait(self.run.memory, self.run.persona, outcome):
            self.later[call.id] = outcome
        else:
            self.missed.add(call.id)
            self.outcomes[call.id] = waited_too_long(self.run.memory, outcome)


def record_of(call: ToolCall, number: int, outcome: ToolOutcome, entry: ToolEntry | None, rule: str = "") -> CallRecord:
    name, result, reason = _outcome_fields(outcome)
    return CallRecord(
        id=call.id,
        number=number,
        tool=call.tool,
        arguments=dict(call.arguments),
        access="write" if entry is None else entry.facts.access,
        outcome=name,
        result=result,
        reason=reason,
        rule=outcome.verdict.rule if isinstance(outcome, Denied) else rule,
        why=call.why,
        agreed=name == "done" and call.approval_id is not None,
    )


def _outcome_fields(outcome: ToolOutcome) -> tuple[CallOutcome, Any, str]:
    match outcome:
        case Done(structured=structured, text=text, shown=shown, spilled=spilled):
            whole = shown if spilled is not None else structured if structured is not None else text
            return "done", _bounded(whole, text), ""
        case Simulated(structured=structured, shown=shown, verdict=verdict):
            return "simulated", structured if structured is not None else shown, verdict.reason
        case Asked(verdict=verdict):
            return "asked", None, verdict.reason
        case Denied(verdict=verdict):
            return "denied", None, verdict.reason
        case Failed(message=message) | RetryLater(message=message):
            return "failed", None, message
        case Unknown(reason=reason):
            return "unknown", None, reason


def _bounded(result: Any, text: str) -> Any:
    return result if len(text) <= _KEPT_CHARACTERS else text[:_KEPT_CHARACTERS]


def step_of(run: InvestigationContext, record: CallRecord, outcome: ToolOutcome) -> TimelineStep:
    system, _, tool = record.tool.partition(".")
    arguments = ", ".join(f"{name}={value}" for name, value in record.arguments.items())
    if isinstance(outcome, Done):
        kind = "read" if record.access == "read" else "write"
        detail = f"{arguments} (known from a moment ago)" if outcome.cached else arguments
        return TimelineStep(system, tool, run.redact_own(detail), kind)
    word = {"simulated": "tried out", "failed": "failed", "unknown": "outcome unknown"}.get(
        record.outcome, record.outcome
    )
    return TimelineStep(system, f"{tool}: {word}", run.redact_own(f"{arguments} {record.reason}".strip()), "problem")
