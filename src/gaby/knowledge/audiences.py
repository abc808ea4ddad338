"""Audiences of pages: what a page says of its readers in its front matter, else what was said of its source."""

from collections.abc import Collection
from uuid import UUID

from sqlalchemy import func, select

from gaby.kernel.database import Database
from gaby.kernel.ids import WorkspaceId
from gaby.knowledge.models import KnowledgeDocument, KnowledgeSource
from gaby_connectors.sdk.manifest import Audience


async def audiences_of(
    database: Database, workspace_id: WorkspaceId, document_ids: Collection[UUID]
) -> dict[UUID, Audience]:
    """A page that is gone, or of which nobody said anything, is for the staff."""
    source, document = KnowledgeSource, KnowledgeDocument
    of_source = (source.workspace_id == document.workspace_id) & (source.id == document.source_id)
    query = (
        select(document.id, func.coalesce(document.audience, source.audience))
        .join(source, of_source)
        .where(document.workspace_id == workspace_id, document.id.in_(list(document_ids)))
    )
    async with database.read(workspace_id) as session:
        rows = (await session.execute(query)).all()
    known = {document_id: _read(audience) for document_id, audience in rows}
    return {document_id: known.get(document_id, Audience.STAFF) for document_id in document_ids}


def _read(audience: str) -> Audience:
    return Audience(audience) if audience in set(Audience) else Audience.STAFF
