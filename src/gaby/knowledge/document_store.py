"""The library: documents go in whole, with their passages, words and vectors, and leave without a trace."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import delete, insert, select

from gaby.kernel.clock import Clock
from gaby.kernel.database import ReadSession, WriteSession
from gaby.kernel.errors import Unavailable
from gaby.kernel.ids import IdFactory, WorkspaceId
from gaby.knowledge.corpus import changing, corpus_of
from gaby.knowledge.documents import content_hash
from gaby.knowledge.index.index import IndexEntry, PassageIndex, Span, Stored
from gaby.knowledge.models import KnowledgeCorpus, KnowledgeDocument, KnowledgePassage, KnowledgeVector
from gaby.knowledge.parsers.front_matter import front_matter_audience
from gaby.knowledge.preparation import PreparedDocument

_AT_ONCE = 400


class ModelChanged(Unavailable):
    """Another model for vectors was chosen a moment ago. The documents are read again."""


@dataclass(frozen=True)
class StoredDocument:
    """A document that is in the library."""

    id: UUID
    fingerprint: str
    content_hash: str
    span: Span
    used_at: datetime | None = None
    uses: int = 0


class DocumentStore:
    def __init__(self, clock: Clock, ids: IdFactory, index: PassageIndex) -> None:
        self._clock = clock
        self._ids = ids
        self._index = index

    async def held(self, session: ReadSession, source_id: UUID) -> dict[str, StoredDocument]:
        document = KnowledgeDocument
        query = select(
            document.uri,
            document.id,
            document.fingerprint,
            document.content_hash,
            document.first_passage,
            document.passages,
        ).where(document.workspace_id == session.workspace_id, document.source_id == source_id)
        return {
            uri: StoredDocument(document_id, fingerprint, digest, (first, first + count - 1))
            for uri, document_id, fingerprint, digest, first, count in await session.execute(query)
        }

    async def put(
        self,
        session: WriteSession,
        source_id: UUID,
        documents: Sequence[PreparedDocument],
        vectors: Stored,
        *,
        seen_in: UUID | None = None,
    ) -> None:
        """In place of what is there under the same addresses."""
        corpus = await changing(session, next(iter(vectors)))
        if corpus.model not in vectors:
            raise ModelChanged
        there = await self._at(session, source_id, [document.uri for document in documents])
        await self._take_out(session, corpus, list(there.values()))
        place = session.workspace_id
        document_rows: list[dict[str, Any]] = []
        entries: list[IndexEntry] = []
        for document in documents:
            old = there.get(document.uri) or StoredDocument(self._ids.new(), "", "", (1, 0))
            row = self._document_row(document, old, corpus.next_passage)
            document_rows.append(row | {"workspace_id": place, "source_id": source_id, "seen_in": seen_in})
            entries += _entries(old.id, document, corpus.next_passage)
            corpus.next_passage += len(document.passages)
        corpus.passages += len(entries)
        corpus.terms += sum(len(entry.terms) for entry in entries)
        await (await session.connection()).execute(insert(KnowledgeDocument), document_rows)
        await self._index.insert(session, entries, vectors)

    async def remove(self, session: WriteSession, documents: Sequence[StoredDocument]) -> None:
        if documents and await corpus_of(session) is not None:
            await self._take_out(session, await changing(session, ""), documents)

    async def tend(self, workspace_id: WorkspaceId) -> None:
        await self._index.tend(workspace_id)

    async def _take_out(
        self, session: WriteSession, corpus: KnowledgeCorpus, documents: Sequence[StoredDocument]
    ) -> None:
        place = session.workspace_id
        for start in range(0, len(documents), _AT_ONCE):
            some = documents[start : start + _AT_ONCE]
            ids = [document.id for document in some]
            inside = (KnowledgePassage.workspace_id == place, KnowledgePassage.document_id.in_(ids))
            for count in await session.scalars(select(KnowledgePassage.terms).where(*inside)):
                corpus.terms -= count
                corpus.passages -= 1
            await self._index.remove(session, [document.span for document in some])
            for model in await session.scalars(
                select(KnowledgeVector.model).where(KnowledgeVector.workspace_id == place).distinct()
            ):
                for first, last in _joined([document.span for document in some]):
                    gone = (
                        KnowledgeVector.workspace_id == place,
                        KnowledgeVector.model == model,
                        KnowledgeVector.passage_id.between(first, last),
                    )
                    await session.execute(delete(KnowledgeVector).where(*gone))
            await session.execute(delete(KnowledgePassage).where(*inside))
            these = (KnowledgeDocument.workspace_id == place, KnowledgeDocument.id.in_(ids))
            await session.execute(delete(KnowledgeDocument).where(*these))

    async def _at(self, session: ReadSession, source_id: UUID, uris: Sequence[str]) -> dict[str, StoredDocument]:
        held: dict[str, StoredDocument] = {}
        document = KnowledgeDocument
        for start in range(0, len(uris), _AT_ONCE):
            query = select(document).where(
                document.workspace_id == session.workspace_id,
                document.source_id == source_id,
                document.uri.in_(uris[start : start + _AT_ONCE]),
            )
            for row in await session.scalars(query):
                span = (row.first_passage, row.first_passage + row.passages - 1)
                held[row.uri] = StoredDocument(row.id, row.fingerprint, row.content_hash, span, row.used_at, row.uses)
        return held

    def _document_row(self, document: PreparedDocument, old: StoredDocument, first_passage: int) -> dict[str, Any]:
        return {
            "id": old.id,
            "uri": document.uri,
            "title": document.text.title,
            "kind": document.text.kind,
            "text": document.text.text,
            "content_hash": document.content_hash,
            "fingerprint": document.fingerprint,
            "first_passage": first_passage,
            "passages": len(document.passages),
            "lines": document.text.text.removesuffix("\n").count("\n") + 1,
            "pages": len(document.text.pages),
            "changed_at": self._clock.now(),
            "link": document.link,
            "audience": front_matter_audience(document.text.text) if document.text.kind == "markdown" else None,
            "used_at": old.used_at,
            "uses": old.uses,
        }


def _entries(document_id: UUID, document: PreparedDocument, first: int) -> list[IndexEntry]:
    return [
        IndexEntry(
            first + ordinal,
            terms,
            {
                "id": first + ordinal,
                "document_id": document_id,
                "ordinal": ordinal,
                "start_at": passage.start,
                "end_at": passage.end,
                "first_line": passage.first_line,
                "last_line": passage.last_line,
                "headings": passage.headings,
                "content_hash": content_hash(passage.extract(document.text.text)),
                "first_page": passage.first_page,
                "last_page": passage.last_page,
                "terms": len(terms),
            },
        )
        for ordinal, (passage, terms) in enumerate(zip(document.passages, document.terms, strict=True))
    ]


def _joined(spans: Sequence[Span]) -> list[Span]:
    """Fewer and longer ones. A document without passages has an empty span."""
    joined: list[Span] = []
    for first, last in sorted(span for span in spans if span[0] <= span[1]):
        if joined and joined[-1][1] + 1 == first:
            joined[-1] = (joined[-1][0], last)
        else:
            joined.append((first, last))
    return joined
