"""The write-back step: what was decided is sent, the ticket says how it ended, and whoever waited for that goes on."""

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import select

from gaby.agent.escalations import Escalations
from gaby.agent.incident_grouping import wake_followers
from gaby.agent.memory import MemoryDelta
from gaby.agent.message_gate import MessageGate
from gaby.agent.replies import PUBLIC
from gaby.agent.run_context import InvestigationContext, NextTransition
from gaby.agent.states import WritingBack
from gaby.agent.transitions import Ending, TimelineStep
from gaby.agent.verdict_step import VerdictStep
from gaby.kernel.clock import Clock
from gaby.kernel.database.raw_sql import SqlStatement
from gaby.kernel.ids import ApprovalId, IdFactory
from gaby.kernel.outcomes import Verdict
from gaby.knowledge.learning.gate import QUIET
from gaby.tickets.canonical_ticket import rank_of
from gaby.tickets.models import Posting
from gaby.tickets.postings import UNDELIVERED, Poster, PostingOutcome
from gaby.tickets.statements import set_queued_with, set_status
from gaby.tools import Tools
from gaby.tools.approvals import close_questions

_AGAIN = (
    "INSERT INTO investigations (workspace_id, id, ticket_id, state, rank, created_at, wake_at, lease_token, edges, "
    "claims_without_progress, failures) SELECT ?, ?, ?, 'created', ?, ?, ?, 0, 0, 0, 0 FROM tickets t "
    "WHERE t.workspace_id = ? AND t.id = ? AND t.closed_at IS NULL AND (SELECT COUNT(*) FROM ticket_messages m WHERE "
    "m.workspace_id = t.workspace_id AND m.ticket_id = t.id AND m.author = 'requester' AND NOT m.automatic) > ?"
)


@dataclass(frozen=True)
class WriteBackStep:
    clock: Clock
    ids: IdFactory
    poster: Poster
    escalations: Escalations
    judge: VerdictStep
    tools: Tools

    async def write_back(self, run: InvestigationContext, state: WritingBack) -> NextTransition | None:
        gate = MessageGate(self.tools, run, await self.judge.postings.drafts(run))
        outcome = await self.poster.deliver(run.tools.actor, run.run_id, run.sealing, run.lease.fence, gate)
        if outcome.again_at is not None:
            waits = next((each for each in outcome.posted if each.state in {"due", "sending"}), None)
            message = (waits.error if waits is not None else None) or "The desk did not take it."
            step = TimelineStep("desk", "Could not post yet", message, "problem")
            return NextTransition(state.still_due(), (step,), rest_until=outcome.again_at)
        lost = next((each for each in outcome.posted if each.kind == "reply" and each.state in UNDELIVERED), None)
        if lost is not None and state.verdict in PUBLIC:
            return await self._tell_a_colleague(run, state, outcome, lost.error or "")
        steps = [
            TimelineStep(
                "desk", f"{each.kind}: {each.state}", each.error or "", "post" if each.state == "posted" else "problem"
            )
            for each in outcome.posted
        ]
        now = self.clock.now()
        rewritten = await self._rewritten(run)
        if rewritten is not None:
            steps.append(TimelineStep("approvals", "Changed the reply", rewritten, "approval"))
        return NextTransition(
            state.posted(),
            (*steps, TimelineStep("gaby", "Done", state.verdict)),
            # What is learned from an investigation is what was really sent.
            ending=Ending(finished_at=now, summary=rewritten),
            also=self._endings(run, state.verdict),
            audit={"verdict": state.verdict},
        )

    async def _rewritten(self, run: InvestigationContext) -> str | None:
        """The reply as a person put it, if they changed the draft."""
        mine = (Posting.workspace_id == run.workspace_id, Posting.run_id == run.run_id)
        query = select(Posting.approval_id).where(*mine, Posting.kind == "reply", Posting.state == "posted")
        async with self.judge.database.read(run.workspace_id) as session:
            asked = (await session.scalars(query.where(Posting.approval_id.is_not(None)).limit(1))).one_or_none()
            if asked is None:
                return None
            approval = await self.tools.approvals.get(session, ApprovalId(asked))
            if not approval.modified:
                return None
            sent = (await self.tools.approvals.call_of(session, approval)).arguments
        return run.redact_own(str(sent.get("body", "")))

    async def _tell_a_colleague(
        self, run: InvestigationContext, state: WritingBack, outcome: PostingOutcome, error: str
    ) -> NextTransition:
        """An answer that the requester never got resolves nothing."""
        message = run.redact_own(f"The reply to the requester was not sent or did not arrive. {error}").strip()
        escalated = any(each.kind == "escalation" for each in outcome.posted)
        escalates = not escalated and await self.escalations.has_target(run.workspace_id)
        note = await self.judge.postings.undelivered_note(run, message)
        escalation = self.judge.postings.escalation(run, "needs_tech", [message], run.memory.reply or "")
        return NextTransition(
            state.undelivered(),
            (TimelineStep("desk", "The reply did not arrive", message, "problem"),),
            MemoryDelta(verdict="needs_tech", reasons=(message,)),
            ending=Ending(verdict="needs_tech", reason=message[:500]),
            also=(*((note,) if note is not None else ()), *((escalation,) if escalates else ())),
            audit={"verdict": "needs_tech", "reason": message[:500]},
        )

    async def halted(self, run: InvestigationContext, reason: str) -> NextTransition:
        changes = await self.judge.begun_changes(run)
        message = run.redact_own(f"{reason}\n{changes}".strip())
        return NextTransition(
            run.state.halted(message),
            (TimelineStep("gaby", "Halted", message, "problem"),),
            ending=Ending(verdict="failed", reason=message[:500], finished_at=self.clock.now()),
            also=(*self._endings(run, "failed"), close_questions(run.workspace_id, run.run_id, self.clock.now())),
            audit={"reason": message[:500]},
        )

    def _endings(self, run: InvestigationContext, verdict: Verdict) -> tuple[SqlStatement, ...]:
        """The ticket says how it ended, and whoever waits for this one wakes up."""
        now = self.clock.now()
        return (
            *((_weighed(run, now + QUIET),) if verdict == "auto_resolved" else ()),
            set_status(run.workspace_id, run.ticket.id, run.memory.standing(verdict)),
            *(self._once_more(run, now) if run.edges else ()),
            wake_followers(run, now),
        )

    def _once_more(self, run: InvestigationContext, now: datetime) -> tuple[SqlStatement, ...]:
        """What the requester wrote too late to be heard begins another investigation, where this one ends."""
        place, ticket, again = run.workspace_id.hex, run.ticket.id.hex, self.ids.new()
        rank = rank_of(run.ticket.priority)
        return (
            SqlStatement(_AGAIN, (place, again.hex, ticket, rank, now, now, place, ticket, run.memory.ticket.heard)),
            set_queued_with(run.workspace_id, run.ticket.id, again),
        )


def _weighed(run: InvestigationContext, at: datetime) -> SqlStatement:
    """What went well is looked at then: perhaps there is something to learn from it."""
    place = (run.workspace_id.hex, run.run_id.hex)
    return SqlStatement("UPDATE investigations SET weigh_at = ? WHERE workspace_id = ? AND id = ?", (at, *place))
