"""Passages with where they stand: their lines, their document and its source."""

from collections.abc import Sequence
from typing import Any, NamedTuple
from uuid import UUID

from sqlalchemy import and_, bindparam, func, select

from gaby.kernel.database import ReadSession
from gaby.knowledge.models import KnowledgeDocument, KnowledgePassage, KnowledgeSource

_AT_ONCE = 500
_HEADINGS = 3
"""Their place among the columns, which stand in the order of `PassageContext`."""


class PassageContext(NamedTuple):
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


_passage, _document, _source = KnowledgePassage, KnowledgeDocument, KnowledgeSource
# Made once, since putting it together would take about a millisecond of each question.
_QUERY = (
    select(
        _passage.id,
        _passage.document_id,
        _passage.ordinal,
        _passage.headings,
        _passage.first_line,
        _passage.last_line,
        _passage.first_page,
        _passage.last_page,
        func.substr(_document.text, _passage.start_at + 1, _passage.end_at - _passage.start_at).label("text"),
        _document.title,
        _document.uri,
        _document.link,
        _source.name,
        _document.kind,
    )
    .join(_document, and_(_document.workspace_id == _passage.workspace_id, _document.id == _passage.document_id))
    .join(_source, and_(_source.workspace_id == _document.workspace_id, _source.id == _document.source_id))
    .where(
        _passage.workspace_id == bindparam("place"),
        _document.workspace_id == bindparam("place"),
        _source.workspace_id == bindparam("place"),
        _passage.id.in_(bindparam("ids", expanding=True)),
    )
    .order_by(_passage.id)
)


async def contexts_of(session: ReadSession, ids: Sequence[int]) -> list[PassageContext]:
    """Those that are still there, in order. The text comes out of the document's, so that it is stored once."""
    rows: list[Any] = []
    for start in range(0, len(ids), _AT_ONCE):
        values = {"place": session.workspace_id, "ids": ids[start : start + _AT_ONCE]}
        rows += (await session.execute(_QUERY, values)).all()
    return [PassageContext._make((*row[:_HEADINGS], tuple(row[_HEADINGS]), *row[_HEADINGS + 1 :])) for row in rows]
