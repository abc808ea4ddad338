"""The effect itself: intent on disk, the connector called, outcome on disk. The only place that calls a connector."""

import asyncio
import secrets
from typing import Any

from gaby.audit import AuditLog, Intent
from gaby.kernel.ids import ApprovalId
from gaby.kernel.text_work import run_text_work
from gaby.mcp import ConnectorError, McpHost, OutcomeUnknown, ToolCallResult
from gaby.mcp.calls import call as call_connector
from gaby.safety import canonical_json
from gaby.tools import epochs
from gaby.tools.admission import failure_of
from gaby.tools.decided_calls import DecidedCall
from gaby.tools.redacted_view import shown_arguments
from gaby.tools.runs import Failed, RetryLater, Run, Unknown
from gaby_connectors.sdk.manifest import ErrorKind, ToolErrorDetail

_ATTEMPTS = 3
_FIRST_PAUSE = 0.1
_SHOWN_RESULT = 2000
_USUAL_WAIT = 30.0
"""Seconds, where a system that gets too many requests does not say how long to wait."""


class EffectRunner:
    def __init__(self, audit: AuditLog, host: McpHost) -> None:
        self._audit = audit
        self._host = host

    async def perform(
        self, decided: DecidedCall, run: Run, *, rehearsal: bool
    ) -> ToolCallResult | Failed | RetryLater | Unknown:
        """Raises `FenceBroken` when the policy changed since the decision; then nothing was done."""
        event = "tool.rehearsal" if rehearsal else "tool.call"
        fence = epochs.fence(run.workspace_id, decided.snapshot.epoch, run.fence)
        try:
            size = len(canonical_json(decided.arguments))
            payload = await run_text_work(size, _payload, decided, run)
            changes = decided.entry.facts.access == "write" and not rehearsal
            async with self._audit.effect(run.actor, event, payload, fence=fence, changes=changes) as intent:
                outcome = await self._call(decided, run, intent, rehearsal=rehearsal)
        except ConnectorError as error:
            return failure_of(error)
        return _passing(outcome, decided, rehearsal=rehearsal) or outcome

    async def _call(
        self, decided: DecidedCall, run: Run, intent: Intent, *, rehearsal: bool
    ) -> ToolCallResult | Failed | Unknown:
        facts = decided.entry.facts
        repeatable = rehearsal or facts.access == "read" or facts.manifest.idempotent
        arguments = {**decided.arguments, **_own_arguments(decided, rehearsal=rehearsal)}
        for attempt in range(_ATTEMPTS):
            key = decided.entry.connector.key
            outcome = await call_connector(self._host, key, facts.name, arguments, repeatable=repeatable)
            if isinstance(outcome, OutcomeUnknown):
                # Saying nothing to the intent leaves its outcome unknown, which is the truth.
                return Unknown(outcome.reason)
            if not (repeatable and _may_pass(outcome)) or attempt == _ATTEMPTS - 1:
                return _judge(outcome, run, intent)
            await asyncio.sleep(_pause(attempt, outcome.error))
        raise AssertionError  # pragma: no cover


def _payload(decided: DecidedCall, run: Run) -> dict[str, Any]:
    facts = decided.entry.facts
    call = decided.call
    payload: dict[str, Any] = {
        "call_id": str(call.id),
        "run_id": str(run.id),
        "tool": facts.full_name,
        "lane": facts.access,
        "definition": facts.fingerprint,
        "policy": decided.entry.connector.version,
        "rule": decided.verdict.rule,
        "arguments": shown_arguments(decided.arguments, run),
    }
    if call.why:
        payload["why"] = run.redactor.redact(call.why, run.placeholders).text
    if call.approval_id is not None:
        payload["approval_id"] = str(ApprovalId(call.approval_id))
    return payload


def _own_arguments(decided: DecidedCall, *, rehearsal: bool) -> dict[str, Any]:
    """What Gaby adds by itself, where the tool takes it."""
    takes = decided.entry.definition.input_schema.get("properties", {})
    own: dict[str, Any] = {"idempotency_key": str(decided.call.id), "dry_run": rehearsal}
    return {name: value for name, value in own.items() if name in takes and decided.entry.facts.access == "write"}


def _judge(answer: ToolCallResult, run: Run, intent: Intent) -> ToolCallResult | Failed | Unknown:
    if not answer.is_error:
        intent.succeeded({"size": answer.size})
        return answer
    detail = answer.error or ToolErrorDetail(kind=ErrorKind.PERMANENT, message=answer.text[:_SHOWN_RESULT])
    message = run.redactor.redact(detail.message, run.placeholders, from_outside=True).text
    if detail.outcome == "unknown":
        return Unknown(message)
    intent.failed({"kind": detail.kind, "message": message[:_SHOWN_RESULT]})
    return Failed(detail.kind, message, detail.retry_after)


def _passing(outcome: ToolCallResult | Failed | Unknown, decided: DecidedCall, *, rehearsal: bool) -> RetryLater | None:
    """Whether the system asks to be called later, and it is certain that it has done nothing."""
    if not isinstance(outcome, Failed):
        return None
    facts = decided.entry.facts
    if outcome.kind is ErrorKind.RATE_LIMITED:
        # A request that was turned away for its rate was not carried out, so this holds for changes too.
        seconds = _USUAL_WAIT if outcome.retry_after is None else outcome.retry_after
        return RetryLater(
            "connector.rate_limited", f"{facts.connector} gets too many requests.", seconds, facts.connector
        )
    harmless = rehearsal or facts.access == "read"
    if harmless and outcome.kind is ErrorKind.TRANSIENT and outcome.retry_after is not None:
        reason = f"{facts.connector} asks to be called later."
        return RetryLater("connector.busy", reason, outcome.retry_after, facts.connector)
    return None


def _may_pass(answer: ToolCallResult) -> bool:
    return answer.is_error and answer.error is not None and answer.error.kind is ErrorKind.TRANSIENT


def _pause(attempt: int, error: ToolErrorDetail | None) -> float:
    """Longer each time, never in step with others who wait for the same system."""
    seconds = error.retry_after if error is not None and error.retry_after is not None else 0.0
    wait = _FIRST_PAUSE * 2**attempt * (1 + secrets.randbelow(1000) / 1000)
    return max(wait, min(seconds, 2.0))
