"""The knowledge as a collection that can be indexed anew by another model, beside the one that is searched."""

from collections.abc import Sequence

from sqlalchemy import delete, func, select
from sqlalchemy.dialects import postgresql, sqlite

from gaby.kernel.database import ReadSession, WriteSession
from gaby.knowledge.corpus import changing
from gaby.knowledge.models import KnowledgeDocument, KnowledgePassage, KnowledgeVector
from gaby.knowledge.retrieval.embedding_text import spoken, with_what_stands_above
from gaby.llm.embeddings.embedder import Vector
from gaby.llm.embeddings.vectors import to_bytes

NAME = "knowledge"
_DIGITS = 16


class KnowledgeCollection:
    name = NAME

    async def count(self, session: ReadSession) -> int:
        query = select(func.count()).where(KnowledgePassage.workspace_id == session.workspace_id)
        return (await session.scalars(query)).one()

    async def batch(self, session: ReadSession, after: str | None, size: int) -> Sequence[tuple[str, str]]:
        query = select(KnowledgePassage.id).where(
            KnowledgePassage.workspace_id == session.workspace_id,
            KnowledgePassage.id > (-1 if after is None else int(after, 16)),
        )
        ids = (await session.scalars(query.order_by(KnowledgePassage.id).limit(size))).all()
        texts = await passage_texts(session, ids)
        return [(f"{each:0{_DIGITS}x}", with_what_stands_above(*texts[each])) for each in ids]

    def spoken(self, model: str, text: str) -> str:
        return spoken(model, text)

    async def store(self, session: WriteSession, model: str, vectors: Sequence[tuple[str, Vector]]) -> None:
        given = [(int(key, 16), to_bytes(vector)) for key, vector in vectors]
        await store_vectors(session, model, given)

    async def swap(self, session: WriteSession, model: str) -> None:
        corpus = await changing(session, model)
        corpus.model = model
        others = (KnowledgeVector.workspace_id == session.workspace_id, KnowledgeVector.model != model)
        await session.execute(delete(KnowledgeVector).where(*others))


async def store_vectors(session: WriteSession, model: str, vectors: Sequence[tuple[int, bytes]]) -> None:
    """In place of what is there."""
    insert = postgresql.insert if session.get_bind().dialect.name == "postgresql" else sqlite.insert
    statement = insert(KnowledgeVector)
    statement = statement.on_conflict_do_update(
        index_elements=["workspace_id", "model", "passage_id"], set_={"vector": statement.excluded.vector}
    )
    place = session.workspace_id
    rows = [{"workspace_id": place, "model": model, "passage_id": key, "vector": blob} for key, blob in vectors]
    if rows:
        await session.execute(statement, rows)


PassageText = tuple[str, Sequence[str], str]
"""Title, headings and text of a passage."""


async def passage_texts(session: ReadSession, ids: Sequence[int]) -> dict[int, PassageText]:
    """Of those that are there."""
    passage, document = KnowledgePassage, KnowledgeDocument
    place = session.workspace_id
    query = select(passage.id, passage.document_id, passage.headings, passage.start_at, passage.end_at).where(
        passage.workspace_id == place, passage.id.in_(ids)
    )
    rows = (await session.execute(query)).all()
    wanted = {row.document_id for row in rows}
    texts = select(document.id, document.title, document.text).where(
        document.workspace_id == place, document.id.in_(wanted)
    )
    documents = {row.id: (row.title, row.text) for row in await session.execute(texts)}
    by_passage: dict[int, PassageText] = {}
    for row in rows:
        title, text = documents[row.document_id]
        by_passage[row.id] = (title, row.headings, text[row.start_at : row.end_at])
    return by_passage
