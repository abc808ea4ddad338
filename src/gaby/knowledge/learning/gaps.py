"""Gaps: questions that the knowledge has no answer for, alike ones counted together, so that somebody writes it."""

from collections.abc import Sequence
from uuid import UUID

import numpy as np
from sqlalchemy import delete, func, select

from gaby.kernel.actors import Actor
from gaby.kernel.clock import Clock
from gaby.kernel.database import Database, ReadSession, WriteSession
from gaby.kernel.errors import NotFound
from gaby.kernel.events import Event
from gaby.kernel.ids import IdFactory, WorkspaceId
from gaby.knowledge.embedding import PassageEmbedder
from gaby.knowledge.learning.candidates import Redact
from gaby.knowledge.models import KnowledgeGap
from gaby.llm.embeddings.vectors import from_bytes, to_bytes

_LONGEST = 500
_EXAMPLES = 5
_ALIKE = 0.7
"""The cosine from which on two questions ask for the same page."""
_MOST = 500
"""Of a workspace. Then the ones asked once and longest ago are removed."""


class KnowledgeGaps:
    def __init__(
        self, database: Database, clock: Clock, ids: IdFactory, embedding: PassageEmbedder, redact: Redact
    ) -> None:
        self._database = database
        self._clock = clock
        self._ids = ids
        self._embedding = embedding
        self._redact = redact

    async def note(self, workspace_id: WorkspaceId, question: str) -> None:
        """Without personal data: the question is kept for as long as the gap is."""
        asked = " ".join(self._redact(question).split())[:_LONGEST]
        if not asked:
            return
        model = (await self._embedding.models(workspace_id))[0]
        vector = (await self._embedding.embed(workspace_id, model, [asked]))[0]
        now = self._clock.now()
        async with self._database.write(workspace_id) as session:
            gap = _nearest(await self._open(session, model), vector)
            if gap is not None:
                gap.asked += 1
                gap.last_at = now
                if asked not in gap.examples and len(gap.examples) < _EXAMPLES:
                    gap.examples = [*gap.examples, asked]
                return
            await self._evict_oldest(session)
            session.add(
                KnowledgeGap(
                    workspace_id=workspace_id,
                    id=self._ids.new(),
                    question=asked,
                    vector=to_bytes(vector),
                    model=model,
                    asked=1,
                    examples=[asked],
                    first_at=now,
                    last_at=now,
                )
            )

    async def list(self, session: ReadSession, limit: int = 100) -> Sequence[KnowledgeGap]:
        """The most asked first."""
        gap = KnowledgeGap
        query = select(gap).where(gap.workspace_id == session.workspace_id, gap.state == "open")
        return (await session.scalars(query.order_by(gap.asked.desc(), gap.last_at.desc()).limit(limit))).all()

    async def close(self, session: WriteSession, actor: Actor, gap_id: UUID) -> KnowledgeGap:
        """Somebody wrote the page, or decided that there shall be none. Asked again, it is a new gap."""
        row = await session.get(KnowledgeGap, (session.workspace_id, gap_id))
        if row is None:
            raise NotFound("There is no such gap. `gaby knowledge gaps` shows them.")
        row.state = "closed"
        session.emit(Event("knowledge.gap_closed", session.workspace_id, actor, {"gap": str(gap_id)}))
        return row

    @staticmethod
    async def _open(session: ReadSession, model: str) -> Sequence[KnowledgeGap]:
        gap = KnowledgeGap
        query = select(gap).where(gap.workspace_id == session.workspace_id, gap.state == "open", gap.model == model)
        return (await session.scalars(query.order_by(gap.id))).all()

    @staticmethod
    async def _evict_oldest(session: WriteSession) -> None:
        gap = KnowledgeGap
        mine = gap.workspace_id == session.workspace_id
        count = (await session.scalars(select(func.count()).select_from(gap).where(mine))).one()
        if count >= _MOST:
            oldest = select(gap.id).where(mine).order_by(gap.state != "closed", gap.asked, gap.last_at).limit(1)
            await session.execute(delete(gap).where(mine, gap.id.in_((await session.scalars(oldest)).all())))


def _nearest(
    gaps: Sequence[KnowledgeGap], vector: "np.ndarray[tuple[int], np.dtype[np.float32]]"
) -> KnowledgeGap | None:
    best, nearest = None, _ALIKE
    for gap in gaps:
        kept = from_bytes(gap.vector)
        if kept is not None and len(kept) == len(vector) and (similarity := float(kept @ vector)) >= nearest:
            best, nearest = gap, similarity
    return best
