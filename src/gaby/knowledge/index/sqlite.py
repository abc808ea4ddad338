"""The index on SQLite: a full-text table for each workspace, and vectors searched exactly in numpy."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from sqlalchemy import TextClause, text

from gaby.kernel.database import Database, ReadSession, WriteSession
from gaby.kernel.ids import WorkspaceId
from gaby.knowledge.index import statistics
from gaby.knowledge.index.index import CorpusVersion, Hits, IndexEntry, Span, Stored
from gaby.knowledge.index.missing_entries import without_vector
from gaby.knowledge.index.sqlite_rows import insert_passages, insert_terms, insert_vectors
from gaby.knowledge.index.store import VectorStores
from gaby.llm.embeddings.embedder import Matrix

_LAST = 2**62


class SqliteIndex:
    def __init__(self, database: Database, stores: VectorStores) -> None:
        self._database = database
        self._stores = stores

    async def insert(self, session: WriteSession, entries: Sequence[IndexEntry], vectors: Stored) -> None:
        if entries:
            await insert_passages(session, entries)
            await self._add(session, entries)
            await statistics.count(session, (entry.terms for entry in entries))
            for model, of_model in vectors.items():
                await insert_vectors(session, model, entries[0].id, of_model)

    async def restore(self, session: WriteSession, entries: Sequence[IndexEntry]) -> None:
        if await self._exists(session):
            await self._delete(session, [(entry.id, entry.id) for entry in entries])
        await self._add(session, entries)
        # What was lost may have been counted or not, so nothing is taken over.
        await statistics.forget(session)
        await statistics.count(session, await self._terms(session, (0, _LAST)))

    async def remove(self, session: WriteSession, spans: Sequence[Span]) -> None:
        if spans and await self._exists(session):
            for span in spans:
                await statistics.count(session, await self._terms(session, span), less=True)
            await self._delete(session, spans)

    async def lexical(
        self, session: ReadSession, queries: Sequence[Sequence[str]], counts: Mapping[str, int], limit: int
    ) -> list[Hits]:
        if not counts or not await self._exists(session):
            return [{} for _ in queries]
        return await self._search(session, [statistics.affordable(query, counts) for query in queries], limit)

    async def nearest(
        self, workspace_id: WorkspaceId, corpus: CorpusVersion, queries: Matrix, limit: int
    ) -> list[Hits]:
        return await (await self._stores.snapshot(workspace_id, corpus.model, corpus.version)).nearest(queries, limit)

    async def vectors(
        self, workspace_id: WorkspaceId, corpus: CorpusVersion, ids: Sequence[int], dimensions: int
    ) -> Matrix:
        return (await self._stores.snapshot(workspace_id, corpus.model, corpus.version)).rows_of(ids, dimensions)

    async def lacking(self, session: ReadSession, model: str, limit: int) -> list[int]:
        known = set[int]()
        if await self._exists(session) and not await statistics.is_empty(session):
            known = set((await session.scalars(_sql("SELECT rowid FROM {}", _table(session)))).all())
        return await without_vector(session, model, limit, known)

    async def tend(self, workspace_id: WorkspaceId) -> None:
        """An exact search needs no preparation."""

    async def _add(self, session: WriteSession, entries: Sequence[IndexEntry]) -> None:
        name = _table(session)
        # A table for each workspace: the statistics of one table are shared by all that stands in it.
        create = "CREATE VIRTUAL TABLE IF NOT EXISTS {} USING fts5(terms, tokenize = 'unicode61')"
        await session.execute(_sql(create, name))
        await insert_terms(session, name, entries)

    async def _delete(self, session: WriteSession, spans: Sequence[Span]) -> None:
        rows = [{"first": first, "last": last} for first, last in spans]
        await session.execute(_sql("DELETE FROM {} WHERE rowid BETWEEN :first AND :last", _table(session)), rows)

    async def _terms(self, session: ReadSession, span: Span) -> list[list[str]]:
        query = _sql("SELECT terms FROM {} WHERE rowid BETWEEN :first AND :last", _table(session))
        return [terms.split() for terms in await session.scalars(query, {"first": span[0], "last": span[1]})]

    async def _search(self, session: ReadSession, queries: Sequence[Sequence[str]], limit: int) -> list[Hits]:
        """All in one statement: handing over each of them to the thread of the database takes long."""
        ranked: list[list[tuple[float, int]]] = [[] for _ in queries]
        asked = {place: " OR ".join(f'"{term}"' for term in terms) for place, terms in enumerate(queries) if terms}
        if asked:
            each = "SELECT {1} AS place, rowid, rank FROM (SELECT rowid, rank FROM {0} WHERE {0} MATCH :asked_{1} "
            each += "ORDER BY rank LIMIT :limit)"
            statement = " UNION ALL ".join(each.format(_table(session), place) for place in asked)
            values = {f"asked_{place}": question for place, question in asked.items()}
            rows: Iterable[Any] = await session.execute(text(statement), {**values, "limit": limit})
            for row in rows:
                place: int = row[0]
                ranked[place].append((row[2], row[1]))
        return [{passage: -rank for rank, passage in sorted(hits)} for hits in ranked]

    @staticmethod
    async def _exists(session: ReadSession) -> bool:
        query = text("SELECT count(*) FROM sqlite_master WHERE name = :name")
        return bool((await session.execute(query, {"name": _table(session)})).scalar_one())


def _table(session: ReadSession) -> str:
    return f"passages_of_{session.workspace_id.hex}"


def _sql(statement: str, table: str) -> TextClause:
    return text(statement.format(table))  # Digits of an id; a table's name cannot be bound.
