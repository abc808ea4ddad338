"""The tool step: calls through the one path, reads side by side, writes one after the other, each done once."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from uuid import UUID

from gaby.agent.call_records import StepCallRecords, record_of, step_of
from gaby.agent.detector import notice
from gaby.agent.memory import CallRecord, MemoryDelta
from gaby.agent.retry_later import WAITED_TOO_LONG, outage_seconds, wait_seconds, wait_step
from gaby.agent.run_context import InvestigationContext, NextTransition
from gaby.agent.states import Acting, SafetyCheck, WaitingApproval
from gaby.agent.transitions import TimelineStep
from gaby.audit import IntentOutcome, RecordedCall, recall_calls
from gaby.kernel.clock import Clock
from gaby.kernel.database import Database
from gaby.kernel.database.raw_sql import SqlStatement
from gaby.kernel.failpoints import failpoint_async
from gaby.kernel.ids import ApprovalId
from gaby.safety import Verdict
from gaby.tools import Asked, Denied, Done, RetryLater, ToolCall, ToolOutcome, Tools, Unknown
from gaby.tools.catalogue import ToolEntry
from gaby.tools.errors import ToolUnknown
from gaby.tools.models import Approval

_AT_ONCE = 4
_APPROVED_FOR = timedelta(minutes=10)
"""How long after a rest an approval holds at least, since the run may not be taken up at once."""
_LOST = "It was done before Gaby was interrupted; what it answered was not kept."
_UNKNOWN = "Gaby was interrupted in the middle of it, and nobody can say whether it happened."


class ToolStep:
    """What the loop uses to check calls, to ask for consent, and to act."""

    def __init__(self, database: Database, clock: Clock, tools: Tools) -> None:
        self._database = database
        self._clock = clock
        self._tools = tools

    async def check(self, run: InvestigationContext, state: SafetyCheck) -> NextTransition:
        """What is allowed is done; what needs consent is asked for when nothing else is left; the rest is denied."""
        verdicts = [(call, await self._verdict(run, call)) for call in state.calls]
        stopped = next((verdict for _, verdict in verdicts if verdict.rule.startswith("kill_switch")), None)
        if stopped is not None:
            return NextTransition(
                state.halted(stopped.reason), (TimelineStep("safety", "Stopped", stopped.reason, "problem"),)
            )
        allowed = [call for call, verdict in verdicts if verdict.outcome in {"allow", "simulate", "wait"}]
        asked = [call for call, verdict in verdicts if verdict.outcome == "ask"]
        refused = [(call, verdict) for call, verdict in verdicts if verdict.outcome == "deny"]
        delta = MemoryDelta(calls=await self._denied(run, refused))
        steps = tuple(
            TimelineStep("safety", f"Denied {call.tool}", run.redact_own(verdict.reason), "problem")
            for call, verdict in refused
        )
        reads = await self._reads(run, allowed)
        if asked and not reads:
            return await self._ask(run, state, asked, steps, delta, allowed=allowed)
        if allowed:
            tool_names = ", ".join(dict.fromkeys(call.tool for call in allowed))
            # After a rest the timeline has told so already.
            said = () if state.waited_for else (TimelineStep("safety", "Allowed", tool_names),)
            return NextTransition(state.allowed(tuple(allowed)), (*steps, *said), delta)
        # Whoever plans the same again and again without ever being allowed to act goes round in circles as well.
        noticed = notice([*run.memory.calls, *delta.calls], run.memory.nudges, run.memory.withdrawn)
        delta = delta.model_copy(update={"nudges": noticed.nudges, "withdrawn": noticed.withdraw})
        if noticed.enough is not None:
            return NextTransition(
                state.verdict_ready(noticed.enough), (*steps, TimelineStep("gaby", "Stops", noticed.enough)), delta
            )
        return NextTransition(state.denied(), steps, delta)

    async def check_answers(self, run: InvestigationContext, state: WaitingApproval) -> NextTransition | None:
        """None while somebody has yet to answer."""
        answers = await self._answers(run)
        now = self._clock.now()
        waiting = [a for a in answers.values() if a.state == "waiting" and a.expires_at > now]
        asked = {call.approval_id for call in state.calls}
        if open_until := [a.expires_at for a in waiting if a.id in asked]:
            # Taken up before its time.
            return NextTransition(state.still_waiting(), (), rest_until=min(open_until), also=(self._wake(run),))
        agreed = [
            call for call in state.calls if call.approval_id is None or _state(answers, call) in {"approved", "used"}
        ]
        turned_down = [call for call in state.calls if call not in agreed]
        agreed = [await self._as_approved(run, answers, call) for call in agreed]
        verdicts = [(call, _as_verdict(answers.get(call.approval_id or UUID(int=0)))) for call in turned_down]
        steps = tuple(
            TimelineStep(
                "approvals",
                f"{verdict.rule.partition('.')[2].capitalize()}: {call.tool}",
                run.redact_own(verdict.reason),
                "approval",
            )
            for call, verdict in verdicts
        )
        delta = MemoryDelta(calls=await self._denied(run, verdicts))
        if not agreed:
            return NextTransition(state.turned_down(), steps, delta)
        who = tuple(
            TimelineStep("approvals", f"Approved: {call.tool}", f"by {_decided_by(answers, call)}", "approval")
            for call in agreed
            if call.approval_id is not None
        )
        return NextTransition(state.approved(tuple(agreed)), (*steps, *who), delta)

    async def _as_approved(self, run: InvestigationContext, answers: dict[UUID, Approval], call: ToolCall) -> ToolCall:
        """With the arguments that a person has put in, so that what is told of it is what was done."""
        approval = answers.get(call.approval_id) if call.approval_id is not None else None
        if approval is None or not approval.modified:
            return call
        async with self._database.read(run.workspace_id) as session:
            sealed = await self._tools.approvals.call_of(session, approval)
        return replace(call, arguments=sealed.arguments)

    async def act(self, run: InvestigationContext, state: Acting) -> NextTransition:
        if state.rests_until is not None:
            # An edge of its own: whoever finds a run that rests knows, without the log, that nothing was tried since.
            # One that is taken up before its time finds out by trying, and rests again: the clock may have been set.
            return NextTransition(state.rested(), ())
        entries = await self._entries(run)
        known = await self._recall(run) if run.fresh else {}
        reads = [call for call in state.calls if _access(entries, call) == "read"]
        writes = [call for call in state.calls if _access(entries, call) == "write"]
        limit = asyncio.Semaphore(_AT_ONCE)

        async def read(call: ToolCall) -> ToolOutcome:
            async with limit:
                return await self._invoke(run, call)

        tried = StepCallRecords(run, dict[UUID, ToolOutcome](), dict[UUID, RetryLater](), set[UUID]())
        for call, outcome in zip(reads, await asyncio.gather(*map(read, reads)), strict=True):
            tried.note(call, outcome)
        for call in writes:
            # What was planned after a call that has to wait may rest on it, so it waits as well.
            if not tried.later:
                await failpoint_async("act.before_write")
                tried.note(call, await self._write(run, call, entries.get(call.tool), known.get(call.id)))
                await failpoint_async("act.after_write")
        first, outcomes = len(run.memory.calls) + 1, tried.outcomes
        completed = [call for call in state.calls if call.id in outcomes]
        records = tuple(
            record_of(
                call, number, outcomes[call.id], entries.get(call.tool), WAITED_TOO_LONG * (call.id in tried.missed)
            )
            for number, call in enumerate(completed, first)
        )
        steps = tuple(step_of(run, record, outcomes[record.id]) for record in records)
        delta = MemoryDelta(calls=records)
        if not tried.later:
            return NextTransition(state.acted(), steps, delta)
        left = tuple(call for call in state.calls if call.id not in outcomes)
        return await self._put_off(run, state, left, tuple(tried.later.values()), steps, delta)

    async def _put_off(
        self,
        run: InvestigationContext,
        state: Acting,
        left: tuple[ToolCall, ...],
        later: Sequence[RetryLater],
        steps: tuple[TimelineStep, ...],
        delta: MemoryDelta,
    ) -> NextTransition:
        """What was made is recorded; the rest is made when the limits have passed, and holds no worker until then."""
        seconds = wait_seconds(later)
        until = self._clock.now() + timedelta(seconds=seconds)
        await self._keep_approvals(run, left, until + _APPROVED_FOR)
        await failpoint_async("act.put_off")
        waits_for = ", ".join(dict.fromkeys(f"{each.connector}: {each.rule}" for each in later))
        step = wait_step(later, until)
        said = () if waits_for == state.waited_for else (step._replace(detail=run.redact_own(step.detail)),)
        outage = outage_seconds(later)
        delta = delta.model_copy(update={"waited": float(seconds), "outage": outage})
        return NextTransition(state.put_off(left, waits_for, until), (*steps, *said), delta, rest_until=until)

    async def _keep_approvals(self, run: InvestigationContext, calls: Sequence[ToolCall], until: datetime) -> None:
        """What a person has agreed to in time does not expire because Gaby itself has to wait."""
        entries = await self._entries(run)
        for call in calls:
            if call.approval_id is not None and (entry := entries.get(call.tool)) is not None:
                async with self._database.write(run.workspace_id) as session:
                    approval_id = ApprovalId(call.approval_id)
                    await self._tools.approvals.prolong(session, entry, run.tools, approval_id, until)

    async def _reads(self, run: InvestigationContext, calls: Sequence[ToolCall]) -> bool:
        """What is only looked at is looked at first: it may change what is asked for."""
        entries = await self._entries(run) if calls else {}
        return any(_access(entries, call) == "read" for call in calls)

    async def _verdict(self, run: InvestigationContext, call: ToolCall) -> Verdict:
        try:
            return await self._tools.invoker.explain(call, run.tools)
        except ToolUnknown as error:
            return Verdict("deny", "tool.unknown", error.message)

    async def _ask(
        self,
        run: InvestigationContext,
        state: SafetyCheck,
        calls: Sequence[ToolCall],
        steps: tuple[TimelineStep, ...],
        delta: MemoryDelta,
        *,
        allowed: Sequence[ToolCall],
    ) -> NextTransition:
        """One question for all of a step. Changes of the step that need no consent wait for the others."""
        pending: list[ToolCall] = []
        done: list[CallRecord] = list(delta.calls)
        for call in calls:
            # The first call's id names the step: after a crash it is the same.
            outcome = await self._invoke(run, call, step_id=calls[0].id)
            if isinstance(outcome, Asked):
                pending.append(replace(call, approval_id=outcome.approval_id))
            elif isinstance(outcome, RetryLater):
                # It needs no consent any more, and waits with those that never did.
                allowed = (*allowed, call)
            else:
                # The policy changed between the two looks.
                entries = await self._entries(run)
                number = len(run.memory.calls) + len(done) + 1
                done.append(record_of(call, number, outcome, entries.get(call.tool)))
        delta = MemoryDelta(calls=tuple(done))
        if not pending:
            decided_anew = (*steps, TimelineStep("safety", "Decided anew"))
            return NextTransition(state.allowed(tuple(allowed)) if allowed else state.denied(), decided_anew, delta)
        answers = await self._answers(run)
        until = min(answers[call.approval_id].expires_at for call in pending if call.approval_id is not None)
        asked = tuple(
            TimelineStep("approvals", f"Asks for consent: {call.tool}", run.redact_own(call.why), "approval")
            for call in pending
        )
        known = {call.id: call for call in (*pending, *allowed)}
        waiting = state.ask(tuple(known[call.id] for call in state.calls if call.id in known), until)
        return NextTransition(waiting, (*steps, *asked), delta, rest_until=until, also=(self._wake(run),))

    def _wake(self, run: InvestigationContext) -> SqlStatement:
        """Whoever answered while this was thought of could not wake it, so it wakes itself, in the same transaction."""
        place, run_id = run.workspace_id.hex, run.run_id.hex
        return SqlStatement(
            "UPDATE investigations SET wake_at = ? WHERE workspace_id = ? AND id = ? AND NOT EXISTS (SELECT 1 FROM "
            "approvals WHERE workspace_id = ? AND run_id = ? AND state = 'waiting')",
            (self._clock.now(), place, run_id, place, run_id),
        )

    async def _denied(
        self, run: InvestigationContext, refused: Sequence[tuple[ToolCall, Verdict]]
    ) -> tuple[CallRecord, ...]:
        entries = await self._entries(run)
        first = len(run.memory.calls) + 1
        return tuple(
            record_of(call, number, Denied(verdict), entries.get(call.tool))
            for number, (call, verdict) in enumerate(refused, first)
        )

    async def _write(
        self, run: InvestigationContext, call: ToolCall, entry: ToolEntry | None, before: RecordedCall | None
    ) -> ToolOutcome:
        """Once. After a crash the log tells whether it had begun, and how it ended."""
        if before is None:
            return await self._invoke(run, call)
        if before.outcome is IntentOutcome.SUCCEEDED:
            # What it brought is lost, so there is nothing in it that anybody could be told.
            run.tools.entered.add(call.id)
            return Done(Verdict("allow", "recovered", _LOST), {"note": _LOST}, {"note": _LOST}, _LOST)
        if before.outcome is IntentOutcome.FAILED:
            # It says that it was not done, so doing it now is the first time.
            return await self._invoke(run, call)
        if entry is not None and entry.facts.manifest.idempotent and before.outcome is None:
            return await self._invoke(run, call)
        run.tools.entered.add(call.id)
        return Unknown(_UNKNOWN)

    async def _invoke(self, run: InvestigationContext, call: ToolCall, step_id: UUID | None = None) -> ToolOutcome:
        try:
            return await self._tools.invoker.invoke(replace(call, resumed=run.fresh, step_id=step_id), run.tools)
        except ToolUnknown as error:
            return Denied(Verdict("deny", "tool.unknown", error.message))

    async def _recall(self, run: InvestigationContext) -> dict[UUID, RecordedCall]:
        async with self._database.read(run.workspace_id) as session:
            return await recall_calls(session, run.run_id)

    async def _answers(self, run: InvestigationContext) -> dict[UUID, Approval]:
        async with self._database.read(run.workspace_id) as session:
            return {row.id: row for row in await self._tools.approvals.of_run(session, run.run_id)}

    async def _entries(self, run: InvestigationContext) -> dict[str, ToolEntry]:
        return dict((await self._tools.catalogue.snapshot(run.workspace_id)).tools)


def _access(entries: dict[str, ToolEntry], call: ToolCall) -> str:
    entry = entries.get(call.tool)
    return "write" if entry is None else entry.facts.access


def _state(answers: dict[UUID, Approval], call: ToolCall) -> str | None:
    answer = answers.get(call.approval_id) if call.approval_id is not None else None
    return answer.state if answer is not None else None


def _decided_by(answers: dict[UUID, Approval], call: ToolCall) -> str:
    answer = answers.get(call.approval_id) if call.approval_id is not None else None
    return answer.decided_by or "somebody" if answer is not None else "somebody"


def _as_verdict(approval: Approval | None) -> Verdict:
    if approval is None:
        return Verdict("deny", "approval.missing", "The question is gone.")
    match approval.state:
        case "refused":
            return Verdict(
                "deny", "approval.refused", f"{approval.decided_by} refused: {approval.answer or ''}".strip()
            )
        case "escalated":
            reason = f"{approval.decided_by} passed it on: {approval.answer or ''}".strip()
            return Verdict("deny", "approval.escalated", reason)
        case _:
            return Verdict("deny", "approval.expired", "Nobody answered in time.")
