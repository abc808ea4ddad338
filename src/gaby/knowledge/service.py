"""Everything about knowledge. What calculates with vectors is heavy, so it is built when it is first needed."""

from collections.abc import Callable
from datetime import datetime
from functools import cached_property
from typing import TYPE_CHECKING

from sqlalchemy import select

from gaby.kernel.clock import Clock
from gaby.kernel.database import AllWorkspaces, Database
from gaby.knowledge.learning.gate import KEPT
from gaby.knowledge.models import KnowledgeCandidate, KnowledgeCorpus, KnowledgeSource

if TYPE_CHECKING:
    from gaby.knowledge.components import KnowledgeComponents


class Knowledge:
    def __init__(self, database: Database, clock: Clock, make: "Callable[[], KnowledgeComponents]") -> None:
        self._database = database
        self._clock = clock
        self._make = make

    @cached_property
    def components(self) -> "KnowledgeComponents":
        return self._make()

    def now(self) -> datetime:
        return self._clock.now()

    async def run_due(self) -> None:
        """What is due: syncs, vectors that were lost, candidates that grew old. Cheap when nothing is."""
        now = self._clock.now()
        async with self._database.read(AllWorkspaces("knowledge is kept in order in every workspace")) as session:
            due = (
                await session.scalars(select(KnowledgeSource.id).where(KnowledgeSource.due_at <= now).limit(1))
            ).all()
            damaged = select(KnowledgeCorpus.workspace_id).where(KnowledgeCorpus.damaged_at.is_not(None)).limit(1)
            broken = (await session.scalars(damaged)).all()
            candidate = KnowledgeCandidate
            old = select(candidate.id).where(candidate.state == "staged", candidate.staged_at <= now - KEPT).limit(1)
            forgotten = (await session.scalars(old)).all()
        if broken:
            await self.components.mender.mend_all()
        if forgotten:
            await self.components.candidates.archive_old()
        if due:
            await self.components.syncer.run_due()

    async def check_indexes(self) -> None:
        """For damage of any index. What is found is mended by the next `work`."""
        async with self._database.read(AllWorkspaces("every workspace's index is looked at")) as session:
            some = (await session.scalars(select(KnowledgeCorpus.workspace_id).limit(1))).all()
        if some:
            await self.components.mender.check_all()
