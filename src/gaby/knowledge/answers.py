"""An answer from the knowledge: found, written with a citation for every claim, checked, disclaimed where need be."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from gaby.kernel.actors import Actor
from gaby.kernel.database import Database
from gaby.kernel.ids import RunId
from gaby.kernel.metrics import Metrics
from gaby.knowledge.citations.resolver import Citations
from gaby.knowledge.learning.gaps import KnowledgeGaps
from gaby.knowledge.retrieval.assisted_search import AssistedSearch
from gaby.knowledge.retrieval.results import SearchHit, SearchResults
from gaby.llm.service import Models
from gaby.mind import FoundPassage, cited_sentences, support
from gaby.mind.answers import WELL
from gaby.mind.answers import answer as answer_from_pages
from gaby.skills.summarise import NOTHING, SummaryInput, SummarySource
from gaby.skills.summarise import skill as summarise

DISCLAIMER = "(The cited source does not confirm this.)"


@dataclass(frozen=True)
class AnswerClaim:
    """A sentence of an answer."""

    text: str
    citations: tuple[str, ...]
    holds: bool
    doubt: str = ""


@dataclass(frozen=True)
class CitedAnswer:
    text: str
    """With the tokens in brackets. What its source does not confirm says so."""
    claims: tuple[AnswerClaim, ...]
    results: SearchResults
    written_by: str
    """A model, or `offline`."""
    asked_again: bool = False


class AnswerService:
    def __init__(
        self,
        database: Database,
        search: AssistedSearch,
        models: Models,
        citations: Citations,
        gaps: KnowledgeGaps,
        metrics: Metrics,
    ) -> None:
        self._database = database
        self._search = search
        self._models = models
        self._citations = citations
        self._gaps = gaps
        self._metrics = metrics

    async def answer(self, actor: Actor, question: str, run_id: RunId | None = None) -> CitedAnswer:
        """A question without an answer is remembered as a gap."""
        occasion = self._models.occasion(actor.workspace_id, run_id)
        results = await self._search.search(occasion, question)
        if not results.hits:
            await self._gaps.note(actor.workspace_id, question)
            return CitedAnswer(NOTHING, (), results, "offline")
        # Short names instead of tokens: those hold headings that strangers wrote, and a model copies them wrongly.
        named = {f"s{number}": hit for number, hit in enumerate(results.hits, 1)}
        sources = [SummarySource(citation=name, text=hit.read_aloud) for name, hit in named.items()]
        material = SummaryInput(question=question, sources=sources)
        written = await self._models.runner.run(summarise, material, occasion)
        if written.offline:
            return await self._from_pages(actor, question, results)
        claims = claims_of(written.value.text, named)
        again = not all(claim.holds for claim in claims)
        if again:
            doubts = [f"{claim.text} {claim.doubt}" for claim in claims if not claim.holds]
            written = await self._models.runner.run(summarise, material.model_copy(update={"doubts": doubts}), occasion)
            if written.offline:
                return await self._from_pages(actor, question, results)
            claims = claims_of(written.value.text, named)
        await self._store_citations(actor, results.hits, claims)
        return CitedAnswer(_answer_text(claims), claims, results, written.source, again)

    async def _from_pages(self, actor: Actor, question: str, results: SearchResults) -> CitedAnswer:
        """Without a model: the unit of a page that answers, as it stands there, or nothing."""
        pages = [FoundPassage(hit.citation, hit.title, hit.text) for hit in results.hits]
        page_answer = await asyncio.to_thread(answer_from_pages, question, pages, self._models.runner.embed)
        if page_answer.how_well < WELL:
            await self._gaps.note(actor.workspace_id, question)
            return CitedAnswer(NOTHING, (), results, "offline")
        claims = tuple(AnswerClaim(each.text, each.citations, holds=True) for each in page_answer.sentences)
        await self._store_citations(actor, results.hits, claims)
        return CitedAnswer(_answer_text(claims), claims, results, "offline")

    async def _store_citations(self, actor: Actor, hits: Sequence[SearchHit], claims: Sequence[AnswerClaim]) -> None:
        used = {citation for claim in claims for citation in claim.citations}
        cited = [(hit.citation, hit.document_id, hit.text.strip("\n")) for hit in hits if hit.citation in used]
        async with self._database.write(actor.workspace_id) as session:
            await self._citations.store(session, cited)
        rate = self._metrics.retrieval_hit_rate.labels(workspace=str(actor.workspace_id))
        rate.set(len(cited) / len(hits))


def claims_of(text: str, named: Mapping[str, SearchHit]) -> tuple[AnswerClaim, ...]:
    """Each sentence held against the passages that it cites, and these by their tokens."""
    claims: list[AnswerClaim] = []
    for sentence in cited_sentences(text):
        if sentence.text == NOTHING:
            claims.append(AnswerClaim(sentence.text, (), holds=True))
            continue
        hits = [named[name] for name in sentence.citations if name in named]
        known = bool(hits) and len(hits) == len(sentence.citations)
        held = support(sentence.text, [f"{hit.title}\n{' '.join(hit.headings)}\n{hit.read_aloud}" for hit in hits])
        holds = known and held.holds
        doubt = held.why if known else "It names no source that was found."
        claims.append(AnswerClaim(sentence.text, tuple(hit.citation for hit in hits), holds, "" if holds else doubt))
    return tuple(claims)


def _answer_text(claims: Sequence[AnswerClaim]) -> str:
    lines: list[str] = []
    for claim in claims:
        tokens = " ".join(f"[{each}]" for each in claim.citations)
        lines.append(" ".join(part for part in (claim.text, tokens, "" if claim.holds else DISCLAIMER) if part))
    return "\n".join(lines)
