"""Judging: the verdict, the completion check before anything is called resolved, and the reply with its sources."""

import asyncio
import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import Any, NamedTuple
from uuid import UUID

from gaby.agent.begun_changes import begun_changes
from gaby.agent.bursts import wake_followers
from gaby.agent.edges import Ending, Statement, Step
from gaby.agent.envelope import Toolboxes, fill
from gaby.agent.ledger_entries import enter_calls, enter_passages
from gaby.agent.loading import load
from gaby.agent.memory import Delta, PassageRecord
from gaby.agent.models import Investigation
from gaby.agent.moves import Investigating, Move
from gaby.agent.replies import PUBLIC, PageLink, cited_text, message, note, tokens_in
from gaby.agent.retry_later import missed_calls
from gaby.agent.states import Judging
from gaby.kernel.clock import Clock
from gaby.kernel.crypto import Vault
from gaby.kernel.database import Database
from gaby.kernel.ids import Ids
from gaby.knowledge.answering import DISCLAIMER
from gaby.knowledge.audiences import audiences_of
from gaby.knowledge.service import Knowledge
from gaby.llm.books import OFFLINE, BudgetSpent
from gaby.llm.results import Again, Token
from gaby.llm.service import Models
from gaby.mind import Case, CitedSentence, Conclusion, Situation, cited_sentences, conclude, shown, support
from gaby.mind.languages import language_of
from gaby.safety import STAFF_READER, Reader, Readers
from gaby.skills import complete, judge, plan, summarise
from gaby.tickets.adapters.adapter import Capabilities
from gaby.tickets.canonical import Verdict
from gaby.tickets.desks import Desks
from gaby.tools import Tools
from gaby.tools.disclosure import requester_of
from gaby_connectors.sdk.manifest import Audience

_SOURCE_CHARACTERS = 6000
_EVERYTHING = {"passages": 40, "results": 200, "result_characters": 100_000}
_ESCALATED: frozenset[Verdict] = frozenset({"needs_tech", "needs_l2", "needs_client", "failed", "failed_budget"})
_POSTING = (
    "INSERT INTO postings (workspace_id, id, run_id, ticket_id, kind, state, marker, content, shown, created_at, "
    "tries) VALUES (?, ?, ?, ?, ?, 'due', ?, ?, ?, ?, 0)"
)


@dataclass(frozen=True)
class Judge:
    database: Database
    clock: Clock
    ids: Ids
    vault: Vault
    tools: Tools
    models: Models
    knowledge: Knowledge
    desks: Desks
    toolboxes: Toolboxes

    async def judge(self, run: Investigating, state: Judging, *, escalates: bool) -> Move:
        if state.follows is not None:
            return await self._as_the_lead(run, state, state.follows, escalates=escalates)
        if state.broken is not None:
            end = _Ending("failed", [state.broken], "", OFFLINE, await self.begun_changes(run))
            return await self._ended(run, state, end, escalates=escalates)
        enter_calls(run)
        situation = await self._situation(run, state)
        conclusion = await asyncio.to_thread(conclude, situation, self.models.runner.embed)
        verdict, reasons, judged_by = await self._verdict(run, state, conclusion)
        missed = missed_calls(run.memory.calls)
        if missed and verdict in {"failed", "needs_l2"} and not conclusion.case.security:
            # What is missing is known, and a colleague can do it.
            verdict = "needs_tech"
        cited, written_by = await self._written(run, conclusion, verdict)
        if verdict == "auto_resolved":
            done, why = await self._is_complete(run, conclusion, cited)
            if not done:
                verdict, reasons = "needs_tech", [*reasons, why]
        if verdict not in {"auto_resolved", "skipped"}:
            urgent = [f"Urgency: {conclusion.urgency}."] if conclusion.urgency in {"high", "critical"} else []
            reasons = [*urgent, *reasons, *missed]
        notes = cited_text(conclusion.notes)
        if verdict == "failed_budget":
            notes = "\n\n".join(part for part in (await self.begun_changes(run), notes) if part)
        end = _Ending(verdict, reasons, cited, written_by, notes)
        move = await self._ended(run, state, end, escalates=escalates)
        return move if judged_by == OFFLINE else replace(move, delta=move.delta.model_copy(update={"by_model": True}))

    async def _as_the_lead(self, run: Investigating, state: Judging, lead: UUID, *, escalates: bool) -> Move:
        """What was found for one holds for all, except what was found about the one."""
        async with self.database.read(run.workspace_id) as session:
            row = await session.get_one(Investigation, (run.workspace_id, lead))
            told = (await load(session, self.vault, row)).memory
        general = [
            each
            for each in cited_sentences(told.cited or "")
            if each.citations and all(token.startswith("doc:") for token in each.citations)
        ]
        cited = cited_text([CitedSentence(each.text, tuple(each.citations)) for each in general])
        verdict: Verdict = told.verdict or "needs_tech"
        pages = await self._still_there(run, [each for each in told.passages if each.citation in tokens_in(cited)])
        written_by, internal = told.written_by or OFFLINE, told.internal
        if written_by != OFFLINE:
            # A model may have woven anything of the other ticket into its words. From the same pages it writes anew.
            reader = requester_of(run.tools) if verdict in PUBLIC else STAFF_READER
            internal = verdict not in PUBLIC
            pages = tuple(each for each in pages if Readers(Audience(each.audience)).allow(reader))
            found = [(each.citation, each.text) for each in pages]
            cited, written_by = await self._composed(run, verdict, found, "") if found else ("", OFFLINE)
        if verdict in PUBLIC and not cited:
            verdict = "needs_tech"
        reasons = ["Several tickets tell of the same trouble, which is looked into once.", *told.reasons]
        # What the pages may tell this reader is decided anew.
        enter_passages(run, pages, internal=internal)
        move = await self._ended(run, state, _Ending(verdict, reasons, cited, written_by, ""), escalates=escalates)
        return replace(move, delta=move.delta.model_copy(update={"passages": pages, "internal": internal}))

    async def begun_changes(self, run: Investigating) -> str:
        async with self.database.read(run.workspace_id) as session:
            # Before its first edge a run has called nothing.
            return await begun_changes(session, run.run_id, run.memory.calls) if run.edges else ""

    async def _still_there(self, run: Investigating, pages: Sequence[PassageRecord]) -> tuple[PassageRecord, ...]:
        """With who may read them now: a page may have been withdrawn since the lead has read it."""
        now = await audiences_of(self.database, run.workspace_id, {each.document_id for each in pages})
        return tuple(each.model_copy(update={"audience": now[each.document_id]}) for each in pages)

    async def _ended(self, run: Investigating, state: Judging, end: "_Ending", *, escalates: bool) -> Move:
        verdict, reasons, cited, written_by, notes = end
        reader = requester_of(run.tools) if verdict in PUBLIC else STAFF_READER
        cited, notes = run.restored(cited, reader), run.restored(notes, STAFF_READER)
        private = verdict not in PUBLIC and (await self._able(run)).private_replies
        tellable, internal = _for_requester(run, cited)
        behind = "\n".join(part for part in (notes, internal) if part)
        inside = note(verdict, tellable, written_by, notes=behind, reasons=reasons)
        # Where a desk has no private notes, what is meant for colleagues is not written at all: they are escalated to.
        pages = {each.citation: PageLink(each.title) for each in run.memory.passages}
        spoken = language_of(f"{run.memory.ticket.title}\n\n{run.memory.ticket.body}")
        outside = message(verdict, cited, written_by, hidden=_closed_pages(run), language=spoken, pages=pages)
        body = "" if verdict == "skipped" else inside if private else outside
        await self._keep_citations(run, body and f"{cited}\n{notes}")
        delta = Delta(verdict=verdict, reasons=tuple(reasons), reply=body, cited=cited, written_by=written_by)
        told = run.told(" ".join(reasons))
        return Move(
            state.judged(verdict),
            (Step("gaby", verdict, told, "verdict"),),
            delta,
            ending=Ending(verdict=verdict, reason=told[:500], summary=run.told(cited)),
            also=(
                *await self._postings(run, end, body, inside, escalates=escalates),
                wake_followers(run, self.clock.now()),
            ),
            audit={"verdict": verdict, "written_by": written_by},
        )

    async def _situation(self, run: Investigating, state: Judging) -> Situation:
        """All that was found, whole: what the planner was shown of it was bounded."""
        tools = self.toolboxes.of(await self.tools.catalogue.snapshot(run.workspace_id))
        bounds = run.persona.bounds.model_copy(update=_EVERYTHING)
        now = self.clock.now()
        reader = requester_of(run.tools)
        filled = fill(run.memory, tools, [], bounds, reader=reader, ticket_id=run.ticket.external_id, now=now)
        found, closed = plan.situation(filled.envelope), _closed_pages(run)
        passages = [replace(each, for_requester=each.citation not in closed) for each in found.passages]
        return replace(found, passages=passages, budget_gone=state.budget is not None)

    async def _verdict(
        self, run: Investigating, state: Judging, conclusion: Conclusion
    ) -> tuple[Verdict, list[str], str]:
        """With its reasons, and who gave it."""
        if state.budget is not None:
            return "failed_budget", [f"{state.budget} is used up."], OFFLINE
        if not run.memory.worth_investigating or run.ticket.closed_at is not None:
            return "skipped", [state.because or "There is nothing to look into."], OFFLINE
        case = _case(conclusion.case, run)
        try:
            judged = await self.models.runner.run(judge.skill, case, run.occasion)
        except BudgetSpent:
            return conclusion.judgement.verdict, list(conclusion.judgement.reasons), OFFLINE
        return judged.value.verdict, judged.value.reasons, judged.source

    async def _written(self, run: Investigating, conclusion: Conclusion, verdict: Verdict) -> tuple[str, str]:
        """The reply with its tokens, and who wrote it. A model's sentences are held against what they cite."""
        offline = cited_text(conclusion.sentences)
        if verdict in {"skipped", "failed_budget"}:
            return offline, OFFLINE
        reader = requester_of(run.tools) if verdict in PUBLIC else STAFF_READER
        return await self._composed(run, verdict, await self._tellable(run, reader), offline)

    async def _composed(
        self, run: Investigating, verdict: Verdict, found: Sequence[tuple[str, str]], offline: str
    ) -> tuple[str, str]:
        """From tokens and texts that the reader may be told, and from nothing else."""
        sources = _named(found)
        material = summarise.Material(
            question=f"{run.memory.ticket.title}\n\n{run.memory.ticket.body}"[:20_000],
            sources=[summarise.Source(citation=name, text=text) for name, (_, text) in sources.items()],
            reader="the person who wrote the ticket" if verdict in PUBLIC else "a colleague",
        )
        try:
            text, source = await self._stream(run, material)
        except BudgetSpent:
            return offline, OFFLINE
        if source == OFFLINE:
            return offline, OFFLINE
        return _by_tokens(text, sources), source

    async def _tellable(self, run: Investigating, reader: Reader) -> list[tuple[str, str]]:
        """What the reader may be told: tokens and texts."""
        found = [
            (each.citation, each.text) for each in run.memory.passages if Readers(Audience(each.audience)).allow(reader)
        ]
        for call in run.memory.calls:
            if call.outcome == "done" and call.result is not None:
                part = await self.tools.invoker.readable(run.tools, call.tool, call.arguments, call.result, reader)
                if part is not None:
                    found.append((call.citation, shown(part, _SOURCE_CHARACTERS)))
        return found

    async def _stream(self, run: Investigating, material: summarise.Material) -> tuple[str, str]:
        async for part in self.models.runner.stream(summarise.skill, material, run.occasion):
            if isinstance(part, Token | Again):
                if run.on_token is not None:
                    run.on_token(part.text if isinstance(part, Token) else None)
            else:
                return part.value.text, part.source
        raise AssertionError("a skill ends with a result")

    async def _is_complete(self, run: Investigating, conclusion: Conclusion, cited: str) -> tuple[bool, str]:
        ticket = run.memory.ticket
        verified = conclusion.case.verified
        given = complete.Ending(
            ticket="\n\n".join((ticket.title, ticket.body, *ticket.messages))[:20_000],
            summary=cited,
            verdict="auto_resolved",
            evidence=[
                complete.Evidence(citation=token, text=text)
                for token, text in await self._tellable(run, STAFF_READER)
                if token in cited
            ],
            changes=[
                complete.Made(tool=call.tool, outcome=call.outcome, verified=verified)
                for call in run.memory.calls
                if call.lane == "write"
            ],
        )
        try:
            checked = (await self.models.runner.run(complete.skill, given, run.occasion)).value
        except BudgetSpent:
            return False, "The budget did not allow to check whether it is done."
        return checked.complete, checked.why

    async def _keep_citations(self, run: Investigating, text: str) -> None:
        """So that each opens at its lines, also when the document has changed since."""
        used = set(tokens_in(text))
        cited = [
            (each.citation, each.document_id, each.text.strip("\n"))
            for each in run.memory.passages
            if each.citation in used
        ]
        if cited:
            async with self.database.write(run.workspace_id) as session:
                await self.knowledge.parts.citations.keep(session, cited)

    async def _postings(
        self, run: Investigating, end: "_Ending", body: str, inside: str, *, escalates: bool
    ) -> tuple[Statement, ...]:
        verdict, reasons = end.verdict, end.reasons
        if run.ticket.closed_at is not None:
            return ()
        able = await self._able(run)
        wanted: dict[str, tuple[dict[str, Any], str]] = {}
        if body:
            private = verdict not in PUBLIC and able.private_replies
            wanted["reply"] = ({"body": body, "private": private}, run.told(body))
        if able.statuses:
            standing = run.memory.standing(verdict)
            wanted["status"] = ({"verdict": standing}, standing)
        if able.time_entries and run.persona.time_entries and verdict != "skipped":
            minutes = 1
            wanted["time"] = ({"minutes": minutes, "note": f"Gaby looked into it: {verdict}"}, f"{minutes} min")
        postings = [self._posting(run, kind, content, told) for kind, (content, told) in wanted.items()]
        if escalates and verdict in _ESCALATED:
            postings.append(self.escalation(run, verdict, reasons, inside))
        return tuple(postings)

    def escalation(self, run: Investigating, verdict: Verdict, reasons: Sequence[str], inside: str) -> Statement:
        """With the investigation attached, and without personal data."""
        title = run.told(run.memory.ticket.title)
        content = {
            "verdict": verdict,
            "title": title,
            "reasons": [run.told(reason) for reason in reasons],
            "summary": run.told(inside),
            "steps": [f"{call.tool}: {call.outcome}" for call in run.memory.calls],
            "run_id": str(run.run_id),
            "ticket": run.ticket.external_id,
        }
        return self._posting(run, "escalation", content, f"{verdict}: {title}")

    def _posting(self, run: Investigating, kind: str, content: dict[str, Any], told: str) -> Statement:
        marker = f"gaby-{sha256(f'{run.run_id} {kind}'.encode()).hexdigest()[:32]}"
        sealed = run.sealing.seal(json.dumps(content).encode())
        place = (run.workspace_id.hex, self.ids.new().hex, run.run_id.hex, run.ticket.id.hex)
        return Statement(_POSTING, (*place, kind, marker, sealed, told[:20_000], self.clock.now()))

    async def _able(self, run: Investigating) -> Capabilities:
        async with self.database.read(run.workspace_id) as session:
            desk = await self.desks.get(session, run.ticket.desk_id)
            return (await self.desks.adapter(session, desk)).capabilities()


class _Ending(NamedTuple):
    verdict: Verdict
    reasons: list[str]
    cited: str
    written_by: str
    notes: str


def _for_requester(run: Investigating, cited: str) -> tuple[str, str]:
    """The sentences that the requester may be told, and those that repeat what is for colleagues."""
    reading, reader = run.tools.ledger.reading, requester_of(run.tools)
    tellable: list[CitedSentence] = []
    internal: list[CitedSentence] = []
    for each in cited_sentences(cited):
        closed = reading.quoted_in(each.text, reader) or reading.told_by(each.text, reader)
        (internal if closed else tellable).append(CitedSentence(each.text, tuple(each.citations)))
    return cited_text(tellable), cited_text(internal)


def _closed_pages(run: Investigating) -> frozenset[str]:
    """Citations of pages that the requester may not read, whose names are not told either."""
    reader = requester_of(run.tools)
    closed = [each for each in run.memory.passages if not Readers(Audience(each.audience)).allow(reader)]
    return frozenset(each.citation for each in closed)


def _case(case: Case, run: Investigating) -> judge.Case:
    return judge.Case(
        ticket=f"{run.memory.ticket.title}\n\n{run.memory.ticket.body}"[:8000],
        worth_investigating=case.worth_investigating,
        findings=[
            judge.Finding(
                statement=each.statement,
                explains=each.explains,
                healthy=each.healthy,
                cited=each.cited,
                up_to=each.up_to,
            )
            for each in case.findings
        ],
        steps=[
            judge.Step(tool=each.tool, outcome=each.outcome, changes=each.changes, reason=each.reason)
            for each in case.steps
        ],
        missing=list(case.missing),
        answered=case.answered,
        asks_change=case.asks_change,
        verified=case.verified,
        security=case.security,
        contradictions=case.contradictions,
        budget_gone=case.budget_gone,
    )


def _named(found: Sequence[tuple[str, str]]) -> dict[str, tuple[str, str]]:
    """Short names, since models copy long tokens wrongly."""
    return {f"s{number}": source for number, source in enumerate(found[:100], 1)}


def _by_tokens(text: str, sources: dict[str, tuple[str, str]]) -> str:
    """Names become tokens; a sentence that its sources do not confirm says so."""
    sentences: list[CitedSentence] = []
    for each in cited_sentences(text):
        cited = [sources[name] for name in each.citations if name in sources]
        holds = bool(cited) and support(each.text, [source for _, source in cited]).holds
        words = each.text if holds or not cited else f"{each.text} {DISCLAIMER}"
        sentences.append(CitedSentence(words, tuple(token for token, _ in cited)))
    return cited_text(sentences)
