"""Knowledge: sources, documents, passages and their vectors; citations, candidates and gaps."""

from typing import Any

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import JSONB, TSVECTOR
from sqlalchemy.exc import DBAPIError
from sqlalchemy.types import UserDefinedType

from gaby.kernel.database.faults import VectorsMissing

revision = "0004"
down_revision = "0003"


class _PgVector(UserDefinedType[Any]):
    def get_col_spec(self, **_: Any) -> str:
        return "vector"


JSON = sa.JSON().with_variant(JSONB(), "postgresql")
WORDS = sa.Text().with_variant(TSVECTOR(), "postgresql")
VECTOR = sa.LargeBinary().with_variant(_PgVector(), "postgresql")


def upgrade() -> None:
    _need_pgvector()
    op.create_table(
        "kb_candidates",
        sa.Column("title", sa.String(length=300), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("origin", sa.String(length=200), nullable=False),
        sa.Column("rating", sa.Integer(), nullable=True),
        sa.Column("staged_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("state", sa.String(length=10), nullable=False),
        sa.Column("seen", sa.Integer(), nullable=False),
        sa.Column("origins", JSON, nullable=False),
        sa.Column("decided_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("decided_by", sa.String(length=200), nullable=True),
        sa.Column("reason", sa.String(length=1000), nullable=True),
        sa.Column("edited", sa.Boolean(), nullable=False),
        sa.Column("workspace_id", sa.Uuid(), nullable=False),
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.CheckConstraint(
            "state IN ('staged', 'accepted', 'rejected', 'archived')", name=op.f("ck_kb_candidates_state")
        ),
        sa.ForeignKeyConstraint(["workspace_id"], ["workspaces.id"], name=op.f("fk_kb_candidates_workspace_id")),
        sa.PrimaryKeyConstraint("workspace_id", "id", name=op.f("pk_kb_candidates")),
    )
    op.create_index("ix_kb_candidates_state", "kb_candidates", ["workspace_id", "state", "staged_at"], unique=False)
    op.create_table(
        "knowledge_citations",
        sa.Column("token", sa.Text(), nullable=False),
        sa.Column("content_hash", sa.String(length=64), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("cited_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("workspace_id", sa.Uuid(), nullable=False),
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.ForeignKeyConstraint(["workspace_id"], ["workspaces.id"], name=op.f("fk_knowledge_citations_workspace_id")),
        sa.PrimaryKeyConstraint("workspace_id", "id", name=op.f("pk_knowledge_citations")),
        sa.UniqueConstraint(
            "workspace_id", "token", "content_hash", name=op.f("uq_knowledge_citations_workspace_id_token_content_hash")
        ),
    )
    op.create_table(
        "knowledge_corpora",
        sa.Column("workspace_id", sa.Uuid(), nullable=False),
        sa.Column("model", sa.String(length=200), nullable=False),
        sa.Column("version", sa.BigInteger(), nullable=False),
        sa.Column("next_passage", sa.BigInteger(), nullable=False),
        sa.Column("passages", sa.Integer(), nullable=False),
        sa.Column("terms", sa.BigInteger(), nullable=False),
        sa.Column("damaged_at", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(["workspace_id"], ["workspaces.id"], name=op.f("fk_knowledge_corpora_workspace_id")),
        sa.PrimaryKeyConstraint("workspace_id", name=op.f("pk_knowledge_corpora")),
    )
    op.create_table(
        "knowledge_gaps",
        sa.Column("question", sa.String(length=500), nullable=False),
        sa.Column("vector", sa.LargeBinary(), nullable=False),
        sa.Column("model", sa.String(length=200), nullable=False),
        sa.Column("asked", sa.Integer(), nullable=False),
        sa.Column("examples", JSON, nullable=False),
        sa.Column("first_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("last_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("state", sa.String(length=10), nullable=False),
        sa.Column("workspace_id", sa.Uuid(), nullable=False),
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.CheckConstraint("state IN ('open', 'closed')", name=op.f("ck_knowledge_gaps_state")),
        sa.ForeignKeyConstraint(["workspace_id"], ["workspaces.id"], name=op.f("fk_knowledge_gaps_workspace_id")),
        sa.PrimaryKeyConstraint("workspace_id", "id", name=op.f("pk_knowledge_gaps")),
    )
    op.create_table(
        "knowledge_sources",
        sa.Column("name", sa.String(length=60), nullable=False),
        sa.Column("kind", sa.String(length=20), nullable=False),
        sa.Column("location", sa.Text(), nullable=False),
        sa.Column("options", JSON, nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("secret", sa.Text(), nullable=True),
        sa.Column("every_seconds", sa.Integer(), nullable=True),
        sa.Column("due_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("state", sa.String(length=10), nullable=False),
        sa.Column("sync_id", sa.Uuid(), nullable=True),
        sa.Column("again", sa.Boolean(), nullable=False),
        sa.Column("lease_until", sa.DateTime(timezone=True), nullable=True),
        sa.Column("cursor", sa.Text(), nullable=True),
        sa.Column("started_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("finished_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("fresh_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("error", sa.String(length=1000), nullable=True),
        sa.Column("total", sa.Integer(), nullable=True),
        sa.Column("done", sa.Integer(), nullable=False),
        sa.Column("added", sa.Integer(), nullable=False),
        sa.Column("changed", sa.Integer(), nullable=False),
        sa.Column("removed", sa.Integer(), nullable=False),
        sa.Column("workspace_id", sa.Uuid(), nullable=False),
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.CheckConstraint("state IN ('new', 'running', 'done', 'failed')", name=op.f("ck_knowledge_sources_state")),
        sa.ForeignKeyConstraint(["workspace_id"], ["workspaces.id"], name=op.f("fk_knowledge_sources_workspace_id")),
        sa.PrimaryKeyConstraint("workspace_id", "id", name=op.f("pk_knowledge_sources")),
        sa.UniqueConstraint("workspace_id", "name", name=op.f("uq_knowledge_sources_workspace_id_name")),
    )
    op.create_index("ix_knowledge_sources_due", "knowledge_sources", ["due_at"], unique=False)
    op.create_table(
        "knowledge_terms",
        sa.Column("workspace_id", sa.Uuid(), nullable=False),
        sa.Column("term", sa.String(length=100), nullable=False),
        sa.Column("passages", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["workspace_id"], ["workspaces.id"], name=op.f("fk_knowledge_terms_workspace_id")),
        sa.PrimaryKeyConstraint("workspace_id", "term", name=op.f("pk_knowledge_terms")),
    )
    op.create_table(
        "knowledge_documents",
        sa.Column("source_id", sa.Uuid(), nullable=False),
        sa.Column("uri", sa.Text(), nullable=False),
        sa.Column("title", sa.Text(), nullable=False),
        sa.Column("kind", sa.String(length=20), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("content_hash", sa.String(length=64), nullable=False),
        sa.Column("fingerprint", sa.Text(), nullable=False),
        sa.Column("first_passage", sa.BigInteger(), nullable=False),
        sa.Column("passages", sa.Integer(), nullable=False),
        sa.Column("lines", sa.Integer(), nullable=False),
        sa.Column("pages", sa.Integer(), nullable=False),
        sa.Column("changed_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("link", sa.Text(), nullable=True),
        sa.Column("seen_in", sa.Uuid(), nullable=True),
        sa.Column("used_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("uses", sa.Integer(), nullable=False),
        sa.Column("workspace_id", sa.Uuid(), nullable=False),
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.ForeignKeyConstraint(
            ["workspace_id", "source_id"],
            ["knowledge_sources.workspace_id", "knowledge_sources.id"],
            name=op.f("fk_knowledge_documents_workspace_id_source_id"),
        ),
        sa.PrimaryKeyConstraint("workspace_id", "id", name=op.f("pk_knowledge_documents")),
        sa.UniqueConstraint(
            "workspace_id", "source_id", "uri", name=op.f("uq_knowledge_documents_workspace_id_source_id_uri")
        ),
    )
    op.create_table(
        "knowledge_failures",
        sa.Column("workspace_id", sa.Uuid(), nullable=False),
        sa.Column("source_id", sa.Uuid(), nullable=False),
        sa.Column("uri", sa.Text(), nullable=False),
        sa.Column("reason", sa.String(length=1000), nullable=False),
        sa.Column("failed_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("fingerprint", sa.Text(), nullable=True),
        sa.ForeignKeyConstraint(
            ["workspace_id", "source_id"],
            ["knowledge_sources.workspace_id", "knowledge_sources.id"],
            name=op.f("fk_knowledge_failures_workspace_id_source_id"),
        ),
        sa.PrimaryKeyConstraint("workspace_id", "source_id", "uri", name=op.f("pk_knowledge_failures")),
    )
    op.create_table(
        "knowledge_passages",
        sa.Column("workspace_id", sa.Uuid(), nullable=False),
        sa.Column("id", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("document_id", sa.Uuid(), nullable=False),
        sa.Column("ordinal", sa.Integer(), nullable=False),
        sa.Column("start_at", sa.Integer(), nullable=False),
        sa.Column("end_at", sa.Integer(), nullable=False),
        sa.Column("first_line", sa.Integer(), nullable=False),
        sa.Column("last_line", sa.Integer(), nullable=False),
        sa.Column("headings", JSON, nullable=False),
        sa.Column("content_hash", sa.String(length=64), nullable=False),
        sa.Column("first_page", sa.Integer(), nullable=True),
        sa.Column("last_page", sa.Integer(), nullable=True),
        sa.Column("terms", sa.Integer(), nullable=False),
        sa.Column("words", WORDS, nullable=True),
        sa.ForeignKeyConstraint(
            ["workspace_id", "document_id"],
            ["knowledge_documents.workspace_id", "knowledge_documents.id"],
            name=op.f("fk_knowledge_passages_workspace_id_document_id"),
        ),
        sa.PrimaryKeyConstraint("workspace_id", "id", name=op.f("pk_knowledge_passages")),
    )
    op.create_index(
        "ix_knowledge_passages_document", "knowledge_passages", ["workspace_id", "document_id"], unique=False
    )
    op.create_table(
        "knowledge_vectors",
        sa.Column("workspace_id", sa.Uuid(), nullable=False),
        sa.Column("model", sa.String(length=200), nullable=False),
        sa.Column("passage_id", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("vector", VECTOR, nullable=False),
        sa.ForeignKeyConstraint(
            ["workspace_id", "passage_id"],
            ["knowledge_passages.workspace_id", "knowledge_passages.id"],
            name=op.f("fk_knowledge_vectors_workspace_id_passage_id"),
        ),
        sa.PrimaryKeyConstraint("workspace_id", "model", "passage_id", name=op.f("pk_knowledge_vectors")),
    )
    op.create_index("ix_knowledge_vectors_passage", "knowledge_vectors", ["workspace_id", "passage_id"], unique=False)
    if op.get_bind().dialect.name == "postgresql":
        op.execute(_GRAPH)


def _need_pgvector() -> None:
    """Only an administrator may add it, so one that is there already is left alone."""
    connection = op.get_bind()
    if connection.dialect.name != "postgresql":
        return
    if connection.scalar(sa.text("SELECT count(*) FROM pg_extension WHERE extname = 'vector'")):
        return
    try:
        connection.execute(sa.text("CREATE EXTENSION vector"))
    except DBAPIError as error:
        raise VectorsMissing from error


# Gaby's own role may not make indexes, so it asks this function, which makes only this one kind, for the workspace that
# the transaction is in.
_GRAPH = """
CREATE FUNCTION gaby_build_vector_graph(place uuid, of_model text, dimensions integer) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
DECLARE
    name text := 'knowledge_graph_' || md5(place::text || ' ' || of_model || ' ' || dimensions::text);
BEGIN
    IF current_setting('gaby.workspace_id', true) IS DISTINCT FROM place::text THEN
        RAISE EXCEPTION 'this is another workspace' USING ERRCODE = '42501';
    END IF;
    IF to_regclass(name) IS NOT NULL THEN
        RETURN false;
    END IF;
    EXECUTE format(
        'CREATE INDEX %I ON knowledge_vectors USING hnsw ((vector::vector(%s)) vector_cosine_ops) '
        'WHERE workspace_id = %L::uuid AND model = %L', name, dimensions, place, of_model);
    RETURN true;
END $$
"""
