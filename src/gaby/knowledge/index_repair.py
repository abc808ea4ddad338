"""Index repair: words and vectors that the index lost are noticed, reported, and restored in the background."""

from collections.abc import Sequence

from sqlalchemy import select

from gaby.kernel.actors import system_actor
from gaby.kernel.clock import Clock
from gaby.kernel.database import AllWorkspaces, Database
from gaby.kernel.events import Event
from gaby.kernel.ids import WorkspaceId
from gaby.kernel.log import get_log
from gaby.kernel.metrics import Metrics
from gaby.knowledge.collection import PassageText, passage_texts, store_vectors
from gaby.knowledge.corpus import changing, corpus_of
from gaby.knowledge.embedding import PassageEmbedder
from gaby.knowledge.index.index import IndexEntry, PassageIndex
from gaby.knowledge.models import KnowledgeCorpus
from gaby.knowledge.retrieval.embedding_text import passage_text
from gaby.knowledge.search_text import searchable
from gaby.knowledge.terms import terms
from gaby.llm.embeddings.vectors import to_bytes

_log = get_log(__name__)

_AT_ONCE = 400


class IndexRepair:
    def __init__(
        self, database: Database, clock: Clock, index: PassageIndex, embedding: PassageEmbedder, metrics: Metrics
    ) -> None:
        self._database = database
        self._clock = clock
        self._index = index
        self._embedding = embedding
        self._metrics = metrics

    async def check_all(self) -> None:
        async with self._database.read(AllWorkspaces("every workspace's index is looked at")) as session:
            places = [WorkspaceId(each) for each in (await session.scalars(select(KnowledgeCorpus.workspace_id))).all()]
        for workspace_id in places:
            await self.check(workspace_id)

    async def check(self, workspace_id: WorkspaceId) -> int:
        """Search the whole index for damage, and raise the alarm when there is some."""
        async with self._database.read(workspace_id) as session:
            corpus = await corpus_of(session)
            lost = [] if corpus is None else await self._index.lacking(session, corpus.model, _AT_ONCE)
        if lost:
            await self.alarm(workspace_id, len(lost))
        return len(lost)

    async def alarm(self, workspace_id: WorkspaceId, lost: int = 1) -> None:
        """Once for each damage: the metric stays up and the workspace stays marked until it is mended."""
        async with self._database.write(workspace_id) as session:
            corpus = await changing(session, "")
            if corpus.damaged_at is not None:
                return
            corpus.damaged_at = self._clock.now()
            actor = system_actor("knowledge", workspace_id)
            session.emit(Event("knowledge.index_damaged", workspace_id, actor, {"at_least": lost}))
        self._metrics.knowledge_damage.labels(workspace=str(workspace_id)).set(1)
        _log.error("knowledge.index_damaged", workspace=str(workspace_id), at_least=lost)

    async def mend_all(self) -> None:
        async with self._database.read(AllWorkspaces("a damaged index is mended in any workspace")) as session:
            query = select(KnowledgeCorpus.workspace_id).where(KnowledgeCorpus.damaged_at.is_not(None))
            damaged = [WorkspaceId(each) for each in (await session.scalars(query)).all()]
        for workspace_id in damaged:
            await self.mend(workspace_id)

    async def mend(self, workspace_id: WorkspaceId) -> int:
        """Says how many passages were mended."""
        mended = 0
        while True:
            async with self._database.read(workspace_id) as session:
                corpus = await corpus_of(session)
                lost = [] if corpus is None else await self._index.lacking(session, corpus.model, _AT_ONCE)
                texts = await passage_texts(session, lost)
            if corpus is None or not lost:
                break
            await self._restore(workspace_id, corpus.model, lost, texts)
            mended += len(lost)
        await self._all_well(workspace_id, mended)
        return mended

    async def _restore(
        self, workspace_id: WorkspaceId, model: str, lost: Sequence[int], texts: dict[int, PassageText]
    ) -> None:
        rows = await self._embedding.embed(workspace_id, model, [passage_text(model, *texts[each]) for each in lost])
        async with self._database.write(workspace_id) as session:
            await changing(session, model)
            still = await passage_texts(session, lost)  # Some may have been removed meanwhile.
            given = [(each, to_bytes(row)) for each, row in zip(lost, rows, strict=True) if each in still]
            await store_vectors(session, model, given)
            await self._index.restore(
                session, [IndexEntry(each, terms(searchable(*still[each]))) for each in sorted(still)]
            )

    async def _all_well(self, workspace_id: WorkspaceId, mended: int) -> None:
        async with self._database.write(workspace_id) as session:
            corpus = await changing(session, "")
            corpus.damaged_at = None
            if mended:
                actor = system_actor("knowledge", workspace_id)
                session.emit(Event("knowledge.index_mended", workspace_id, actor, {"passages": mended}))
        self._metrics.knowledge_damage.labels(workspace=str(workspace_id)).set(0)
