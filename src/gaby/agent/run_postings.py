"""What an investigation sends: postings that are written with the decision they follow from."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from gaby.agent.final_answer import FinalAnswer
from gaby.agent.replies import PUBLIC, acknowledgement
from gaby.agent.run_context import InvestigationContext
from gaby.kernel.clock import Clock
from gaby.kernel.database import Database
from gaby.kernel.database.raw_sql import SqlStatement
from gaby.kernel.ids import IdFactory
from gaby.kernel.outcomes import Verdict
from gaby.llm.budget_ledger import OFFLINE
from gaby.mind.languages import language_of
from gaby.tickets.adapters.adapter import DeskCapabilities
from gaby.tickets.desks import Desks
from gaby.tickets.statements import NewPosting, insert_posting

_ESCALATED: frozenset[Verdict] = frozenset({"needs_tech", "needs_l2", "needs_client", "failed", "failed_budget"})


@dataclass(frozen=True)
class RunPostings:
    """Builds the postings of a run."""

    database: Database
    clock: Clock
    ids: IdFactory
    desks: Desks

    async def drafts(self, run: InvestigationContext) -> bool:
        """Whether every reply at the ticket's desk waits for a person. Whoever gave an instruction is one."""
        if run.instructed:
            return False
        async with self.database.read(run.workspace_id) as session:
            return (await self.desks.get(session, run.ticket.desk_id)).drafts

    async def of_answer(
        self, run: InvestigationContext, answer: FinalAnswer, body: str, inside: str, outside: str, *, escalates: bool
    ) -> tuple[SqlStatement, ...]:
        verdict = answer.verdict
        if run.ticket.closed_at is not None:
            return ()
        able = await self.capabilities(run)
        wanted: dict[str, tuple[dict[str, Any], str]] = {}
        if body:
            content = {"body": body, "private": verdict not in PUBLIC, "suggestion": answer.is_suggestion}
            wanted["reply"] = (content, run.redact_own(body))
        if (first := self._first_reply(run, answer, outside)) is not None:
            wanted["ack"] = (first, run.redact_own(first["body"]))
        if able.statuses:
            standing = run.memory.standing(verdict)
            wanted["status"] = ({"verdict": standing}, standing)
        if able.time_entries and run.persona.time_entries and verdict != "skipped":
            minutes = 1
            wanted["time"] = ({"minutes": minutes, "note": f"Gaby looked into it: {verdict}"}, f"{minutes} min")
        postings = [self._posting(run, kind, content, redacted) for kind, (content, redacted) in wanted.items()]
        if escalates and verdict in _ESCALATED:
            postings.append(self.escalation(run, verdict, answer.reasons, inside))
        return tuple(postings)

    def _first_reply(self, run: InvestigationContext, answer: FinalAnswer, outside: str) -> dict[str, Any] | None:
        """What the requester reads when a colleague takes over: what a model wrote for them, what was changed, or that
        we have it. The latter is said once."""
        if answer.verdict in PUBLIC or answer.verdict == "skipped" or run.instructed:
            return None
        ticket = run.memory.ticket
        heard = any(each.author == "gaby" for each in ticket.dialogue)
        fixed = acknowledgement(reply_language(run))
        if answer.reply and (answer.written_by != OFFLINE or (answer.tells_change and answer.verdict == "needs_tech")):
            return {"body": outside, "private": False, "otherwise": "" if heard else fixed}
        return None if heard else {"body": fixed, "private": False, "fixed": True}

    def escalation(
        self, run: InvestigationContext, verdict: Verdict, reasons: Sequence[str], inside: str
    ) -> SqlStatement:
        """With the investigation attached, and without personal data."""
        title = run.redact_own(run.memory.ticket.title)
        content = {
            "verdict": verdict,
            "title": title,
            "reasons": [run.redact_own(reason) for reason in reasons],
            "summary": run.redact_own(inside),
            "steps": [f"{call.tool}: {call.outcome}" for call in run.memory.calls],
            "run_id": str(run.run_id),
            "ticket": run.ticket.external_id,
        }
        return self._posting(run, "escalation", content, f"{verdict}: {title}")

    def _posting(self, run: InvestigationContext, kind: str, content: dict[str, Any], redacted: str) -> SqlStatement:
        marker = f"gaby-{sha256(f'{run.run_id} {kind}'.encode()).hexdigest()[:32]}"
        return insert_posting(
            run.workspace_id,
            self.ids.new(),
            NewPosting(kind, marker, run.sealing.seal(json.dumps(content).encode()), redacted),
            run_id=run.run_id,
            ticket_id=run.ticket.id,
            at=self.clock.now(),
        )

    async def capabilities(self, run: InvestigationContext) -> DeskCapabilities:
        async with self.database.read(run.workspace_id) as session:
            desk = await self.desks.get(session, run.ticket.desk_id)
            return (await self.desks.adapter(session, desk)).capabilities()

    async def undelivered_note(self, run: InvestigationContext, reason: str) -> SqlStatement | None:
        """For colleagues, on the ticket itself: which reply the requester did not get, and why."""
        if not (await self.capabilities(run)).private_replies:
            return None
        body = f"{reason}\n\nThe reply that was not sent:\n\n{run.memory.reply or ''}".strip()
        return self._posting(run, "ack", {"body": body, "private": True}, run.redact_own(body))


def reply_language(run: InvestigationContext, reply: str = "") -> str:
    """The language of a reply, or of what the requester wrote last."""
    ticket = run.memory.ticket
    newest = next((each.text for each in reversed(ticket.dialogue) if each.author == "requester"), "")
    return language_of(reply or newest or f"{ticket.title}\n\n{ticket.body}")
