"""The parts of knowledge, each built from those before it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from gaby.kernel.clock import Clock
from gaby.kernel.crypto import Vault
from gaby.kernel.database import Database, ReadSession
from gaby.kernel.ids import IdFactory, Random, WorkspaceId
from gaby.kernel.metrics import Metrics
from gaby.knowledge.answers import AnswerService
from gaby.knowledge.citations.resolver import Citations
from gaby.knowledge.document_store import DocumentStore
from gaby.knowledge.embedding import PassageEmbedder
from gaby.knowledge.index.index import PassageIndex
from gaby.knowledge.index.postgres import PostgresIndex
from gaby.knowledge.index.sqlite import SqliteIndex
from gaby.knowledge.index.store import VectorStores
from gaby.knowledge.index_repair import IndexRepair
from gaby.knowledge.learning.candidates import Candidates
from gaby.knowledge.learning.gaps import KnowledgeGaps
from gaby.knowledge.retrieval.assisted_search import AssistedSearch
from gaby.knowledge.retrieval.cache import SearchCache
from gaby.knowledge.retrieval.search import Searcher
from gaby.knowledge.runbook_pages import RunbookPages
from gaby.knowledge.source_service import SourceService
from gaby.knowledge.sources.config import SourceDependencies
from gaby.knowledge.sources.generated_documents import GeneratedDocument
from gaby.knowledge.sources.tickets import TicketArchive
from gaby.knowledge.sync import Syncer
from gaby.llm.service import Models
from gaby.safety import Redactor, redacting_for_good


@dataclass(frozen=True)
class KnowledgeDependencies:
    """What knowledge stands on."""

    database: Database
    clock: Clock
    ids: IdFactory
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
class KnowledgeComponents:
    index: PassageIndex
    library: DocumentStore
    sources: SourceService
    syncer: Syncer
    searcher: Searcher
    mender: IndexRepair
    citations: Citations
    candidates: Candidates
    gaps: KnowledgeGaps
    answering: AnswerService
    runbook_pages: RunbookPages


def build_components(dependencies: KnowledgeDependencies) -> KnowledgeComponents:
    database, clock, ids, models = dependencies.database, dependencies.clock, dependencies.ids, dependencies.models
    index: PassageIndex = (
        PostgresIndex(database)
        if database.dialect == "postgresql"
        else SqliteIndex(database, VectorStores(database, dependencies.home / "vectors"))
    )
    embedding = PassageEmbedder(database, models.setups, models.embeddings, models.reindexer)
    library = DocumentStore(clock, ids, index)

    async def learned(workspace_id: WorkspaceId) -> Sequence[GeneratedDocument]:
        return await candidates.accepted(workspace_id)

    def make_dependencies(session: ReadSession) -> SourceDependencies:
        return SourceDependencies(
            # Of each workspace by itself: what one may clone, another may not read.
            cache=dependencies.home / "sources" / session.workspace_id.hex,
            allowed_networks=dependencies.networks,
            allowed_folders=dependencies.folders,
            learned=partial(learned, session.workspace_id),
            archive=None if dependencies.archive is None else dependencies.archive(session.workspace_id),
            now=clock.now,
        )

    redact = redacting_for_good(dependencies.redactor, dependencies.random)
    citations = Citations(clock, ids)
    sources = SourceService(clock, ids, dependencies.vault, library, citations, make_dependencies)
    candidates = Candidates(database, clock, ids, sources, redact)
    gaps = KnowledgeGaps(database, clock, ids, embedding, redact)
    mender = IndexRepair(database, clock, index, embedding, dependencies.metrics)
    searcher = Searcher(database, index, embedding, SearchCache(clock), mender.alarm)
    assisted = AssistedSearch(searcher, models, ask_model=dependencies.ask_model)
    return KnowledgeComponents(
        index=index,
        library=library,
        sources=sources,
        syncer=Syncer(database, clock, ids, library, embedding, sources),
        searcher=searcher,
        mender=mender,
        citations=citations,
        candidates=candidates,
        gaps=gaps,
        answering=AnswerService(database, assisted, models, citations, gaps, dependencies.metrics),
        runbook_pages=RunbookPages(database),
    )
