"""What the index lost: passages without a good vector, or unknown to lexical search."""

from collections.abc import Set as AbstractSet

from sqlalchemy import and_, select

from gaby.kernel.database import ReadSession
from gaby.knowledge.models import KnowledgePassage, KnowledgeVector
from gaby.llm.embeddings.vectors import from_bytes

_BATCH = 500
"""Few, since the event loop waits while they are looked at."""


async def without_vector(session: ReadSession, model: str, limit: int, known: AbstractSet[int]) -> list[int]:
    """The first of them. `known` is what lexical search has."""
    missing: list[int] = []
    after, usual = -1, 0
    while len(missing) < limit:
        joined = and_(
            KnowledgeVector.workspace_id == KnowledgePassage.workspace_id,
            KnowledgeVector.passage_id == KnowledgePassage.id,
            KnowledgeVector.model == model,
        )
        query = (
            select(KnowledgePassage.id, KnowledgeVector.vector)
            .outerjoin(KnowledgeVector, joined)
            .where(KnowledgePassage.workspace_id == session.workspace_id, KnowledgePassage.id > after)
            .order_by(KnowledgePassage.id)
            .limit(_BATCH)
        )
        rows = (await session.execute(query)).all()
        if not rows:
            break
        for passage, blob in rows:
            vector = from_bytes(blob or b"")  # The outer join gives none where there is no row.
            usual = usual or (0 if vector is None else len(vector))
            if vector is None or len(vector) != usual or passage not in known:
                missing.append(passage)
        after = rows[-1][0]
    return missing[:limit]
