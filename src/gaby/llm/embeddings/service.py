"""Embeddings: texts to vectors by the workspace's chosen model, each text once."""

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Protocol

import numpy as np

from gaby.kernel.clock import Clock
from gaby.kernel.database import Database
from gaby.kernel.errors import Invalid, Unavailable
from gaby.kernel.ids import WorkspaceId
from gaby.kernel.log import get_log
from gaby.llm.embeddings import cache
from gaby.llm.embeddings.embedder import Embedder, Matrix, Vector
from gaby.llm.embeddings.errors import RemoteNotConnected
from gaby.llm.embeddings.local import NAMES, find_embedder, is_local
from gaby.llm.embeddings.remote import RemoteEmbed, ask
from gaby.llm.embeddings.texts import clean, digest
from gaby.llm.embeddings.worker import EmbeddingWorker

_log = get_log(__name__)

_AT_ONCE = 480
"""Texts that are looked up, made and kept together. Whoever is interrupted need not begin anew, and the event loop
never waits for a whole library to be hashed."""

_LONGEST_NAME = 200


class EmbeddingModelChooser(Protocol):
    async def model_of(self, workspace_id: WorkspaceId) -> str:
        """Such as `local/wordllama` or `openai/text-embedding-3-small`."""
        ...


@dataclass(frozen=True)
class _VectorSource:
    """Where the vectors of one call come from."""

    workspace_id: WorkspaceId
    model: str
    dimensions: int | None
    """None when only the first answer will tell."""
    worth_caching: bool
    make: Callable[[Sequence[str], int | None], AsyncIterator[Matrix]]


class Embeddings:
    def __init__(
        self,
        database: Database,
        clock: Clock,
        chooser: EmbeddingModelChooser,
        *,
        remote: RemoteEmbed | None = None,
        folder: Path | None = None,
        threads: int = 1,
    ) -> None:
        self._database = database
        self._clock = clock
        self._chooser = chooser
        self._remote = remote
        self._folder = folder
        self._threads = threads
        self._worker = EmbeddingWorker()

    async def embed(self, workspace_id: WorkspaceId, texts: Sequence[str], *, wait: bool = True) -> Matrix:
        """One row for each text. With `wait=False` it raises `EmbeddingsBusy` instead of queueing for a place."""
        return await self.embed_with(workspace_id, await self._chooser.model_of(workspace_id), texts, wait=wait)

    async def embed_with(
        self, workspace_id: WorkspaceId, model: str, texts: Sequence[str], *, wait: bool = True
    ) -> Matrix:
        """The same by a model that the caller names. Call it outside of a session: what is made inside of a write
        cannot be kept."""
        source = self._source(workspace_id, model, wait=wait)
        places = {text: place for place, text in enumerate(dict.fromkeys(texts))}
        unique = list(places)
        matrices: list[Matrix] = []
        for start in range(0, len(unique), _AT_ONCE):
            matrices.append(await self._some(source, unique[start : start + _AT_ONCE]))
            source = replace(source, dimensions=matrices[0].shape[1])
        rows = np.vstack(matrices) if matrices else np.zeros((0, source.dimensions or 0), np.float32)
        return rows[[places[text] for text in texts]]

    def check(self, model: str) -> None:
        """Raises when nothing could ever embed by this model."""
        if is_local(model):
            self._embedder(model)
        elif not all(model.partition("/")) or len(model) > _LONGEST_NAME:
            raise Invalid(f"{model[:80]!r} is no embedding model. Write PROVIDER/MODEL, or choose {', '.join(NAMES)}.")

    def local(self, name: str) -> Callable[[Sequence[str]], Matrix]:
        """For whoever does without an event loop and a database, such as the offline mind. It blocks."""
        return self._embedder(name).embed

    async def close(self) -> None:
        await self._worker.close()

    def _embedder(self, name: str) -> Embedder:
        return find_embedder(name, self._folder, threads=self._threads)

    def _source(self, workspace_id: WorkspaceId, model: str, *, wait: bool) -> _VectorSource:
        if is_local(model):
            embedder = self._embedder(model)

            async def make(texts: Sequence[str], _dimensions: int | None) -> AsyncIterator[Matrix]:
                yield await self._worker.embed(embedder, texts, wait=wait)

            return _VectorSource(workspace_id, model, embedder.dimensions, embedder.worth_caching, make)
        if self._remote is None:
            raise RemoteNotConnected(f"{model} is served by a provider, and none is connected. Choose a local model.")
        at_provider = partial(ask, self._remote, workspace_id, model)
        return _VectorSource(workspace_id, model, dimensions=None, worth_caching=True, make=at_provider)

    async def _some(self, source: _VectorSource, texts: Sequence[str]) -> Matrix:
        cleaned = [clean(text) for text in texts]
        if not source.worth_caching:
            return np.vstack([rows async for rows in source.make(cleaned, source.dimensions)])
        hashes = [digest(text) for text in cleaned]
        by_hash = dict(zip(hashes, cleaned, strict=True))
        lookup, dimensions = await self._look_up(source, list(by_hash))
        vectors = dict(lookup.vectors)
        missing = [each for each in by_hash if each not in vectors]
        done = 0
        async for rows in source.make([by_hash[each] for each in missing], dimensions):
            new = dict(zip(missing[done : done + len(rows)], rows, strict=True))
            await self._store(source, new, lookup)
            vectors |= new
            done += len(rows)
        return np.stack([vectors[each] for each in hashes])

    async def _look_up(self, source: _VectorSource, hashes: Sequence[bytes]) -> tuple[cache.CacheLookup, int | None]:
        async with self._database.read(source.workspace_id) as session:
            dimensions = source.dimensions or await cache.dimensions_of(session, source.model)
            return await cache.find(session, source.model, hashes, dimensions=dimensions), dimensions

    async def _store(self, source: _VectorSource, vectors: Mapping[bytes, Vector], lookup: cache.CacheLookup) -> None:
        """The vectors are good also when they cannot be kept; they are made again another time."""
        if self._database.in_write_session():
            return  # A second write would wait for the first, and the first for us.
        damaged = lookup.damaged & vectors.keys()
        try:
            async with self._database.write(source.workspace_id) as session:
                await cache.store(session, source.model, vectors, now=self._clock.now(), damaged=damaged)
        except Unavailable as error:
            _log.warning("embeddings.not_kept", model=source.model, texts=len(vectors), error=repr(error))
