"""Passages with where they stand: their lines, their document and its source."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from sqlalchemy import and_, func, select

from gaby.kernel.database import ReadSession
from gaby.knowledge.models import KnowledgeDocument, KnowledgePassage, KnowledgeSource

_AT_ONCE = 500


@dataclass(frozen=True)
class Context:
    id: int
    document_id: UUID
    ordinal: int
    headings: tuple[str, ...]
    first_line: int
    last_line: int
    first_page: int | None
    last_page: int | None
    text: str
    title: str
    uri: str
    link: str | None
    source: str
    kind: str


async def contexts_of(session: ReadSession, ids: Sequence[int]) -> list[Context]:
    """Those that are still there. The text comes out of the document's, so that it is stored once."""
    passage, document, source = KnowledgePassage, KnowledgeDocument, KnowledgeSource
    place = session.workspace_id
    query = (
        select(
            passage.id,
            passage.document_id,
            passage.ordinal,
            passage.headings,
            passage.first_line,
            passage.last_line,
            passage.first_page,
            passage.last_page,
            func.substr(document.text, passage.start_at + 1, passage.end_at - passage.start_at).label("text"),
            document.title,
            document.uri,
            document.link,
            source.name,
            document.kind,
        )
        .join(document, and_(document.workspace_id == passage.workspace_id, document.id == passage.document_id))
        .join(source, and_(source.workspace_id == document.workspace_id, source.id == document.source_id))
        .where(passage.workspace_id == place, document.workspace_id == place, source.workspace_id == place)
        .order_by(passage.id)
    )
    rows: list[Any] = []
    for start in range(0, len(ids), _AT_ONCE):
        some = ids[start : start + _AT_ONCE]
        rows += (await session.execute(query.where(passage.id.in_(some)))).all()
    return [
        Context(
            row.id,
            row.document_id,
            row.ordinal,
            tuple(row.headings),
            row.first_line,
            row.last_line,
            row.first_page,
            row.last_page,
            row.text,
            row.title,
            row.uri,
            row.link,
            row.name,
            row.kind,
        )
        for row in rows
    ]
