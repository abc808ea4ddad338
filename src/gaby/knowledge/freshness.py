"""Freshness: which documents there are, when they changed, and which nobody has needed for half a year."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from sqlalchemy import and_, func, select

from gaby.kernel.database import ReadSession
from gaby.knowledge.models import KnowledgeDocument, KnowledgeSource

STALE = timedelta(days=180)


@dataclass(frozen=True)
class DocumentListing:
    id: UUID
    source: str
    uri: str
    title: str
    kind: str
    lines: int
    passages: int
    audience: str
    changed_at: datetime
    used_at: datetime | None
    uses: int
    stale: bool


async def documents(
    session: ReadSession, *, now: datetime, source: str | None = None, stale: bool = False, limit: int = 200
) -> Sequence[DocumentListing]:
    """Stale is what was neither changed nor cited for 180 days: pages that nobody needs mislead those who search."""
    document, of = KnowledgeDocument, KnowledgeSource
    query = (
        select(document, of.name, func.coalesce(document.audience, of.audience))
        .join(of, and_(of.workspace_id == document.workspace_id, of.id == document.source_id))
        .where(document.workspace_id == session.workspace_id, of.workspace_id == session.workspace_id)
        .order_by(of.name, document.uri)
        .limit(limit)
    )
    if source is not None:
        query = query.where(of.name == source)
    if stale:
        query = query.where(
            func.coalesce(document.used_at, document.changed_at) <= now - STALE, document.changed_at <= now - STALE
        )
    return [
        DocumentListing(
            row.id,
            name,
            row.uri,
            row.title,
            row.kind,
            row.lines,
            row.passages,
            audience,
            row.changed_at,
            row.used_at,
            row.uses,
            max(row.used_at or row.changed_at, row.changed_at) <= now - STALE,
        )
        for row, name, audience in await session.execute(query)
    ]
