"""Vectors for passages and questions, always by the model that the workspace's index is searched with."""

import asyncio
from collections.abc import Sequence

from gaby.kernel.database import Database
from gaby.kernel.ids import WorkspaceId
from gaby.knowledge.collection import NAME
from gaby.knowledge.corpus import corpus_of
from gaby.knowledge.preparation import PreparedDocument
from gaby.llm.embeddings.embedder import Matrix
from gaby.llm.embeddings.reindex import Reindexer
from gaby.llm.embeddings.service import EmbeddingModelChooser, Embeddings
from gaby.llm.embeddings.vectors import to_bytes


class PassageEmbedder:
    def __init__(
        self, database: Database, chooser: EmbeddingModelChooser, embeddings: Embeddings, reindexer: Reindexer
    ) -> None:
        self._database = database
        self._chooser = chooser
        self._embeddings = embeddings
        self._reindexer = reindexer

    async def models(self, workspace_id: WorkspaceId) -> list[str]:
        """The one that is searched first, and while another is introduced that one too."""
        async with self._database.read(workspace_id) as session:
            corpus = await corpus_of(session)
            coming = await self._reindexer.target_model(session, NAME)
        searched = corpus.model if corpus is not None else await self._chooser.model_of(workspace_id)
        return [searched] if coming is None or coming == searched else [searched, coming]

    async def embed(self, workspace_id: WorkspaceId, model: str, texts: Sequence[str]) -> Matrix:
        return await self._embeddings.embed_with(workspace_id, model, texts)

    async def stored(self, workspace_id: WorkspaceId, documents: Sequence[PreparedDocument]) -> dict[str, list[bytes]]:
        """Of all their passages, as the index keeps them, by every model that is needed at the moment."""
        blobs_by_model: dict[str, list[bytes]] = {}
        for model in await self.models(workspace_id):
            texts = await asyncio.to_thread(_worded, documents, model)
            blobs_by_model[model] = [to_bytes(row) for row in await self.embed(workspace_id, model, texts)]
        return blobs_by_model


def _worded(documents: Sequence[PreparedDocument], model: str) -> list[str]:
    return [text for document in documents for text in document.worded(model)]
