"""The verdict step: the verdict, the completion check before a ticket is called resolved, and the cited reply."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace
from uuid import UUID

from gaby.agent.applied_changes import begun_changes
from gaby.agent.envelope import PlannerToolsCache, fill
from gaby.agent.final_answer import FinalAnswer, FinalAnswerWriter, by_rules
from gaby.agent.incident_grouping import wake_followers
from gaby.agent.ledger_entries import enter_calls, enter_passages
from gaby.agent.memory import MemoryDelta, PassageRecord
from gaby.agent.models import Investigation
from gaby.agent.replies import PUBLIC, PageLink, cited_text, message, note, tokens_in
from gaby.agent.reply_text import ReplyText
from gaby.agent.retry_later import missed_calls
from gaby.agent.run_context import InvestigationContext, NextTransition
from gaby.agent.run_loader import load
from gaby.agent.run_postings import RunPostings, reply_language
from gaby.agent.states import Judging
from gaby.agent.transitions import Ending, TimelineStep
from gaby.kernel.clock import Clock
from gaby.kernel.crypto import Vault
from gaby.kernel.database import Database
from gaby.kernel.outcomes import Verdict
from gaby.knowledge.audiences import audiences_of
from gaby.knowledge.service import Knowledge
from gaby.llm.budget_ledger import OFFLINE, BudgetSpent
from gaby.llm.results import StreamReset, StreamToken
from gaby.llm.service import Models
from gaby.mind import CitedSentence, RuleConclusion, Situation, cited_sentences, conclude, shown, support
from gaby.safety import STAFF_READER, Reader, Readers
from gaby.skills import plan, review, summarise
from gaby.tools import Tools
from gaby.tools.disclosure import requester_of
from gaby_connectors.sdk.manifest import Audience

_SOURCE_CHARACTERS = 6000
_EVERYTHING = {"passages": 40, "results": 200, "result_characters": 100_000}


@dataclass(frozen=True)
class VerdictStep:
    database: Database
    clock: Clock
    vault: Vault
    tools: Tools
    models: Models
    knowledge: Knowledge
    toolboxes: PlannerToolsCache
    answerer: FinalAnswerWriter
    postings: RunPostings

    async def judge(self, run: InvestigationContext, state: Judging, *, escalates: bool) -> NextTransition:
        if state.follows is not None:
            return await self._as_the_lead(run, state, state.follows, escalates=escalates)
        if state.broken is not None:
            answer = FinalAnswer("failed", [state.broken], "", await self.begun_changes(run))
            return await self._ended(run, state, answer, escalates=escalates)
        enter_calls(run)
        if run.memory.conclusion is not None and state.budget is None and run.ticket.closed_at is None:
            by = run.memory.written_by or OFFLINE
            answer = await self.answerer.by_model(run, run.memory.conclusion, by)
            if answer.verdict not in {"auto_resolved", "skipped"}:
                changes = await self.begun_changes(run)
                note = "\n\n".join(part for part in (answer.note, changes) if part)
                reasons = [*_urgent(run.memory.urgency), *answer.reasons, *missed_calls(run.memory.calls)]
                answer = replace(answer, reasons=reasons, note=note)
        else:
            answer = await self._by_rules(run, state)
        if answer.verdict not in {"auto_resolved", "skipped"}:
            answer = replace(answer, reasons=[*answer.reasons, *await self._quarantined(run)])
        return await self._ended(run, state, answer, escalates=escalates)

    async def _by_rules(self, run: InvestigationContext, state: Judging) -> FinalAnswer:
        situation = await self._situation(run, state)
        conclusion = await asyncio.to_thread(conclude, situation, self.models.runner.embed)
        answer = by_rules(conclusion)
        if state.budget is not None:
            answer = replace(answer, verdict="failed_budget", reasons=[f"{state.budget} is used up."])
        elif not run.memory.worth_investigating or run.ticket.closed_at is not None:
            answer = replace(answer, verdict="skipped", reasons=[state.because or "There is nothing to look into."])
        missed = missed_calls(run.memory.calls)
        if missed and answer.verdict in {"failed", "needs_l2"} and not conclusion.case.security:
            # What is missing is known, and a colleague can do it.
            answer = replace(answer, verdict="needs_tech")
        if answer.verdict == "auto_resolved" and not conclusion.is_suggestion:
            done, why = await self._is_complete(run, conclusion, answer.reply)
            if not done:
                answer = replace(answer, verdict="needs_tech", reasons=[*answer.reasons, why])
        if answer.verdict not in {"auto_resolved", "skipped"}:
            answer = replace(answer, reasons=[*_urgent(conclusion.urgency), *answer.reasons, *missed])
        if answer.verdict == "failed_budget":
            notes = "\n\n".join(part for part in (await self.begun_changes(run), answer.note) if part)
            answer = replace(answer, note=notes)
        return answer

    async def _as_the_lead(
        self, run: InvestigationContext, state: Judging, lead: UUID, *, escalates: bool
    ) -> NextTransition:
        """What was found for one holds for all, except what was found about the one."""
        async with self.database.read(run.workspace_id) as session:
            row = await session.get_one(Investigation, (run.workspace_id, lead))
            lead_memory = (await load(session, self.vault, row)).memory
        general = [
            each
            for each in cited_sentences(lead_memory.cited or "")
            if each.citations and all(token.startswith("doc:") for token in each.citations)
        ]
        cited = cited_text([CitedSentence(each.text, tuple(each.citations)) for each in general])
        verdict: Verdict = lead_memory.verdict or "needs_tech"
        pages = await self._still_there(
            run, [each for each in lead_memory.passages if each.citation in tokens_in(cited)]
        )
        written_by, internal = lead_memory.written_by or OFFLINE, lead_memory.internal
        if written_by != OFFLINE:
            # A model may have woven anything of the other ticket into its words. From the same pages it writes anew.
            reader = requester_of(run.tools) if verdict in PUBLIC else STAFF_READER
            internal = verdict not in PUBLIC
            pages = tuple(each for each in pages if Readers(Audience(each.audience)).allow(reader))
            texts = [(each.citation, each.text) for each in pages]
            cited, written_by = await self._composed(run, verdict, texts, "") if texts else ("", OFFLINE)
        if verdict in PUBLIC and not cited:
            verdict = "needs_tech"
        reasons = ["Several tickets tell of the same trouble, which is looked into once.", *lead_memory.reasons]
        # What the pages may tell this reader is decided anew.
        enter_passages(run, pages, internal=internal)
        answer = FinalAnswer(verdict, reasons, cited, "", written_by)
        move = await self._ended(run, state, answer, escalates=escalates)
        return replace(move, delta=move.delta.model_copy(update={"passages": pages, "internal": internal}))

    async def _quarantined(self, run: InvestigationContext) -> list[str]:
        """Connectors that a planner was not even shown, so that nothing else says why they were not used."""
        connectors = (await self.tools.catalogue.snapshot(run.workspace_id)).connectors
        return [
            f"{name} was not used: its tools changed since they were accepted. `gaby connector diff {name}` shows how."
            for name, connector in sorted(connectors.items())
            if connector.quarantined
        ]

    async def begun_changes(self, run: InvestigationContext) -> str:
        async with self.database.read(run.workspace_id) as session:
            # Before its first edge a run has called nothing.
            return await begun_changes(session, run.run_id, run.memory.calls) if run.edges else ""

    async def _still_there(
        self, run: InvestigationContext, pages: Sequence[PassageRecord]
    ) -> tuple[PassageRecord, ...]:
        """With who may read them now: a page may have been withdrawn since the lead has read it."""
        now = await audiences_of(self.database, run.workspace_id, {each.document_id for each in pages})
        return tuple(each.model_copy(update={"audience": now[each.document_id]}) for each in pages)

    async def _ended(
        self, run: InvestigationContext, state: Judging, answer: FinalAnswer, *, escalates: bool
    ) -> NextTransition:
        verdict, reasons, written_by = answer.verdict, answer.reasons, answer.written_by
        reader = requester_of(run.tools)
        able = await self.postings.capabilities(run)
        texts = _Texts(
            reply=run.restored(answer.reply, reader),
            note=run.restored(answer.note, STAFF_READER),
            private=able.private_replies,
        )
        outside = message(
            verdict,
            texts.reply,
            written_by,
            hidden=_closed_pages(run),
            language=reply_language(run, texts.reply if written_by != OFFLINE else ""),
            # A runbook is written for colleagues, whoever may read it.
            pages={each.citation: PageLink(each.title) for each in run.memory.passages if not each.runbook},
            tells_change=answer.tells_change and verdict == "needs_tech",
        )
        inside = self._inside(run, answer, texts)
        body = "" if verdict == "skipped" else outside if verdict in PUBLIC else inside if texts.private else ""
        await self._keep_citations(run, f"{texts.reply}\n{texts.note}" if verdict != "skipped" else "")
        delta = MemoryDelta(
            verdict=verdict,
            reasons=tuple(reasons),
            reply=body,
            cited=texts.reply,
            note=texts.note,
            released=tuple(run.restored(each, reader) for each in answer.released),
            written_by=written_by,
            is_open=reader.kind == "verified" and not run.tools.ledger.reading.unreadable(reader),
            tokens=answer.tokens,
            nano_usd=answer.nano_usd,
        )
        reason = run.redact_own(" ".join(reasons))
        summary = texts.reply if verdict in PUBLIC else "\n".join(part for part in (texts.note, texts.reply) if part)
        return NextTransition(
            state.judged(verdict),
            (TimelineStep("gaby", verdict, reason, "verdict"),),
            delta,
            ending=Ending(verdict=verdict, reason=reason[:500], summary=run.redact_own(summary)),
            also=(
                *await self.postings.of_answer(run, answer, body, inside, outside, escalates=escalates),
                wake_followers(run, self.clock.now()),
            ),
            audit={"verdict": verdict, "written_by": written_by},
        )

    def _inside(self, run: InvestigationContext, answer: FinalAnswer, texts: "_Texts") -> str:
        """What colleagues read. What a model wrote for the requester stands in the ticket, unless it was held back
        because of the pages that it rests on."""
        if answer.written_by != OFFLINE:
            held = f"Written for the requester:\n{texts.reply}" if run.memory.internal and texts.reply else ""
            notes = "\n\n".join(part for part in (texts.note, held) if part)
            return note(answer.verdict, "", answer.written_by, notes=notes, reasons=answer.reasons)
        released = frozenset(run.restored(each, requester_of(run.tools)) for each in answer.released)
        tellable, internal = _for_requester(run, texts.reply, released)
        behind = "\n".join(part for part in (texts.note, internal) if part)
        return note(answer.verdict, tellable, answer.written_by, notes=behind, reasons=answer.reasons)

    async def _situation(self, run: InvestigationContext, state: Judging) -> Situation:
        """All that was found, whole: what the planner was shown of it was bounded."""
        tools = self.toolboxes.tools_for(await self.tools.catalogue.snapshot(run.workspace_id))
        bounds = run.persona.bounds.model_copy(update=_EVERYTHING)
        now = self.clock.now()
        reader = requester_of(run.tools)
        filled = fill(run.memory, tools, [], bounds, reader=reader, ticket_id=run.ticket.external_id, now=now)
        situation, closed = plan.situation(filled.envelope), _closed_pages(run)
        passages = [replace(each, for_requester=each.citation not in closed) for each in situation.passages]
        heard = any(each.author == "gaby" for each in run.memory.ticket.dialogue)
        drafts = await self.postings.drafts(run)
        return replace(
            situation, passages=passages, asked_before=heard, budget_gone=state.budget is not None, drafts=drafts
        )

    async def _composed(
        self, run: InvestigationContext, verdict: Verdict, texts: Sequence[tuple[str, str]], offline: str
    ) -> tuple[str, str]:
        """From tokens and texts that the reader may be told, and from nothing else."""
        sources = _named(texts)
        material = summarise.SummaryInput(
            question=f"{run.memory.ticket.title}\n\n{run.memory.ticket.body}"[:20_000],
            sources=[summarise.SummarySource(citation=name, text=text) for name, (_, text) in sources.items()],
            reader="the person who wrote the ticket" if verdict in PUBLIC else "a colleague",
        )
        try:
            text, source = await self._stream(run, material)
        except BudgetSpent:
            return offline, OFFLINE
        if source == OFFLINE:
            return offline, OFFLINE
        return _by_tokens(text, sources), source

    async def _tellable(self, run: InvestigationContext, reader: Reader) -> list[tuple[str, str]]:
        """What the reader may be told: tokens and texts."""
        texts = [
            (each.citation, each.text) for each in run.memory.passages if Readers(Audience(each.audience)).allow(reader)
        ]
        for call in run.memory.calls:
            if call.outcome == "done" and call.result is not None:
                part = await self.tools.invoker.readable(run.tools, call.tool, call.arguments, call.result, reader)
                if part is not None:
                    texts.append((call.citation, shown(part, _SOURCE_CHARACTERS)))
        return texts

    async def _stream(self, run: InvestigationContext, material: summarise.SummaryInput) -> tuple[str, str]:
        async for part in self.models.runner.stream(summarise.skill, material, run.occasion):
            if isinstance(part, StreamToken | StreamReset):
                if run.on_token is not None:
                    run.on_token(part.text if isinstance(part, StreamToken) else None)
            else:
                return part.value.text, part.source
        raise AssertionError("a skill ends with a result")

    async def _is_complete(self, run: InvestigationContext, conclusion: RuleConclusion, cited: str) -> tuple[bool, str]:
        """A second look before anything is called resolved: by a model where there is one, by rules otherwise."""
        ticket = run.memory.ticket
        tellable = await self._tellable(run, STAFF_READER)
        given = review.ReviewInput(
            ticket="\n\n".join((ticket.title, ticket.body, *ticket.messages))[:20_000],
            verdict="auto_resolved",
            sentences=[
                review.CitedText(number=number, text=each.text, sources=list(each.citations))
                for number, each in enumerate(cited_sentences(cited)[:100], 1)
            ],
            sources=[review.ReviewedSource(name=token, text=text) for token, text in tellable if token in cited][:100],
            changes=[
                review.ReviewedChange(tool=call.tool, outcome=call.outcome, verified=conclusion.case.verified)
                for call in run.memory.calls
                if call.access == "write"
            ][:50],
            by_runbook=bool(conclusion.followed),
        )
        try:
            checked = (await self.models.runner.run(review.skill, given, run.occasion)).value
        except BudgetSpent:
            return False, "The budget did not allow to check whether it is done."
        if checked.complete and any(each.support == "unsupported" for each in checked.sentences):
            return False, "A sentence of the reply is not carried by its source."
        return checked.complete, checked.why

    async def _keep_citations(self, run: InvestigationContext, text: str) -> None:
        """So that each opens at its lines, also when the document has changed since."""
        used = set(tokens_in(text))
        cited = [
            (each.citation, each.document_id, each.text.strip("\n"))
            for each in run.memory.passages
            if each.citation in used
        ]
        if cited:
            async with self.database.write(run.workspace_id) as session:
                await self.knowledge.components.citations.store(session, cited)


@dataclass(frozen=True)
class _Texts:
    reply: str
    note: str
    private: bool
    """The desk has notes that only colleagues read."""


def _for_requester(run: InvestigationContext, cited: str, released: frozenset[str]) -> tuple[str, str]:
    """The sentences that the requester may be told, also by a runbook that `released` them, and those that repeat what
    is for colleagues."""
    reading, reader = run.tools.ledger.reading, requester_of(run.tools)
    text = ReplyText.read(cited)
    closed = {
        place: each
        for place, each in enumerate(text.sentences)
        if each.text not in released
        and (reading.quoted_in(each.text, reader) or reading.disclosures(each.text, reader))
    }
    tokens = {name: name for each in text.sentences for name in each.citations}
    internal = [CitedSentence(each.text, tuple(each.citations)) for each in closed.values()]
    return text.written(tokens, closed), cited_text(internal)


def _closed_pages(run: InvestigationContext) -> frozenset[str]:
    """Citations of pages that the requester may not read, whose names are not told either."""
    reader = requester_of(run.tools)
    closed = [each for each in run.memory.passages if not Readers(Audience(each.audience)).allow(reader)]
    return frozenset(each.citation for each in closed)


def _named(texts: Sequence[tuple[str, str]]) -> dict[str, tuple[str, str]]:
    """Short names, since models copy long tokens wrongly."""
    return {f"s{number}": source for number, source in enumerate(texts[:100], 1)}


def _by_tokens(text: str, sources: dict[str, tuple[str, str]]) -> str:
    """With tokens in the place of names. A sentence that names none of its sources is left out."""
    sentences: list[CitedSentence] = []
    for each in cited_sentences(text):
        cited = [sources[name] for name in each.citations if name in sources]
        if cited and support(each.text, [source for _, source in cited]).holds:
            sentences.append(CitedSentence(each.text, tuple(token for token, _ in cited)))
    return cited_text(sentences)


def _urgent(urgency: str | None) -> list[str]:
    return [f"Urgency: {urgency}."] if urgency in {"high", "critical"} else []
