"""The final answer of an investigation: its verdict, a text for the requester and another for colleagues.

A model's conclusion is reviewed once more, sentence by sentence, before anybody is told. What remains to the rules are
facts: changes that wait or whose outcome is unknown, sources that exist, and that nothing is called resolved of which
nobody can show why.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from gaby.agent.envelope import named_pages
from gaby.agent.memory import CallRecord, WorkingMemory
from gaby.agent.planning_step import PlanningStep
from gaby.agent.replies import cited_text
from gaby.agent.reply_text import ReplyText
from gaby.agent.run_context import InvestigationContext
from gaby.kernel.clock import Clock
from gaby.kernel.errors import GabyError
from gaby.kernel.outcomes import Verdict
from gaby.llm.budget_ledger import OFFLINE, BudgetSpent
from gaby.llm.results import SkillResult
from gaby.llm.service import Models
from gaby.mind import RuleConclusion, cited_sentences, shown
from gaby.safety import Reader
from gaby.skills import conclusion as concluding
from gaby.skills import plan, review
from gaby.tools.disclosure import requester_of

_SOURCE_CHARACTERS = 6000
_TICKET_CHARACTERS = 20_000
_NOT_REVIEWED = "The reply could not be reviewed."
_NO_EVIDENCE = "No sentence of the reply is carried by a source."


@dataclass(frozen=True)
class FinalAnswer:
    verdict: Verdict
    reasons: list[str]
    reply: str
    """For the requester, with tokens. Empty when there is nothing to tell them."""
    note: str
    """For colleagues, with tokens."""
    written_by: str = OFFLINE
    released: tuple[str, ...] = ()
    """Sentences of the reply that a runbook wants the requester to be told."""
    tells_change: bool = False
    """By rules: something was changed, so the requester reads it also when a colleague takes over."""
    is_suggestion: bool = False
    """It may answer what was asked; a person has to look at it, whatever the desk's setting is by then."""
    tokens: int = 0
    nano_usd: int = 0

    def spending(self, *results: SkillResult[review.Review] | SkillResult[plan.PlannerStep]) -> "FinalAnswer":
        tokens = self.tokens + sum(each.usage.counted for each in results)
        return replace(self, tokens=tokens, nano_usd=self.nano_usd + sum(each.nano_usd or 0 for each in results))


@dataclass(frozen=True)
class _ReviewedText:
    text: ReplyText
    unsupported: dict[int, str]
    """By place, why."""
    complete: bool
    why: str

    @property
    def answers(self) -> bool:
        """At least one sentence states something that its source carries."""
        sentences = enumerate(self.text.sentences)
        return any(each.citations and place not in self.unsupported for place, each in sentences)

    @property
    def doubts(self) -> list[str]:
        return [f"{self.text.sentences[place].text}: {why}" for place, why in self.unsupported.items()]


@dataclass(frozen=True)
class _ModelResults:
    results: list[SkillResult[review.Review] | SkillResult[plan.PlannerStep]] = field(
        default_factory=list[SkillResult[review.Review] | SkillResult[plan.PlannerStep]]
    )


class FinalAnswerWriter:
    def __init__(self, models: Models, planning_step: PlanningStep, clock: Clock) -> None:
        self._models = models
        self._clock = clock
        self._planning_step = planning_step

    async def by_model(self, run: InvestigationContext, concluded: concluding.Conclusion, source: str) -> FinalAnswer:
        """Reviewed; sent back once if there are doubts; then what is still not supported is left out."""
        spent = _ModelResults()
        reviewed = await self._review(run, concluded, spent)
        if reviewed is not None and (reviewed.unsupported or _is_open(concluded, reviewed)):
            again = await self._again(run, concluded, reviewed, spent)
            if again is not None:
                concluded, reviewed = again, await self._review(run, again, spent)
        answer = self._answer(run, concluded, reviewed, source)
        return answer.spending(*spent.results)

    def _answer(
        self, run: InvestigationContext, concluded: concluding.Conclusion, reviewed: _ReviewedText | None, source: str
    ) -> FinalAnswer:
        verdict: Verdict = concluded.verdict
        reasons = [concluded.why] if concluded.why else []
        tokens = source_tokens(run.memory, requester_of(run.tools))
        text = reviewed.text if reviewed is not None else ReplyText.read(concluded.reply)
        if reviewed is None:
            # Nobody but its author has looked at it, so a person has to.
            reply = ""
            objection = _NOT_REVIEWED if concluded.reply.strip() else ""
        else:
            reply = text.written(tokens, without=reviewed.unsupported)
            objection = _objection(concluded, reviewed)
        if verdict == "needs_client" and reviewed is not None:
            reply = _with_question(reply, concluded.question)
        objection = objection or _open_change(run.memory.calls)
        if (verdict == "auto_resolved" and objection) or (verdict in {"auto_resolved", "needs_client"} and not reply):
            verdict = "needs_tech"
            reasons.append(objection or _NO_EVIDENCE)
        return FinalAnswer(verdict, reasons, reply, self._note(concluded, reviewed, tokens), source)

    def _note(self, concluded: concluding.Conclusion, reviewed: _ReviewedText | None, tokens: dict[str, str]) -> str:
        parts = [ReplyText.read(concluded.cause).written(tokens), ReplyText.read(concluded.note).written(tokens)]
        if concluded.open:
            parts.append("\n".join(("Still open:", *(f"- {each}" for each in concluded.open))))
        if reviewed is not None and reviewed.unsupported:
            lines = [f"- {doubt}" for doubt in reviewed.doubts]
            parts.append("\n".join(("Left out of the reply, since no source carries it:", *lines)))
        return "\n\n".join(part for part in parts if part)

    async def _review(
        self, run: InvestigationContext, concluded: concluding.Conclusion, spent: _ModelResults
    ) -> _ReviewedText | None:
        """None when nobody could review it."""
        text = ReplyText.read(concluded.reply)
        if not text.sentences:
            return _ReviewedText(text, {}, complete=False, why=_NO_EVIDENCE)
        try:
            draft = await asyncio.to_thread(_draft, run, concluded, text, self._clock.now())
            result = await self._models.runner.run(review.skill, draft, run.occasion)
        except BudgetSpent:
            return None
        spent.results.append(result)
        if result.source == OFFLINE:
            # Values alone cannot tell whether a model's words are true.
            return None
        reviewed = {each.number - 1: each for each in result.value.sentences}
        unsupported = {
            place: reviewed[place].why or "No source says so."
            for place in range(len(text.sentences))
            if place in reviewed and reviewed[place].support == "unsupported"
        }
        return _ReviewedText(text, unsupported, result.value.complete, result.value.why)

    async def _again(
        self, run: InvestigationContext, concluded: concluding.Conclusion, reviewed: _ReviewedText, spent: _ModelResults
    ) -> concluding.Conclusion | None:
        doubts = reviewed.doubts
        if _is_open(concluded, reviewed):
            doubts = [*doubts, f"It is not done yet: {reviewed.why}"]
        tools = await self._planning_step.toolbox(run)
        filled = await self._planning_step.filled(run, tools)
        instruction = "The conclusion has to be put right."
        envelope = filled.envelope.model_copy(
            update={"concluded": concluded, "doubts": doubts[:30], "must_conclude": instruction}
        )
        try:
            planned = await self._models.runner.run(plan.skill, envelope, run.occasion)
        except GabyError:
            return None
        spent.results.append(planned)
        return planned.value.conclusion


def source_tokens(memory: WorkingMemory, reader: Reader) -> dict[str, str]:
    """The tokens of what a conclusion cites by its short name."""
    pages = {name: each.citation for name, each, _ in named_pages(memory, reader)}
    return {**pages, **{f"c{call.number}": call.citation for call in memory.calls}}


def by_rules(conclusion: RuleConclusion) -> FinalAnswer:
    judgement = conclusion.judgement
    reply, note = cited_text(conclusion.sentences), cited_text(conclusion.notes)
    released = tuple(each.text for each in conclusion.sentences if each.released)
    changed = any(step.changes and step.outcome == "done" for step in conclusion.case.steps)
    # What was to be told after a change is not true where a second look shows that nothing is better.
    tells = judgement.verdict == "needs_tech" and changed and conclusion.case.verified is not False
    return FinalAnswer(
        judgement.verdict,
        list(judgement.reasons),
        reply,
        note,
        released=released,
        tells_change=tells,
        is_suggestion=conclusion.is_suggestion,
    )


def _draft(
    run: InvestigationContext, concluded: concluding.Conclusion, text: ReplyText, now: datetime
) -> review.ReviewInput:
    memory = run.memory
    cited = {name for each in (*text.sentences, *cited_sentences(concluded.cause)) for name in each.citations}
    sources = {
        name: review.ReviewedSource(
            name=name, text=f"{each.title}\n{each.text}"[:_SOURCE_CHARACTERS], company=each.trusted
        )
        for name, each, _ in named_pages(memory, requester_of(run.tools))
    }
    for call in memory.calls:
        if call.result:
            name = f"c{call.number}"
            sources[name] = review.ReviewedSource(name=name, text=shown(call.result, _SOURCE_CHARACTERS))
    changes = [call for call in memory.calls if call.access == "write"]
    behind = _after(memory.calls, changes)
    ticket = memory.ticket
    return review.ReviewInput(
        ticket=f"{ticket.title}\n\n{ticket.body}"[:_TICKET_CHARACTERS],
        dialogue=[f"{each.author}: {each.text}" for each in ticket.dialogue[-20:]],
        verdict=concluded.verdict,
        cause=concluded.cause,
        open=concluded.open,
        sentences=[
            review.CitedText(number=number, text=each.text, sources=list(each.citations))
            for number, each in enumerate(text.sentences[:100], 1)
        ],
        sources=[sources[name] for name in sorted(cited | behind) if name in sources],
        changes=[
            review.ReviewedChange(tool=call.tool, outcome=call.outcome, agreed=call.agreed) for call in changes[:50]
        ],
        now=now,
    )


def _after(calls: Sequence[CallRecord], changes: Sequence[CallRecord]) -> set[str]:
    """What was done, and what was looked at behind it: it shows whether a change helped."""
    done = [call.number for call in changes if call.outcome == "done"]
    return {f"c{call.number}" for call in calls if done and call.number >= min(done)}


def _is_open(concluded: concluding.Conclusion, reviewed: _ReviewedText) -> bool:
    return concluded.verdict == "auto_resolved" and not (reviewed.complete and reviewed.answers)


def _objection(concluded: concluding.Conclusion, reviewed: _ReviewedText) -> str:
    if concluded.verdict != "auto_resolved":
        return ""
    return "" if not _is_open(concluded, reviewed) else reviewed.why if reviewed.answers else _NO_EVIDENCE


def _open_change(calls: Sequence[CallRecord]) -> str:
    """A change that waits, or of which nobody knows whether it was done, leaves a ticket open whoever concludes."""
    waits = [call.tool for call in calls if call.access == "write" and call.outcome in {"asked", "unknown"}]
    return f"{waits[0]} waits, or nobody knows whether it was done." if waits else ""


def _with_question(reply: str, question: str) -> str:
    question = question.strip()
    return reply if not question or question in reply else f"{reply}\n\n{question}".strip()
