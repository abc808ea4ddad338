"""Approvals: who may let Gaby act, and what they decided."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from typing import Any, Literal, cast
from uuid import UUID

from sqlalchemy import CursorResult, delete, select, update

from gaby.kernel.actors import Actor
from gaby.kernel.clock import Clock
from gaby.kernel.crypto import Vault
from gaby.kernel.database import AllWorkspaces, Database, ReadSession, WriteSession, wants_reference
from gaby.kernel.database.raw_sql import SqlStatement
from gaby.kernel.errors import NotFound
from gaby.kernel.events import Event
from gaby.kernel.ids import ApprovalId, IdFactory, PersonId, RunId, WorkspaceId
from gaby.safety import ApprovalFact, ArgumentTrace, Verdict, canonical_identity
from gaby.tools.catalogue import ToolEntry
from gaby.tools.errors import ApprovalClosed, ApprovalExpired, ReasonMissing
from gaby.tools.gather import bind
from gaby.tools.models import MAY_EXPIRE, Approval, SessionNote
from gaby.tools.redacted_view import shown_arguments
from gaby.tools.runs import Run, ToolCall
from gaby.tools.stored_approvals import PURPOSE, SealedCall, StoredApprovals

Decision = Literal["approve", "refuse", "escalate"]
_STATES: Mapping[Decision, str] = {"approve": "approved", "refuse": "refused", "escalate": "escalated"}


@dataclass(frozen=True)
class RehearsalPreview:
    """What a rehearsal showed: redacted for eyes, and a digest to see at the end whether it would still be so."""

    shown: Any
    digest: str


@dataclass(frozen=True)
class ShownQuestion:
    """What a person is shown of a call, redacted. Made before the transaction: long texts take a while."""

    arguments: dict[str, Any]
    concerns: list[dict[str, Any]]
    owners: list[dict[str, Any]]
    why: str


def shown_question(call: ToolCall, run: Run, verdict: Verdict, traces: Sequence[ArgumentTrace]) -> ShownQuestion:
    redactor, placeholders = run.redactor, run.placeholders
    return ShownQuestion(
        arguments=shown_arguments(call.arguments, run),
        concerns=redactor.redact_value([asdict(each) for each in verdict.concerns], placeholders).value,
        owners=redactor.redact_value([_owner(each) for each in traces[:50]], placeholders).value,
        why=redactor.redact(call.why, placeholders).text[:2000],
    )


@dataclass(frozen=True)
class ApprovalDecision:
    decision: Decision
    reason: str = ""
    arguments: Mapping[str, Any] | None = None
    """Approve these instead of those that were asked for."""
    remember: bool = False
    whole_step: bool = False
    """The same answer for every call of the step that waits."""


class Approvals(StoredApprovals):
    def __init__(self, clock: Clock, ids: IdFactory, vault: Vault, *, ttl: timedelta, sitting: timedelta) -> None:
        super().__init__(vault)
        self._clock = clock
        self._ids = ids
        self._ttl = ttl
        self._sitting = sitting

    async def request(
        self,
        session: WriteSession,
        entry: ToolEntry,
        call: ToolCall,
        run: Run,
        rule: str,
        shown: ShownQuestion,
        preview: RehearsalPreview | None = None,
    ) -> Approval:
        """Ask. What is asked is exactly this call, until the moment it expires. The same call is not asked twice."""
        now = self._clock.now()
        if (before := await self._asked_before(session, run.id, call.id)) is not None:
            return before
        expires_at = now + self._ttl
        facts = entry.facts
        approval = Approval(
            workspace_id=session.workspace_id,
            id=self._ids.new(),
            run_id=run.id,
            connector=facts.connector,
            tool=facts.name,
            state="waiting",
            sealed_call=await self._seal(session, run.id, SealedCall(call.id, dict(call.arguments))),
            shown=shown.arguments,
            concerns=shown.concerns,
            dangerous=facts.manifest.dangerous,
            fingerprint=facts.fingerprint,
            binding=bind(entry, call.arguments, run, expires_at),
            preview={"shown": preview.shown} if preview is not None else None,
            preview_digest=preview.digest if preview is not None else None,
            reason=shown.why,
            requested_by=run.actor.id,
            requested_at=now,
            expires_at=expires_at,
            call_id=call.id,
            step_id=call.step_id,
            ticket=run.ticket[:300],
            requester=run.requester[:320],
            requester_verified=canonical_identity(run.requester) in (run.principals or ()),
            effect=_effect(entry),
            owners=shown.owners,
        )
        session.add(approval)
        wants_reference(session, Approval, approval.id)
        await session.flush()
        payload = {**_named(approval), "rule": rule, "arguments": shown.arguments}
        session.emit(Event("approval.requested", session.workspace_id, run.actor, payload))
        return approval

    async def decide(
        self,
        session: WriteSession,
        actor: Actor,
        approval_id: ApprovalId,
        answer: ApprovalDecision,
    ) -> Approval:
        """The first answer counts; whoever comes second is told whose it was."""
        approval = await self._to_decide(session, approval_id)
        if answer.decision != "approve" and not answer.reason.strip():
            raise ReasonMissing
        self._answer(approval, actor, _STATES[answer.decision], answer.reason)
        if answer.decision == "approve" and answer.remember and not approval.dangerous:
            self._note(session, actor.person_id, approval)
        self._tell(session, actor, approval, {"reason": answer.reason} if answer.reason else {})
        return approval

    async def modify(
        self,
        session: WriteSession,
        actor: Actor,
        approval_id: ApprovalId,
        entry: ToolEntry,
        run: Run,
        arguments: Mapping[str, Any],
    ) -> Approval:
        """Approve another call instead of the one that was asked for: the same tool, the person's own arguments."""
        approval = await self._to_decide(session, approval_id)
        sealed = await self.call_of(session, approval)
        approval.sealed_call = await self._seal(session, run.id, SealedCall(sealed.id, dict(arguments)))
        approval.shown = shown_arguments(arguments, run)
        approval.binding = bind(entry, arguments, run, approval.expires_at)
        approval.modified = True
        # What was rehearsed, doubted and traced were the old arguments. The new ones are this person's own.
        approval.preview = approval.preview_digest = None
        approval.concerns, approval.owners = [], []
        self._answer(approval, actor, "approved", "")
        self._tell(session, actor, approval, {"modified": True, "arguments": approval.shown})
        return approval

    async def use(self, session: WriteSession, actor: Actor, approval_id: ApprovalId) -> None:
        """Take the approval, once. Of two who try at the same time one gets it."""
        mine = (Approval.workspace_id == session.workspace_id, Approval.id == approval_id)
        updated = await session.execute(
            update(Approval).where(*mine, Approval.state == "approved").values(state="used", used_at=self._clock.now())
        )
        if cast("CursorResult[Any]", updated).rowcount != 1:
            raise ApprovalClosed("This approval has been used already, or was never given.")
        payload = {"approval_id": str(approval_id)}
        session.emit(Event("approval.used", session.workspace_id, actor, payload))

    async def put_back(self, session: WriteSession, actor: Actor, approval_id: ApprovalId) -> None:
        """The call that took it was turned away before anything was done, so it may take it again."""
        mine = (Approval.workspace_id == session.workspace_id, Approval.id == approval_id)
        back = update(Approval).where(*mine, Approval.state == "used").values(state="approved", used_at=None)
        if cast("CursorResult[Any]", await session.execute(back)).rowcount == 1:
            session.emit(Event("approval.put_back", session.workspace_id, actor, {"approval_id": str(approval_id)}))

    async def prolong(
        self, session: WriteSession, entry: ToolEntry, run: Run, approval_id: ApprovalId, until: datetime
    ) -> None:
        """An approved call that Gaby itself puts off does not expire meanwhile. It stays bound to the same call and
        policy: an approval of anything else is left as it is."""
        approval = await session.get(Approval, (session.workspace_id, approval_id), with_for_update=True)
        if approval is None or approval.state != "approved" or approval.expires_at >= until:
            return
        arguments = (await self.call_of(session, approval)).arguments
        in_time = self._clock.now() < approval.expires_at
        if not in_time or approval.binding != bind(entry, arguments, run, approval.expires_at):
            return
        approval.expires_at, approval.binding = until, bind(entry, arguments, run, until)
        payload = {**_named(approval), "expires_at": until.isoformat()}
        session.emit(Event("approval.prolonged", session.workspace_id, run.actor, payload))

    async def expire(self, session: WriteSession, actor: Actor) -> Sequence[Approval]:
        """Close every question that nobody answered in time."""
        due = (MAY_EXPIRE, Approval.expires_at <= self._clock.now())
        query = select(Approval).where(Approval.workspace_id == session.workspace_id, *due)
        # Whoever uses or prolongs one at this moment is waited for, and then looked at again.
        rows = (await session.scalars(query.with_for_update())).all()
        for approval in rows:
            approval.state = "expired"
            session.emit(Event("approval.expired", session.workspace_id, actor, _named(approval)))
        return rows

    async def overdue_workspaces(self, database: Database) -> Sequence[WorkspaceId]:
        due = (MAY_EXPIRE, Approval.expires_at <= self._clock.now())
        async with database.read(AllWorkspaces("approvals that are overdue, of all workspaces")) as session:
            # Not DISTINCT: for that SQLite would go through all approvals in the order of their workspaces.
            workspace_ids = await session.scalars(select(Approval.workspace_id).where(*due))
            return [WorkspaceId(workspace_id) for workspace_id in sorted(set(workspace_ids.all()))]

    async def was_agreed(self, session: ReadSession, entry: ToolEntry) -> bool:
        """Whether an operator agreed to this kind of action in a sitting that still lasts."""
        query = select(SessionNote.id).where(
            SessionNote.workspace_id == session.workspace_id,
            SessionNote.tool == entry.facts.full_name,
            SessionNote.fingerprint == entry.facts.fingerprint,
            SessionNote.expires_at > self._clock.now(),
        )
        return (await session.scalars(query.limit(1))).one_or_none() is not None

    async def forget_sitting(self, session: WriteSession, person_id: PersonId) -> None:
        """Whoever signs out is asked again next time."""
        await session.execute(delete(SessionNote).where(SessionNote.person_id == person_id))

    async def _to_decide(self, session: WriteSession, approval_id: ApprovalId) -> Approval:
        approval = await session.get(Approval, (session.workspace_id, approval_id), with_for_update=True)
        if approval is None:
            raise NotFound
        if approval.state != "waiting":
            who = approval.decided_by or "the clock"
            raise ApprovalClosed(f"{who} has decided this already: it is {approval.state}.")
        if self._clock.now() >= approval.expires_at:
            raise ApprovalExpired
        return approval

    def _answer(self, approval: Approval, actor: Actor, state: str, reason: str) -> None:
        approval.state = state
        approval.decided_at = self._clock.now()
        approval.decided_by = actor.id
        approval.answer = reason[:2000] or None

    def _note(self, session: WriteSession, person_id: PersonId | None, approval: Approval) -> None:
        """A program has no sitting that could end."""
        if person_id is None:
            return
        session.add(
            SessionNote(
                workspace_id=session.workspace_id,
                id=self._ids.new(),
                person_id=person_id,
                tool=f"{approval.connector}.{approval.tool}",
                fingerprint=approval.fingerprint,
                expires_at=self._clock.now() + self._sitting,
            )
        )

    def _tell(self, session: WriteSession, actor: Actor, approval: Approval, more: Mapping[str, Any]) -> None:
        session.emit(Event(f"approval.{approval.state}", session.workspace_id, actor, {**_named(approval), **more}))

    async def of_step(self, session: ReadSession, approval: Approval) -> Sequence[Approval]:
        """Whatever else of the same step waits for an answer."""
        if approval.step_id is None:
            return ()
        same = (Approval.run_id == approval.run_id, Approval.step_id == approval.step_id, Approval.state == "waiting")
        others = (Approval.workspace_id == session.workspace_id, Approval.id != approval.id, *same)
        return (await session.scalars(select(Approval).where(*others).order_by(Approval.id))).all()

    async def of_run(self, session: ReadSession, run_id: RunId) -> Sequence[Approval]:
        query = select(Approval).where(Approval.workspace_id == session.workspace_id, Approval.run_id == run_id)
        return (await session.scalars(query.order_by(Approval.id))).all()

    async def _asked_before(self, session: ReadSession, run_id: RunId, call_id: UUID) -> Approval | None:
        same = (Approval.run_id == run_id, Approval.call_id == call_id, Approval.state.in_(("waiting", "approved")))
        query = select(Approval).where(Approval.workspace_id == session.workspace_id, *same)
        return (await session.scalars(query.limit(1))).one_or_none()

    async def _seal(self, session: WriteSession, run_id: RunId, call: SealedCall) -> str:
        text = json.dumps({"id": str(call.id), "arguments": call.arguments})
        return await self._vault.seal(session, f"run:{run_id}", text, PURPOSE)


def _effect(entry: ToolEntry) -> str:
    """The first sentence of the accepted description: nobody can change it without a new look."""
    sentence = " ".join(entry.definition.description.split()).partition(". ")[0].rstrip(".")
    can_undo = "This is hard to undo." if entry.facts.manifest.dangerous else ""
    return f"{entry.facts.full_name}: {sentence[:400]}. {can_undo}".strip()


def _owner(trace: ArgumentTrace) -> dict[str, str]:
    """Who stands behind one value, as the approver reads it."""
    behind = "; ".join(dict.fromkeys(f"{origin.label}: {origin.source}" for origin in trace.origins[:3]))
    seen = f"only seen in {trace.quotes[0].source}" if trace.quotes else "nobody named it"
    return {"argument": trace.leaf.argument, "value": trace.leaf.value[:200], "behind": behind or seen}


def _named(approval: Approval) -> dict[str, Any]:
    tool = f"{approval.connector}.{approval.tool}"
    return {"approval_id": str(approval.id), "run_id": str(approval.run_id), "tool": tool}


def close_questions(workspace_id: WorkspaceId, run_id: RunId, now: datetime) -> SqlStatement:
    """Nobody is asked any more about what a run would have done that does not go on."""
    return SqlStatement(
        "UPDATE approvals SET state = 'expired', expires_at = ? "
        "WHERE workspace_id = ? AND run_id = ? AND state = 'waiting'",
        (now, workspace_id.hex, run_id.hex),
    )


def as_fact(approval: Approval, call: ToolCall) -> ApprovalFact:
    """A call that was cut off after it had used its approval may still rest on it."""
    still = call.resumed and approval.state == "used" and approval.call_id == call.id
    return ApprovalFact(
        state="approved" if still else cast("Any", approval.state),
        binding=approval.binding,
        expires_at=approval.expires_at,
        decided_by=approval.decided_by or "",
    )
