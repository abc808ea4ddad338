"""The index on Postgres: tsvector and pgvector, always inside of one workspace before anything is ranked."""

from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Any

import numpy as np
from sqlalchemy import bindparam, func, literal_column, select, text, update
from sqlalchemy.dialects.postgresql import insert

from gaby.kernel.database import Database, ReadSession, WriteSession
from gaby.kernel.ids import WorkspaceId
from gaby.knowledge.corpus import corpus_of
from gaby.knowledge.index import statistics
from gaby.knowledge.index.bm25 import Bm25Document, scores
from gaby.knowledge.index.hnsw import EXACT_UP_TO, build_graph, use_graph
from gaby.knowledge.index.index import CorpusVersion, Hits, IndexEntry, Span, Stored
from gaby.knowledge.index.missing_entries import without_vector
from gaby.knowledge.index.pgvector import to_text
from gaby.knowledge.index.rarity import rarities
from gaby.knowledge.models import KnowledgeCorpus, KnowledgePassage, KnowledgeVector
from gaby.llm.embeddings.embedder import Matrix
from gaby.llm.embeddings.vectors import from_bytes, to_bytes

_CANDIDATES = 400
"""Passages that Postgres picks by its own rank, which knows no rarity; of these the BM25 is exact."""


class PostgresIndex:
    def __init__(self, database: Database, exact_up_to: int = EXACT_UP_TO) -> None:
        self._database = database
        self._exact_up_to = exact_up_to

    async def insert(self, session: WriteSession, entries: Sequence[IndexEntry], vectors: Stored) -> None:
        if not entries:
            return
        # Past the ORM: for hundreds of rows it would take longer than the database.
        connection = await session.connection()
        place = session.workspace_id
        rows = [{**entry.columns, "workspace_id": place, "given": " ".join(entry.terms)} for entry in entries]
        await connection.execute(insert(KnowledgePassage).values(words=_WORDS), rows)
        await statistics.count(session, (entry.terms for entry in entries))
        for model, of_model in vectors.items():
            vector_rows = [
                {"workspace_id": place, "model": model, "passage_id": entry.id, "vector": vector}
                for entry, vector in zip(entries, of_model, strict=True)
            ]
            await connection.execute(insert(KnowledgeVector), vector_rows)

    async def restore(self, session: WriteSession, entries: Sequence[IndexEntry]) -> None:
        statement = (
            update(KnowledgePassage)
            .where(KnowledgePassage.workspace_id == bindparam("place"), KnowledgePassage.id == bindparam("passage"))
            .values(words=_WORDS)
        )
        rows = [
            {"place": session.workspace_id, "passage": entry.id, "given": " ".join(entry.terms)} for entry in entries
        ]
        if rows:
            await (await session.connection()).execute(statement, rows)
        # What was lost may have been counted or not, so nothing is taken over.
        await statistics.forget(session)
        await session.execute(text(_COUNT), {"workspace_id": session.workspace_id})

    async def remove(self, session: WriteSession, spans: Sequence[Span]) -> None:
        for first, last in spans:
            query = select(func.tsvector_to_array(KnowledgePassage.words)).where(
                KnowledgePassage.workspace_id == session.workspace_id, KnowledgePassage.id.between(first, last)
            )
            terms = [passage_id or () for passage_id in (await session.scalars(query)).all()]
            await statistics.count(session, terms, less=True)

    async def lexical(
        self, session: ReadSession, queries: Sequence[Sequence[str]], counts: Mapping[str, int], limit: int
    ) -> list[Hits]:
        corpus = await corpus_of(session)
        if corpus is None or not counts:
            return [{} for _ in queries]
        asked = [statistics.affordable(query, counts) for query in queries]
        candidates = await self._candidates(session, sorted(set(chain.from_iterable(asked))))
        rare = rarities(corpus.passages, counts)
        average = corpus.terms / max(1, corpus.passages)
        return [scores(query, candidates, rare, average, limit) for query in asked]

    async def nearest(
        self, workspace_id: WorkspaceId, corpus: CorpusVersion, queries: Matrix, limit: int
    ) -> list[Hits]:
        async with self._database.read(workspace_id) as session:
            row = await session.get(KnowledgeCorpus, workspace_id)
            many = row is not None and row.passages > self._exact_up_to
            cast = await use_graph(session, queries.shape[1]) if many else ""
            near: list[Hits] = []
            for row in queries:
                values = {
                    "workspace_id": workspace_id,
                    "model": corpus.model,
                    "given": to_text(to_bytes(row)),
                    "limit": limit,
                }
                rows = await session.execute(text(_NEAREST.format(cast=cast)), values)
                near.append({passage: float(np.float32(score)) for passage, score in rows})
            return near

    async def vectors(
        self, workspace_id: WorkspaceId, corpus: CorpusVersion, ids: Sequence[int], dimensions: int
    ) -> Matrix:
        rows = np.zeros((len(ids), dimensions), np.float32)
        async with self._database.read(workspace_id) as session:
            query = select(KnowledgeVector.passage_id, KnowledgeVector.vector).where(
                KnowledgeVector.workspace_id == workspace_id,
                KnowledgeVector.model == corpus.model,
                KnowledgeVector.passage_id.in_(ids),
            )
            by_passage = {passage: from_bytes(blob) for passage, blob in await session.execute(query)}
        for place, passage in enumerate(ids):
            vector = by_passage.get(passage)
            if vector is not None and len(vector) == dimensions:
                rows[place] = vector
        return rows

    async def lacking(self, session: ReadSession, model: str, limit: int) -> list[int]:
        query = select(KnowledgePassage.id).where(
            KnowledgePassage.workspace_id == session.workspace_id, KnowledgePassage.words.is_not(None)
        )
        known = set[int]()
        if not await statistics.is_empty(session):  # Without the counts the words are of no use.
            known = set((await session.scalars(query)).all())
        return await without_vector(session, model, limit, known)

    async def tend(self, workspace_id: WorkspaceId) -> None:
        async with self._database.write(workspace_id) as session:
            corpus = await session.get(KnowledgeCorpus, workspace_id)
            if corpus is not None and corpus.passages > self._exact_up_to:
                await build_graph(session, corpus.model)

    async def _candidates(self, session: ReadSession, terms: Sequence[str]) -> list[Bm25Document]:
        if not terms:
            return []
        values: dict[str, Any] = {
            "workspace_id": session.workspace_id,
            "question": " | ".join(f"'{term}'" for term in terms),
            "terms": list(terms),
            "limit": _CANDIDATES,
        }
        rows = await session.execute(text(_LEXICAL), values)
        return [
            Bm25Document(passage, length, dict(zip(matched_terms, counts, strict=True)))
            for passage, length, matched_terms, counts in rows
        ]


# The terms are split and stemmed already, so Postgres only has to sort and count them.
_WORDS = func.to_tsvector(literal_column("'simple'"), bindparam("given"))

_NEAREST = (
    "SELECT passage_id, 1 - (vector{cast} <=> CAST(:given AS vector){cast}) FROM knowledge_vectors "
    "WHERE workspace_id = :workspace_id AND model = :model "
    "ORDER BY vector{cast} <=> CAST(:given AS vector){cast}, passage_id LIMIT :limit"
)
# An index on the words would be of no use: `@@` is not leakproof, so under row-level security Postgres looks at the
# workspace first and at the words after. The key of the workspace is what limits the rows.
_LEXICAL = (
    "SELECT best.id, best.terms, array_agg(word.lexeme), array_agg(cardinality(word.positions)) FROM ("
    "SELECT id, terms, words FROM knowledge_passages "
    "WHERE workspace_id = :workspace_id AND words @@ CAST(:question AS tsquery) "
    "ORDER BY ts_rank(words, CAST(:question AS tsquery), 1) DESC, id LIMIT :limit) AS best "
    "CROSS JOIN LATERAL unnest(best.words) AS word "
    "WHERE word.lexeme = ANY(:terms) GROUP BY best.id, best.terms ORDER BY best.id"
)
_COUNT = (
    "INSERT INTO knowledge_terms (workspace_id, term, passages) "
    "SELECT workspace_id, term, count(*) FROM knowledge_passages, unnest(tsvector_to_array(words)) AS term "
    "WHERE workspace_id = :workspace_id GROUP BY workspace_id, term"
)
