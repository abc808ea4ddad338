"""The parts of knowledge, each built from those before it."""

from dataclasses import dataclass
from pathlib import Path

from gaby.kernel.clock import Clock
from gaby.kernel.crypto import Vault
from gaby.kernel.database import Database, ReadSession
from gaby.kernel.ids import Ids
from gaby.kernel.metrics import Metrics
from gaby.knowledge.embedding import Embedding
from gaby.knowledge.index.index import Index
from gaby.knowledge.index.postgres import PostgresIndex
from gaby.knowledge.index.sqlite import SqliteIndex
from gaby.knowledge.index.store import VectorStores
from gaby.knowledge.library import Library
from gaby.knowledge.mending import Mender
from gaby.knowledge.reading import kind_of
from gaby.knowledge.retrieval.cache import ResultCache
from gaby.knowledge.retrieval.search import Searcher
from gaby.knowledge.shelf import Shelf
from gaby.knowledge.sources.config import SourceGround
from gaby.knowledge.syncing import Syncer
from gaby.llm.service import Models


@dataclass(frozen=True)
class KnowledgeGround:
    """What knowledge stands on."""

    database: Database
    clock: Clock
    ids: Ids
    vault: Vault
    metrics: Metrics
    models: Models
    home: Path
    """Where clones and mapped vectors are kept; it may be deleted at any time."""
    networks: tuple[str, ...] = ()
    folders: tuple[Path, ...] | None = None


@dataclass(frozen=True)
class KnowledgeParts:
    index: Index
    library: Library
    shelf: Shelf
    syncer: Syncer
    searcher: Searcher
    mender: Mender


def build_parts(ground: KnowledgeGround) -> KnowledgeParts:
    database, clock, ids, models = ground.database, ground.clock, ground.ids, ground.models
    index: Index = (
        PostgresIndex(database)
        if database.dialect == "postgresql"
        else SqliteIndex(database, VectorStores(database, ground.home / "vectors"))
    )
    embedding = Embedding(database, models.setups, models.embeddings, models.reindexer)
    library = Library(clock, ids, index)

    def grounds(_session: ReadSession) -> SourceGround:
        return SourceGround(
            cache=ground.home,
            wanted=lambda name, media_type: kind_of(name, media_type) is not None,
            allowed_networks=ground.networks,
            allowed_folders=ground.folders,
        )

    shelf = Shelf(clock, ids, ground.vault, library, grounds)
    mender = Mender(database, clock, index, embedding, ground.metrics)
    return KnowledgeParts(
        index=index,
        library=library,
        shelf=shelf,
        syncer=Syncer(database, clock, ids, library, embedding, shelf),
        searcher=Searcher(database, index, embedding, ResultCache(clock)),
        mender=mender,
    )
