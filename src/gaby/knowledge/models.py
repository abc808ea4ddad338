"""Tables of knowledge: sources, documents, passages with their vectors, citations, candidates and gaps."""

from datetime import datetime
from typing import Any, cast
from uuid import UUID

from sqlalchemy import (
    BigInteger,
    CheckConstraint,
    Dialect,
    ForeignKeyConstraint,
    Index,
    Integer,
    LargeBinary,
    String,
    Text,
    UniqueConstraint,
    text,
)
from sqlalchemy.dialects.postgresql import TSVECTOR
from sqlalchemy.dialects.postgresql.base import ischema_names
from sqlalchemy.orm import Mapped, mapped_column
from sqlalchemy.types import TypeDecorator, TypeEngine, UserDefinedType

from gaby.kernel.database import Base, JsonColumn, WorkspaceOwned
from gaby.knowledge.index.pgvector import from_text, to_text


class _PgVectorType(UserDefinedType[Any]):
    """pgvector's type without a number of dimensions: each model has its own."""

    cache_ok = True

    def get_col_spec(self, **_: Any) -> str:
        return "vector"


cast("dict[str, Any]", ischema_names)["vector"] = _PgVectorType  # So that the drift check recognises the column.


class VectorColumn(TypeDecorator[bytes]):
    """float32, little endian, as bytes; on Postgres a column that pgvector can search."""

    impl = LargeBinary
    cache_ok = True

    def load_dialect_impl(self, dialect: Dialect) -> TypeEngine[Any]:
        chosen: TypeEngine[Any] = _PgVectorType() if dialect.name == "postgresql" else LargeBinary()
        return dialect.type_descriptor(chosen)

    def process_bind_param(self, value: bytes | None, dialect: Dialect) -> Any:
        if value is None or dialect.name != "postgresql":
            return value
        return to_text(value)

    def process_result_value(self, value: Any, dialect: Dialect) -> bytes | None:
        if value is None or dialect.name != "postgresql":
            return value
        return from_text(value)


class KnowledgeSource(Base, WorkspaceOwned):
    """Where documents come from, and how its last sync went."""

    __tablename__ = "knowledge_sources"
    __table_args__ = (
        UniqueConstraint("workspace_id", "name"),
        ForeignKeyConstraint(["workspace_id"], ["workspaces.id"]),
        CheckConstraint("state IN ('new', 'running', 'done', 'failed')", name="state"),
        Index("ix_knowledge_sources_due", "due_at"),
    )

    name: Mapped[str] = mapped_column(String(60))
    kind: Mapped[str] = mapped_column(String(20))
    location: Mapped[str] = mapped_column(Text)
    options: Mapped[dict[str, Any]]
    created_at: Mapped[datetime]
    audience: Mapped[str] = mapped_column(String(10), default="staff")
    """Who may be shown its pages: public, customers or staff."""
    secret: Mapped[str | None] = mapped_column(Text, default=None)
    every_seconds: Mapped[int | None] = mapped_column(default=None)
    """None is synced only when somebody asks."""
    due_at: Mapped[datetime | None] = mapped_column(default=None)
    state: Mapped[str] = mapped_column(String(10), default="new")
    sync_id: Mapped[UUID | None] = mapped_column(default=None)
    """Of the sync that runs, or was interrupted. The next one goes on under it."""
    again: Mapped[bool] = mapped_column(default=False)
    """Somebody asked for another one while this one ran."""
    lease_until: Mapped[datetime | None] = mapped_column(default=None)
    """Whoever syncs moves it on; past it, another process may take over."""
    cursor: Mapped[str | None] = mapped_column(Text, default=None)
    started_at: Mapped[datetime | None] = mapped_column(default=None)
    finished_at: Mapped[datetime | None] = mapped_column(default=None)
    fresh_at: Mapped[datetime | None] = mapped_column(default=None)
    """When a sync last went through to the end."""
    error: Mapped[str | None] = mapped_column(String(1000), default=None)
    total: Mapped[int | None] = mapped_column(default=None)
    done: Mapped[int] = mapped_column(default=0)
    added: Mapped[int] = mapped_column(default=0)
    changed: Mapped[int] = mapped_column(default=0)
    removed: Mapped[int] = mapped_column(default=0)
    skipped: Mapped[dict[str, Any]] = mapped_column(default_factory=dict[str, Any], server_default="{}")
    """What the last complete sync saw of kinds that are not read: `count`, `kinds` and `files`. Empty: it says none."""


class KnowledgeDocument(Base, WorkspaceOwned):
    """A document as it was last read. Citations count the lines of its text."""

    __tablename__ = "knowledge_documents"
    __table_args__ = (
        UniqueConstraint("workspace_id", "source_id", "uri"),
        ForeignKeyConstraint(["workspace_id", "source_id"], ["knowledge_sources.workspace_id", "knowledge_sources.id"]),
    )

    source_id: Mapped[UUID]
    uri: Mapped[str] = mapped_column(Text)
    title: Mapped[str] = mapped_column(Text)
    kind: Mapped[str] = mapped_column(String(20))
    text: Mapped[str] = mapped_column(Text, deferred=True)
    content_hash: Mapped[str] = mapped_column(String(64))
    fingerprint: Mapped[str] = mapped_column(Text)
    first_passage: Mapped[int] = mapped_column(BigInteger)
    """The others follow without a gap."""
    passages: Mapped[int]
    lines: Mapped[int]
    pages: Mapped[int]
    changed_at: Mapped[datetime]
    link: Mapped[str | None] = mapped_column(Text, default=None)
    seen_in: Mapped[UUID | None] = mapped_column(default=None)
    """The sync that last met it; only sources that cannot be listed cheaply need it."""
    used_at: Mapped[datetime | None] = mapped_column(default=None)
    """When an answer last cited it."""
    uses: Mapped[int] = mapped_column(default=0)
    audience: Mapped[str | None] = mapped_column(String(10), default=None)
    """What the page itself says of its readers, before what its source says."""


class KnowledgeFailure(Base):
    """A document that is there and cannot be read, or is not shown to whom it says, with the reason."""

    __tablename__ = "knowledge_failures"
    __table_args__ = (
        ForeignKeyConstraint(["workspace_id", "source_id"], ["knowledge_sources.workspace_id", "knowledge_sources.id"]),
    )

    workspace_id: Mapped[UUID] = mapped_column(primary_key=True)
    source_id: Mapped[UUID] = mapped_column(primary_key=True)
    uri: Mapped[str] = mapped_column(Text, primary_key=True)
    reason: Mapped[str] = mapped_column(String(1000))
    failed_at: Mapped[datetime]
    fingerprint: Mapped[str | None] = mapped_column(Text, default=None)
    """As long as it stays the same, there is no use in trying again."""


class KnowledgePassage(Base):
    """A part of a document: what is found and cited."""

    __tablename__ = "knowledge_passages"
    __table_args__ = (
        ForeignKeyConstraint(
            ["workspace_id", "document_id"], ["knowledge_documents.workspace_id", "knowledge_documents.id"]
        ),
        Index("ix_knowledge_passages_document", "workspace_id", "document_id"),
    )

    workspace_id: Mapped[UUID] = mapped_column(primary_key=True)
    id: Mapped[int] = mapped_column(BigInteger, primary_key=True, autoincrement=False)
    """Counted in each workspace by itself, so that nothing of another can be told from it."""
    document_id: Mapped[UUID]
    ordinal: Mapped[int]
    start_at: Mapped[int]
    end_at: Mapped[int]
    first_line: Mapped[int]
    last_line: Mapped[int]
    headings: Mapped[list[str]] = mapped_column(JsonColumn)
    content_hash: Mapped[str] = mapped_column(String(64))
    first_page: Mapped[int | None] = mapped_column(default=None)
    last_page: Mapped[int | None] = mapped_column(default=None)
    terms: Mapped[int] = mapped_column(Integer, default=0)
    """How long it is for lexical search."""
    words: Mapped[Any] = mapped_column(
        Text().with_variant(TSVECTOR(), "postgresql"), default=None, deferred=True, nullable=True
    )
    """Postgres searches here. SQLite has a full-text table for each workspace instead."""


class KnowledgeVector(Base):
    """What a model made of a passage. While another model is introduced a passage has two."""

    __tablename__ = "knowledge_vectors"
    __table_args__ = (
        ForeignKeyConstraint(
            ["workspace_id", "passage_id"], ["knowledge_passages.workspace_id", "knowledge_passages.id"]
        ),
        Index("ix_knowledge_vectors_passage", "workspace_id", "passage_id"),
    )

    workspace_id: Mapped[UUID] = mapped_column(primary_key=True)
    model: Mapped[str] = mapped_column(String(200), primary_key=True)
    passage_id: Mapped[int] = mapped_column(BigInteger, primary_key=True, autoincrement=False)
    vector: Mapped[bytes] = mapped_column(VectorColumn())


class KnowledgeTerm(Base):
    """In how many passages of a workspace a term stands."""

    __tablename__ = "knowledge_terms"
    __table_args__ = (ForeignKeyConstraint(["workspace_id"], ["workspaces.id"]),)

    workspace_id: Mapped[UUID] = mapped_column(primary_key=True)
    term: Mapped[str] = mapped_column(String(100), primary_key=True)
    passages: Mapped[int]


class KnowledgeCorpus(Base):
    """All passages of a workspace together. Whoever changes any of them locks this row first."""

    __tablename__ = "knowledge_corpora"
    __table_args__ = (ForeignKeyConstraint(["workspace_id"], ["workspaces.id"]),)

    workspace_id: Mapped[UUID] = mapped_column(primary_key=True)
    model: Mapped[str] = mapped_column(String(200))
    """Whose vectors are searched."""
    version: Mapped[int] = mapped_column(BigInteger, default=0)
    """Another one after every change; answers of the cache belong to one version."""
    next_passage: Mapped[int] = mapped_column(BigInteger, default=1)
    passages: Mapped[int] = mapped_column(default=0)
    terms: Mapped[int] = mapped_column(BigInteger, default=0)
    """Of all passages together, for the average length."""
    damaged_at: Mapped[datetime | None] = mapped_column(default=None)
    """When vectors or words were found missing or broken. They are made anew in the background."""


class KnowledgeCitation(Base, WorkspaceOwned):
    """A passage that an answer cited, as it was then, so that it still opens when the document has changed."""

    __tablename__ = "knowledge_citations"
    __table_args__ = (
        UniqueConstraint("workspace_id", "token", "content_hash"),
        ForeignKeyConstraint(["workspace_id"], ["workspaces.id"]),
    )

    token: Mapped[str] = mapped_column(Text)
    content_hash: Mapped[str] = mapped_column(String(64))
    """Of the cited lines."""
    text: Mapped[str] = mapped_column(Text)
    cited_at: Mapped[datetime]
    """The last time."""


STAGED = text("state = 'staged'")
"""For queries too: an index of some rows is used only where the same condition is spelled out."""


class KnowledgeCandidate(Base, WorkspaceOwned):
    """What Gaby would like to learn from a resolved ticket. Nothing is learned before a person accepts it."""

    __tablename__ = "kb_candidates"
    __table_args__ = (
        ForeignKeyConstraint(["workspace_id"], ["workspaces.id"]),
        CheckConstraint("state IN ('staged', 'accepted', 'rejected', 'archived')", name="state"),
        Index("ix_kb_candidates_state", "workspace_id", "state", "staged_at"),
        Index("ix_kb_candidates_newest", "workspace_id", "staged_at"),
        Index("ix_kb_candidates_staged", "staged_at", sqlite_where=STAGED, postgresql_where=STAGED),
    )

    title: Mapped[str] = mapped_column(String(300))
    text: Mapped[str] = mapped_column(Text)
    """Markdown: the problem, what was found, what solved it."""
    origin: Mapped[str] = mapped_column(String(200))
    """The ticket and the run that it came from."""
    rating: Mapped[int | None]
    staged_at: Mapped[datetime]
    state: Mapped[str] = mapped_column(String(10), default="staged")
    seen: Mapped[int] = mapped_column(default=1)
    """How often the same was resolved; near-duplicates are counted here and not staged again."""
    origins: Mapped[list[str]] = mapped_column(JsonColumn, default_factory=list[str])
    """Of the near-duplicates."""
    decided_at: Mapped[datetime | None] = mapped_column(default=None)
    decided_by: Mapped[str | None] = mapped_column(String(200), default=None)
    reason: Mapped[str | None] = mapped_column(String(1000), default=None)
    edited: Mapped[bool] = mapped_column(default=False)


class KnowledgeGap(Base, WorkspaceOwned):
    """Questions that the knowledge has no answer for, alike ones together."""

    __tablename__ = "knowledge_gaps"
    __table_args__ = (
        ForeignKeyConstraint(["workspace_id"], ["workspaces.id"]),
        CheckConstraint("state IN ('open', 'closed')", name="state"),
    )

    question: Mapped[str] = mapped_column(String(500))
    """The first of them, without personal data."""
    vector: Mapped[bytes] = mapped_column(LargeBinary)
    model: Mapped[str] = mapped_column(String(200))
    asked: Mapped[int]
    examples: Mapped[list[str]] = mapped_column(JsonColumn)
    first_at: Mapped[datetime]
    last_at: Mapped[datetime]
    state: Mapped[str] = mapped_column(String(10), default="open")
