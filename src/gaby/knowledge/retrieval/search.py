"""Search: a question to queries, both indexes asked at the same time, the best passages ranked with their reasons."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain

import numpy as np

from gaby.kernel.database import Database, ReadSession
from gaby.kernel.ids import WorkspaceId
from gaby.knowledge.corpus import corpus_of
from gaby.knowledge.embedding import PassageEmbedder
from gaby.knowledge.index import statistics
from gaby.knowledge.index.index import CorpusVersion, Hits, PassageIndex
from gaby.knowledge.index.rarity import rarities
from gaby.knowledge.models import KnowledgeCorpus
from gaby.knowledge.retrieval.cache import SearchCache
from gaby.knowledge.retrieval.confidence import confidences
from gaby.knowledge.retrieval.contexts import PassageContext, contexts_of
from gaby.knowledge.retrieval.embedding_text import passage_text, question_text
from gaby.knowledge.retrieval.pool import CandidatePool, PooledPassage
from gaby.knowledge.retrieval.query_expansion import READ, SearchQuery, questions
from gaby.knowledge.retrieval.ranking import RankedPassage, rank
from gaby.knowledge.retrieval.rerank import Reranker
from gaby.knowledge.retrieval.results import ScoreReason, SearchHit, SearchResults, citation_of
from gaby.knowledge.retrieval.weights import DEFAULT, RankingWeights
from gaby.llm.embeddings.embedder import Matrix
from gaby.llm.embeddings.local import DEFAULT as DEFAULT_MODEL

TOP = 6
_AT_ONCE = 3
"""Questions. Each holds a session while vectors may need another; were there as many as sessions, all would wait."""
_HITS = 100
"""That each index brings for the whole question; a sentence of it brings fewer."""
_HITS_OF_A_PART = 40
_LOOKED_AT = 100
"""That are ranked with all signs."""
_HELPED = 12
"""The best, whose neighbours are looked at too."""
_FOUND_AT_ALL = 0.1
"""What is found by several searches is worth more than what only one puts first."""


@dataclass(frozen=True)
class _SearchRequest:
    text: str
    limit: int
    rewrites: tuple[str, ...]
    everything: bool


@dataclass(frozen=True)
class _IndexResults:
    """What both indexes know about the queries."""

    model: str
    lexical: Sequence[Hits]
    nearest: Sequence[Hits]
    vectors: Matrix
    """Of the queries."""
    contexts: Sequence[PassageContext]
    rarity: Mapping[str, float]


class Searcher:
    def __init__(
        self,
        database: Database,
        index: PassageIndex,
        embedding: PassageEmbedder,
        cache: SearchCache[SearchResults],
        damaged: Callable[[WorkspaceId], Awaitable[None]],
        reranker: Reranker | None = None,
        weights: RankingWeights = DEFAULT,
    ) -> None:
        self._database = database
        self._index = index
        self._embedding = embedding
        self._cache = cache
        self._damaged = damaged
        self._reranker = reranker
        self._weights = weights
        self._places = asyncio.Semaphore(_AT_ONCE)

    async def search(
        self,
        workspace_id: WorkspaceId,
        question: str,
        *,
        limit: int = TOP,
        rewrites: Sequence[str] = (),
        everything: bool = False,
    ) -> SearchResults:
        """Nothing when nothing fits, unless `everything` is wanted, however little it fits."""
        asked = _SearchRequest(question[:READ], limit, tuple(rewrites), everything)
        # All of it in one session, so that what is kept for a version of the corpus was found in that version.
        async with self._places, self._database.read(workspace_id) as session:
            corpus = await corpus_of(session)
            if corpus is None or not corpus.passages:
                return SearchResults((), self._weights.threshold)
            known = self._cache.find(workspace_id, asked, corpus.version)
            if known is not None:
                return known
            queries = questions(asked.text, asked.rewrites)
            brought = await self._bring(session, corpus, queries) if queries else None
        results = SearchResults((), self._weights.threshold, corpus_version=corpus.version, passages=corpus.passages)
        if brought is not None:
            results = await self._ranked(workspace_id, results, queries, brought, asked)
        self._cache.put(workspace_id, asked, corpus.version, results)
        return results

    async def _bring(
        self, session: ReadSession, corpus: KnowledgeCorpus, queries: Sequence[SearchQuery]
    ) -> _IndexResults:
        counts = await statistics.having(session, chain.from_iterable(query.terms for query in queries))
        near = asyncio.create_task(self._nearest(session.workspace_id, corpus, queries, counts))
        try:
            asked_for = [query.terms for query in queries]
            lexical = await self._index.lexical(session, asked_for, counts, _most(queries))
            nearest, vectors = await near
        finally:
            near.cancel()
        contexts = await contexts_of(session, _wanted(lexical, nearest))
        return _IndexResults(corpus.model, lexical, nearest, vectors, contexts, rarities(corpus.passages, counts))

    async def _ranked(
        self,
        workspace_id: WorkspaceId,
        nothing: SearchResults,
        queries: Sequence[SearchQuery],
        brought: _IndexResults,
        asked: _SearchRequest,
    ) -> SearchResults:
        if any(brought.lexical) and not any(brought.nearest):
            await self._damaged(workspace_id)  # Words are found and no meaning: vectors are lost.
        contexts, vectors = brought.contexts, brought.vectors
        if not contexts:
            return nothing
        ids = [each.id for each in contexts]
        meant = CorpusVersion(brought.model, nothing.corpus_version)
        rows = await self._index.vectors(workspace_id, meant, ids, vectors.shape[1])
        lexical = _table(brought.lexical, ids)
        pool = CandidatePool(
            _pooled(contexts), lexical, vectors @ rows.T, rows, vectors, brought.rarity, nothing.passages
        )
        unlimited = replace(self._weights, threshold=0.0)
        ranked = await asyncio.to_thread(
            rank, queries, pool, limit=asked.limit, reranker=self._reranker, weights=unlimited
        )
        if brought.model != DEFAULT_MODEL:
            ranked = await self._reranked_by_default(workspace_id, queries, pool, ranked)
        best = max((each.confidence for each in ranked), default=0.0)
        fits = asked.everything or best >= self._weights.threshold
        by_id = {each.id: each for each in contexts}
        return replace(
            nothing,
            hits=tuple(_hit(each, by_id) for each in ranked) if fits else (),
            best=best,
            queries=tuple(query.text for query in queries),
        )

    async def _reranked_by_default(
        self,
        workspace_id: WorkspaceId,
        queries: Sequence[SearchQuery],
        pool: CandidatePool,
        ranked: Sequence[RankedPassage],
    ) -> list[RankedPassage]:
        """Confidence is calibrated on the cosines of the default model, which is always there; the order stays."""
        passages = [each.passage for each in ranked]
        texts = [question_text(DEFAULT_MODEL, query.text, pool.rarity) for query in queries]
        texts += [passage_text(DEFAULT_MODEL, each.title, each.headings, each.text) for each in passages]
        vectors = await self._embedding.embed(workspace_id, DEFAULT_MODEL, texts)
        asked, rows = vectors[: len(queries)], vectors[len(queries) :]
        chosen = [each.place for each in ranked]
        reranked_pool = replace(
            pool,
            candidates=passages,
            lexical=pool.lexical[:, chosen],
            cosine=asked @ rows.T,
            vectors=rows,
            queries=asked,
        )
        certain = confidences(queries, reranked_pool, range(len(passages)), self._weights.certainty)
        return [replace(each, confidence=value) for each, value in zip(ranked, certain, strict=True)]

    async def _nearest(
        self,
        workspace_id: WorkspaceId,
        corpus: KnowledgeCorpus,
        queries: Sequence[SearchQuery],
        known: Mapping[str, int],
    ) -> tuple[list[Hits], Matrix]:
        texts = [question_text(corpus.model, query.text, known) for query in queries]
        vectors = await self._embedding.embed(workspace_id, corpus.model, texts)
        meant = CorpusVersion(corpus.model, corpus.version)
        return await self._index.nearest(workspace_id, meant, vectors, _most(queries)), vectors


def _most(queries: Sequence[SearchQuery]) -> int:
    return _HITS if len(queries) == 1 else _HITS_OF_A_PART


def _wanted(lexical: Sequence[Hits], nearest: Sequence[Hits]) -> list[int]:
    """The best by words or meaning for any of the queries, and the neighbours of the very best. That these are of the
    same document is seen later."""
    best: dict[int, float] = {}
    for hits in (*lexical, *nearest):
        low, high = min(hits.values(), default=0.0), max(hits.values(), default=0.0)
        for each, score in hits.items():
            best[each] = best.get(each, 0.0) + (score - low) / ((high - low) or 1.0) + _FOUND_AT_ALL
    order = sorted(best, key=lambda each: (-best[each], each))[:_LOOKED_AT]
    return sorted({*order, *(each + step for each in order[:_HELPED] for step in (-1, 1))})


def _table(hits: Sequence[Hits], ids: Sequence[int]) -> "np.ndarray[tuple[int, int], np.dtype[np.float32]]":
    table = np.zeros((len(hits), len(ids)), np.float32)
    places = {each: place for place, each in enumerate(ids)}
    for row, of_query in enumerate(hits):
        for each, score in of_query.items():
            if each in places:
                table[row, places[each]] = score
    return table


def _pooled(contexts: Sequence[PassageContext]) -> list[PooledPassage]:
    documents = {each: number for number, each in enumerate(dict.fromkeys(each.document_id for each in contexts))}
    return [
        PooledPassage(each.id, documents[each.document_id], each.ordinal, each.title, each.headings, each.text)
        for each in contexts
    ]


def _hit(ranked: RankedPassage, by_id: dict[int, PassageContext]) -> SearchHit:
    context = by_id[ranked.passage.id]
    before, after = (by_id.get(context.id + step) for step in (-1, 1))
    return SearchHit(
        citation=citation_of(context.source, context.uri, context.headings, context.first_line, context.last_line),
        document_id=context.document_id,
        source=context.source,
        uri=context.uri,
        title=context.title,
        headings=context.headings,
        first_line=context.first_line,
        last_line=context.last_line,
        text=context.text,
        score=ranked.score,
        confidence=ranked.confidence,
        reasons=tuple(ScoreReason(part.name, part.value, part.contribution) for part in ranked.parts),
        kind=context.kind,
        link=context.link,
        first_page=context.first_page,
        last_page=context.last_page,
        before=before.text if before is not None and before.document_id == context.document_id else "",
        after=after.text if after is not None and after.document_id == context.document_id else "",
    )
