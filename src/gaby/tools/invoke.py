"""The one path to a tool: gather the facts, decide, record the intent, act, record the outcome, label the result."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeAlias
from uuid import UUID

from gaby.audit import AuditLog, FenceBroken
from gaby.kernel.actors import Actor, system_actor
from gaby.kernel.clock import Clock
from gaby.kernel.database import Database
from gaby.kernel.errors import Conflict, GabyError
from gaby.kernel.log import get_log
from gaby.kernel.metrics import Metrics
from gaby.kernel.text_work import run_text_work
from gaby.mcp import ConnectorError, McpHost, ToolCallResult
from gaby.safety import (
    Concern,
    Reader,
    Verdict,
    ask,
    canonical_json,
    digest,
    readable_part,
)
from gaby.safety.decide import decide
from gaby.tools.admission import Admission, AdmittedCall, ConnectorNotReady, failure_of
from gaby.tools.approvals import Approvals, RehearsalPreview, as_fact, shown_question
from gaby.tools.cache import CacheKey, ResultCache, cache_key
from gaby.tools.catalogue import Catalogue, ToolEntry
from gaby.tools.connectors import Connectors
from gaby.tools.decided_calls import DecidedCall
from gaby.tools.effects import EffectRunner
from gaby.tools.gather import Circumstances, change_key, gather
from gaby.tools.launches import Launcher
from gaby.tools.ledger_results import learn_outcome, result_context
from gaby.tools.models import Approval
from gaby.tools.rates import RateLimiter
from gaby.tools.redacted_view import real_arguments, shown_result
from gaby.tools.runs import (
    Asked,
    Denied,
    Done,
    Failed,
    RetryLater,
    Run,
    Simulated,
    ToolCall,
    ToolOutcome,
    Unknown,
)
from gaby.tools.tokens import OAuthGrant
from gaby_connectors.sdk.manifest import ErrorKind

_log = get_log(__name__)
_TRIES = 5
_TARGET_CHANGED = Verdict(
    "deny", "approval.target_changed", "What the call would do is no longer what was shown for approval. Ask again."
)

_Performed: TypeAlias = ToolCallResult | Failed | RetryLater | Unknown | Denied


class _ApprovalUsed(FenceBroken):
    """Nothing was done, and the approval counts as used by this very call."""


@dataclass(frozen=True)
class InvokerDependencies:
    database: Database
    audit: AuditLog
    clock: Clock
    metrics: Metrics
    host: McpHost
    catalogue: Catalogue
    launcher: Launcher
    connectors: Connectors
    approvals: Approvals
    cache: ResultCache
    rates: RateLimiter


class Invoker:
    def __init__(self, dependencies: InvokerDependencies) -> None:
        self._dependencies = dependencies
        self._effects = EffectRunner(dependencies.audit, dependencies.host)
        self._admission = Admission(
            dependencies.database,
            dependencies.metrics,
            dependencies.host,
            dependencies.launcher,
            dependencies.connectors,
            dependencies.rates,
        )

    async def explain(self, call: ToolCall, run: Run) -> Verdict:
        """The verdict on a call, without acting."""
        decided, _ = await self._decide_now(call, run)
        return decided.verdict

    async def invoke(self, call: ToolCall, run: Run) -> ToolOutcome:
        for _ in range(_TRIES):
            decided, approval = await self._decide_now(call, run)
            try:
                outcome = await self._carry_out(decided, run, approval)
            except FenceBroken as error:
                # Somebody changed the policy after the decision and before the intent; it is decided anew. Without an
                # intent nothing was done, so an approval that this call has used by itself still counts.
                self._dependencies.catalogue.forget(run.workspace_id)
                call = replace(call, resumed=call.resumed or isinstance(error, _ApprovalUsed))
                continue
            if isinstance(outcome, Failed | Unknown):
                message = outcome.message if isinstance(outcome, Failed) else outcome.reason
                learn_outcome(decided.entry, decided.arguments, run, None, message, vouches=False)
            if isinstance(outcome, RetryLater):
                self._admission.count(outcome, run)
                if approval is not None and _holds(decided.call, approval):
                    await self._put_back(run, approval)
                return outcome
            run.entered.add(call.id)
            return outcome
        raise Conflict("The policy changes faster than calls can be decided. Nothing was done; try again.")

    async def _put_back(self, run: Run, approval: Approval) -> None:
        """Nothing was done, so an approval that this call itself has taken is not used up. One that somebody else has
        used meanwhile stays used, or the same would be done twice."""
        async with self._dependencies.database.write(run.workspace_id) as session:
            await self._dependencies.approvals.put_back(session, run.actor, approval.typed_id)

    async def _decide_now(self, call: ToolCall, run: Run) -> tuple[DecidedCall, Approval | None]:
        """What is allowed stands behind a fence. Before anything is refused or asked, the policy is looked at again: an
        approval that was asked for under an old one could never be used."""
        decided, approval = await self._decide(call, run)
        if (
            decided.verdict.outcome == "allow"
            or await self._dependencies.catalogue.fresh(run.workspace_id) is decided.snapshot
        ):
            return decided, approval
        return await self._decide(call, run)

    async def _decide(self, call: ToolCall, run: Run) -> tuple[DecidedCall, Approval | None]:
        dependencies = self._dependencies
        approval: Approval | None = None
        arguments = real_arguments(call.arguments, run)
        if call.approval_id is not None:
            async with dependencies.database.read(run.workspace_id) as session:
                approval = await dependencies.approvals.get(session, call.approval_id)
                sealed = await dependencies.approvals.call_of(session, approval)
            call = replace(call, tool=f"{approval.connector}.{approval.tool}", id=sealed.id)
            arguments = sealed.arguments
        snapshot = await dependencies.catalogue.snapshot(run.workspace_id)
        entry = snapshot.tool(call.tool)
        around = Circumstances(
            now=dependencies.clock.now(),
            calls_last_minute=self._admission.last_minute(entry, run),
            seconds_until_free=self._admission.seconds_until_free(entry, run, call.id),
            approval=as_fact(approval, call) if approval is not None else None,
            rehearsal_wanted=call.rehearse,
            composed_by=call.composed_by,
        )
        facts = await run_text_work(_size(arguments), gather, entry, arguments, run, around)
        verdict = decide(facts, entry.connector.policy)
        if verdict.outcome == "ask" and await self._agreed_before(entry, run):
            verdict = decide(replace(facts, approved_before=True), entry.connector.policy)
        unanswered = approval is None and verdict.outcome in {"allow", "wait", "ask"}
        if call.consent and unanswered and entry.facts.access == "write":
            # Whatever else is asked about, the person reads what the runbook wants of them.
            wanted = Concern("consent.wanted", call.consent)
            verdict = ask([wanted, *verdict.concerns], rehearse=entry.facts.can_rehearse)
        return DecidedCall(snapshot, entry, call, arguments, verdict, facts.traces), approval

    async def _agreed_before(self, entry: ToolEntry, run: Run) -> bool:
        async with self._dependencies.database.read(run.workspace_id) as session:
            return await self._dependencies.approvals.was_agreed(session, entry)

    async def _carry_out(self, decided: DecidedCall, run: Run, approval: Approval | None) -> ToolOutcome:
        match decided.verdict.outcome:
            case "deny":
                return await self._deny(decided, run, decided.verdict)
            case "ask":
                return await self._ask(decided, run)
            case "simulate":
                return await self._simulate(decided, run)
            case "wait":
                # What is known already needs no call.
                return await self._cached(decided, run) or self._admission.put_off(decided, run)
            case "allow":
                return await self._act(decided, run, approval)

    async def _deny(self, decided: DecidedCall, run: Run, verdict: Verdict) -> Denied:
        payload = {"tool": decided.entry.facts.full_name, "run_id": str(run.id), "rule": verdict.rule}
        await self._dependencies.audit.append(run.workspace_id, run.actor, "tool.denied", payload)
        self._dependencies.metrics.safety_denials.labels(str(run.workspace_id), verdict.rule).inc()
        return Denied(verdict)

    async def _ask(self, decided: DecidedCall, run: Run) -> Asked:
        shows = await self._preview(decided, run) if decided.verdict.rehearse else None
        preview = shows if isinstance(shows, RehearsalPreview) else None
        dependencies = self._dependencies
        verdict, call = decided.verdict, replace(decided.call, arguments=decided.arguments)
        shown = await run_text_work(_size(call.arguments), shown_question, call, run, verdict, decided.traces)
        async with dependencies.database.write(run.workspace_id) as session:
            asked = await dependencies.approvals.request(
                session, decided.entry, call, run, verdict.rule, shown, preview
            )
        return Asked(decided.verdict, asked.typed_id)

    async def _simulate(self, decided: DecidedCall, run: Run) -> ToolOutcome:
        outcome = await self._perform(decided, run, rehearsal=True)
        if not isinstance(outcome, ToolCallResult):
            return outcome
        learn_outcome(decided.entry, decided.arguments, run, outcome.structured, outcome.text, vouches=False)
        return Simulated(decided.verdict, await _shown(decided, outcome, run), outcome.structured)

    async def _act(self, decided: DecidedCall, run: Run, approval: Approval | None) -> ToolOutcome:
        if (known := await self._cached(decided, run)) is not None:
            return known
        if approval is None:
            outcome = await self._perform(decided, run, rehearsal=False)
        else:
            outcome = await self._perform_approved(decided, run, approval)
        if decided.entry.facts.access == "write" and isinstance(outcome, ToolCallResult | Unknown):
            self._changed(decided, run)
        if not isinstance(outcome, ToolCallResult):
            return outcome
        key = self._cache_key(decided, run)
        if key is not None and outcome.spilled is None:
            self._dependencies.cache.put(key, outcome)
        return await self._done(decided, run, outcome, cached=False)

    async def _cached(self, decided: DecidedCall, run: Run) -> Done | None:
        key = self._cache_key(decided, run)
        if key is None or (known := self._dependencies.cache.get(key)) is None:
            return None
        # Whoever asks later who has read something finds this run as well.
        payload = {"tool": decided.entry.facts.full_name, "run_id": str(run.id), "call_id": str(decided.call.id)}
        await self._dependencies.audit.append(run.workspace_id, run.actor, "tool.cached", payload)
        return await self._done(decided, run, known, cached=True)

    async def _perform_approved(self, decided: DecidedCall, run: Run, approval: Approval) -> _Performed:
        """The approval is used once the call can be made. A rehearsal that checks it counts as one with the call."""
        admitted = await self._admission.admit(decided, run)
        if not isinstance(admitted, AdmittedCall):
            return await self._not_admitted(decided, run, admitted, rehearsal=False, again=True)
        if approval.preview_digest is not None and approval.state != "used":
            now = await self._preview(decided, run, admitted)
            if isinstance(now, RetryLater):
                return now
            if now is None or now.digest != approval.preview_digest:
                return await self._deny(decided, run, _TARGET_CHANGED)
        held = _holds(decided.call, approval)
        if not held:
            async with self._dependencies.database.write(run.workspace_id) as session:
                await self._dependencies.approvals.use(session, run.actor, approval.typed_id)
        try:
            outcome = await self._called(decided, run, admitted, rehearsal=False)
        except FenceBroken as error:
            raise _ApprovalUsed from error
        if isinstance(outcome, RetryLater) and not held:
            await self._put_back(run, approval)
        return outcome

    async def _perform(self, decided: DecidedCall, run: Run, *, rehearsal: bool, again: bool = True) -> _Performed:
        admitted = await self._admission.admit(decided, run)
        if not isinstance(admitted, AdmittedCall):
            return await self._not_admitted(decided, run, admitted, rehearsal=rehearsal, again=again)
        return await self._called(decided, run, admitted, rehearsal=rehearsal, again=again)

    async def _not_admitted(
        self,
        decided: DecidedCall,
        run: Run,
        why: ConnectorNotReady | RetryLater | Verdict,
        *,
        rehearsal: bool,
        again: bool,
    ) -> _Performed:
        match why:
            case RetryLater():
                return why
            case ConnectorNotReady(failed=failed, grant=grant):
                return await self._after_failure(decided, run, failed, grant, rehearsal=rehearsal, again=again)
            case Verdict():
                return await self._deny(decided, run, why)

    async def _called(
        self, decided: DecidedCall, run: Run, admitted: AdmittedCall, *, rehearsal: bool, again: bool = True
    ) -> _Performed:
        outcome = await self._effects.perform(decided, run, rehearsal=rehearsal)
        if not isinstance(outcome, Failed):
            return outcome
        return await self._after_failure(decided, run, outcome, admitted.grant, rehearsal=rehearsal, again=again)

    async def _after_failure(
        self, decided: DecidedCall, run: Run, failed: Failed, grant: OAuthGrant | None, *, rehearsal: bool, again: bool
    ) -> _Performed:
        """A token that ran out is renewed, and what does no harm is tried once more. Else somebody has to sign in."""
        if failed.kind is not ErrorKind.AUTH_EXPIRED:
            return failed
        facts = decided.entry.facts
        try:
            renewed = again and await self._dependencies.launcher.renew(decided.entry.connector.key, grant)
        except ConnectorError as error:
            return failure_of(error)
        if renewed and (rehearsal or facts.access == "read"):
            return await self._perform(decided, run, rehearsal=rehearsal, again=False)
        if renewed:
            message = f"{facts.connector} had to be signed in anew, which is done. Nothing was changed; try again."
            return Failed(ErrorKind.TRANSIENT, message)
        async with self._dependencies.database.write(run.workspace_id) as session:
            await self._dependencies.connectors.auth_expired(session, _host_actor(run), facts.connector)
        return failed

    async def _preview(
        self, decided: DecidedCall, run: Run, admitted: AdmittedCall | None = None
    ) -> RehearsalPreview | RetryLater | None:
        """A rehearsal for the person who is asked. That it fails is no reason not to ask."""
        try:
            if admitted is None:
                outcome = await self._perform(decided, run, rehearsal=True)
            else:
                outcome = await self._called(decided, run, admitted, rehearsal=True)
        except FenceBroken:
            raise
        except GabyError as error:
            _log.warning("tool.rehearsal_failed", tool=decided.entry.facts.full_name, error=error.code)
            return None
        if not isinstance(outcome, ToolCallResult):
            return outcome if isinstance(outcome, RetryLater) else None
        result = outcome.structured if outcome.structured is not None else outcome.text
        return RehearsalPreview(await _shown(decided, outcome, run), digest(result))

    def _changed(self, decided: DecidedCall, run: Run) -> None:
        facts = decided.entry.facts
        self._dependencies.cache.forget(run.workspace_id, facts.connector)
        run.changes_made.add(change_key(decided.entry, decided.arguments))

    def _cache_key(self, decided: DecidedCall, run: Run) -> CacheKey | None:
        facts = decided.entry.facts
        if facts.access != "read" or not facts.manifest.cache:
            return None
        return cache_key(run.workspace_id, facts.connector, facts.name, facts.fingerprint, decided.arguments)

    async def relearn(
        self, run: Run, call_id: UUID, tool: str, arguments: Mapping[str, Any], result: Any, *, vouches: bool
    ) -> None:
        """Enter into the ledger what an earlier call of this run had brought. In the order in which they were made."""
        snapshot = await self._dependencies.catalogue.snapshot(run.workspace_id)
        # Nobody can say any more who may read what a tool brought that is gone.
        if (entry := snapshot.tools.get(tool)) is not None:
            text = result if isinstance(result, str) else json.dumps(result)
            real = real_arguments(arguments, run)
            learn_outcome(entry, real, run, None if isinstance(result, str) else result, text, vouches=vouches)
            run.entered.add(call_id)

    async def remember_change(self, run: Run, tool: str, arguments: Mapping[str, Any]) -> None:
        """What an earlier call of this run has changed, or may have."""
        snapshot = await self._dependencies.catalogue.snapshot(run.workspace_id)
        if (entry := snapshot.tools.get(tool)) is not None:
            run.changes_made.add(change_key(entry, real_arguments(arguments, run)))

    async def readable(self, run: Run, tool: str, arguments: Mapping[str, Any], result: Any, reader: Reader) -> Any:
        """Of an earlier result, what this reader may be told; None if that is nothing."""
        snapshot = await self._dependencies.catalogue.snapshot(run.workspace_id)
        entry = snapshot.tools.get(tool)
        if entry is None or entry.facts.unsafe:
            return result if reader.kind == "staff" else None
        return readable_part(result, result_context(entry, real_arguments(arguments, run), run), reader)

    async def _done(self, decided: DecidedCall, run: Run, answer: ToolCallResult, *, cached: bool) -> Done:
        learn_outcome(decided.entry, decided.arguments, run, answer.structured, answer.text, vouches=True)
        shown = await _shown(decided, answer, run)
        return Done(decided.verdict, shown, answer.structured, answer.text, cached, answer.spilled)


def _holds(call: ToolCall, approval: Approval) -> bool:
    """Whether the call has taken the approval before it was interrupted."""
    return call.resumed and approval.state == "used"


async def _shown(decided: DecidedCall, answer: ToolCallResult, run: Run) -> Any:
    return await run_text_work(len(answer.text), shown_result, decided.entry.facts.manifest, answer, run)


def _size(arguments: Mapping[str, Any]) -> int:
    return len(canonical_json(arguments))


def _host_actor(run: Run) -> Actor:
    return system_actor("connector host", run.workspace_id)
