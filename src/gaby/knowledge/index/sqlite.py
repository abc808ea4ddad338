"""The index on SQLite: a full-text table for each workspace, and vectors searched exactly in numpy."""

from collections.abc import Mapping, Sequence
from itertools import chain

from sqlalchemy import TextClause, insert, select, text

from gaby.kernel.database import Database, ReadSession, WriteSession
from gaby.kernel.ids import WorkspaceId
from gaby.knowledge.index.index import Entry, Hits, Span
from gaby.knowledge.index.lacking import without_vector
from gaby.knowledge.index.rarity import rarest, rarity
from gaby.knowledge.index.store import VectorStores
from gaby.knowledge.models import KnowledgeCorpus, KnowledgePassage
from gaby.llm.embeddings.embedder import Matrix

_MOST_TERMS = 24
"""Of one query. Each costs a walk through the passages that have it."""


class SqliteIndex:
    def __init__(self, database: Database, stores: VectorStores) -> None:
        self._database = database
        self._stores = stores

    async def insert(self, session: WriteSession, entries: Sequence[Entry]) -> None:
        if entries:
            await session.execute(insert(KnowledgePassage), [dict(entry.columns) for entry in entries])
            await self._add(session, entries)

    async def restore(self, session: WriteSession, entries: Sequence[Entry]) -> None:
        await self.remove(session, [(entry.id, entry.id) for entry in entries])
        await self._add(session, entries)

    async def _add(self, session: WriteSession, entries: Sequence[Entry]) -> None:
        name = _table(session)
        # A table for each workspace: the statistics of one table are shared by all that stands in it.
        await session.execute(
            _sql("CREATE VIRTUAL TABLE IF NOT EXISTS {} USING fts5(terms, tokenize = 'unicode61')", name)
        )
        await session.execute(_sql("CREATE VIRTUAL TABLE IF NOT EXISTS {0}_terms USING fts5vocab({0}, row)", name))
        rows = [{"id": entry.id, "terms": " ".join(entry.terms)} for entry in entries]
        if rows:
            await session.execute(_sql("INSERT INTO {} (rowid, terms) VALUES (:id, :terms)", name), rows)

    async def remove(self, session: WriteSession, spans: Sequence[Span]) -> None:
        if spans and await self._exists(session):
            rows = [{"first": first, "last": last} for first, last in spans]
            delete = _sql("DELETE FROM {} WHERE rowid BETWEEN :first AND :last", _table(session))
            await session.execute(delete, rows)

    async def lexical(
        self, session: ReadSession, queries: Sequence[Sequence[str]], limit: int
    ) -> tuple[list[Hits], Mapping[str, float]]:
        if not await self._exists(session):
            return [{} for _ in queries], {}
        rarities = await self._rarities(session, set(chain.from_iterable(queries)))
        return [await self._search(session, rarest(query, rarities, _MOST_TERMS), limit) for query in queries], rarities

    async def nearest(self, workspace_id: WorkspaceId, model: str, queries: Matrix, limit: int) -> list[Hits]:
        return await (await self._stores.of(workspace_id, model)).nearest(queries, limit)

    async def vectors(self, workspace_id: WorkspaceId, model: str, ids: Sequence[int], dimensions: int) -> Matrix:
        return (await self._stores.of(workspace_id, model)).rows_of(ids, dimensions)

    async def lacking(self, session: ReadSession, model: str, limit: int) -> list[int]:
        known = set[int]()
        if await self._exists(session):
            known = set((await session.scalars(_sql("SELECT rowid FROM {}", _table(session)))).all())
        return await without_vector(session, model, limit, known)

    async def tend(self, workspace_id: WorkspaceId) -> None:
        """An exact search needs no preparation."""

    async def _search(self, session: ReadSession, terms: Sequence[str], limit: int) -> Hits:
        if not terms:
            return {}
        query = _sql(
            "SELECT rowid, rank FROM {0} WHERE {0} MATCH :question ORDER BY rank, rowid LIMIT :limit", _table(session)
        )
        question = " OR ".join(f'"{term}"' for term in terms)
        found = await session.execute(query, {"question": question, "limit": limit})
        return {passage: -rank for passage, rank in found}

    async def _rarities(self, session: ReadSession, terms: set[str]) -> dict[str, float]:
        """Terms that stand nowhere are left out."""
        corpus = select(KnowledgeCorpus.passages).where(KnowledgeCorpus.workspace_id == session.workspace_id)
        passages = (await session.scalars(corpus)).one_or_none() or 0
        query = _sql("SELECT doc FROM {}_terms WHERE term = :term", _table(session))
        having = {term: (await session.execute(query, {"term": term})).scalar_one_or_none() for term in sorted(terms)}
        return {term: rarity(passages, count) for term, count in having.items() if count}

    @staticmethod
    async def _exists(session: ReadSession) -> bool:
        query = text("SELECT count(*) FROM sqlite_master WHERE name = :name")
        return bool((await session.execute(query, {"name": _table(session)})).scalar_one())


def _table(session: ReadSession) -> str:
    return f"passages_of_{session.workspace_id.hex}"


def _sql(statement: str, table: str) -> TextClause:
    return text(statement.format(table))  # Digits of an id; a table's name cannot be bound.
