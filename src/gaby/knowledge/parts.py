"""The parts of knowledge, each built from those before it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from gaby.kernel.clock import Clock
from gaby.kernel.crypto import Vault
from gaby.kernel.database import Database, ReadSession
from gaby.kernel.ids import Ids, Random, WorkspaceId
from gaby.kernel.metrics import Metrics
from gaby.knowledge.answering import Answering
from gaby.knowledge.citations.opening import Citations
from gaby.knowledge.embedding import Embedding
from gaby.knowledge.index.index import Index
from gaby.knowledge.index.postgres import PostgresIndex
from gaby.knowledge.index.sqlite import SqliteIndex
from gaby.knowledge.index.store import VectorStores
from gaby.knowledge.learning.candidates import Candidates
from gaby.knowledge.learning.gaps import Gaps
from gaby.knowledge.library import Library
from gaby.knowledge.mending import Mender
from gaby.knowledge.retrieval.cache import ResultCache
from gaby.knowledge.retrieval.search import Searcher
from gaby.knowledge.retrieval.with_model import AssistedSearch
from gaby.knowledge.runbook_pages import RunbookPages
from gaby.knowledge.shelf import Shelf
from gaby.knowledge.sources.config import SourceGround
from gaby.knowledge.sources.made import MadeDocument
from gaby.knowledge.sources.tickets import TicketArchive
from gaby.knowledge.syncing import Syncer
from gaby.llm.service import Models
from gaby.safety import Redactor, redacting_for_good


@dataclass(frozen=True)
class KnowledgeGround:
    """What knowledge stands on."""

    database: Database
    clock: Clock
    ids: Ids
    vault: Vault
    metrics: Metrics
    models: Models
    random: Random
    redactor: Redactor
    """Takes personal data out of what is kept: candidates, and questions without an answer."""
    home: Path
    """Where clones and mapped vectors are kept; it may be deleted at any time."""
    networks: tuple[str, ...] = ()
    folders: tuple[Path, ...] | None = None
    ask_model: bool = False
    archive: Callable[[WorkspaceId], TicketArchive] | None = None
    """The tickets that people solved in a workspace."""


@dataclass(frozen=True)
class KnowledgeParts:
    index: Index
    library: Library
    shelf: Shelf
    syncer: Syncer
    searcher: Searcher
    mender: Mender
    citations: Citations
    candidates: Candidates
    gaps: Gaps
    answering: Answering
    runbook_pages: RunbookPages


def build_parts(ground: KnowledgeGround) -> KnowledgeParts:
    database, clock, ids, models = ground.database, ground.clock, ground.ids, ground.models
    index: Index = (
        PostgresIndex(database)
        if database.dialect == "postgresql"
        else SqliteIndex(database, VectorStores(database, ground.home / "vectors"))
    )
    embedding = Embedding(database, models.setups, models.embeddings, models.reindexer)
    library = Library(clock, ids, index)

    async def learned(workspace_id: WorkspaceId) -> Sequence[MadeDocument]:
        return await candidates.accepted(workspace_id)

    def grounds(session: ReadSession) -> SourceGround:
        return SourceGround(
            # Of each workspace by itself: what one may clone, another may not read.
            cache=ground.home / "sources" / session.workspace_id.hex,
            allowed_networks=ground.networks,
            allowed_folders=ground.folders,
            learned=partial(learned, session.workspace_id),
            archive=None if ground.archive is None else ground.archive(session.workspace_id),
            now=clock.now,
        )

    redact = redacting_for_good(ground.redactor, ground.random)
    citations = Citations(clock, ids)
    shelf = Shelf(clock, ids, ground.vault, library, citations, grounds)
    candidates = Candidates(database, clock, ids, shelf, redact)
    gaps = Gaps(database, clock, ids, embedding, redact)
    mender = Mender(database, clock, index, embedding, ground.metrics)
    searcher = Searcher(database, index, embedding, ResultCache(clock), mender.alarm)
    assisted = AssistedSearch(searcher, models, ask_model=ground.ask_model)
    return KnowledgeParts(
        index=index,
        library=library,
        shelf=shelf,
        syncer=Syncer(database, clock, ids, library, embedding, shelf),
        searcher=searcher,
        mender=mender,
        citations=citations,
        candidates=candidates,
        gaps=gaps,
        answering=Answering(database, assisted, models, citations, gaps, ground.metrics),
        runbook_pages=RunbookPages(database),
    )
