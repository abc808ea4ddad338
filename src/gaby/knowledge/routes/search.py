"""Search, answers, documents and citations over HTTP."""

from typing import Annotated

from fastapi import APIRouter, Query

from gaby.kernel.http.access import CanReadKnowledge, ReadSession
from gaby.kernel.ids import DocumentId
from gaby.knowledge.freshness import documents
from gaby.knowledge.routes.dependencies import Service
from gaby.knowledge.schemas import AnswerOut, AskIn, CitationOut, DocumentOut, LinesOut, SearchIn, SearchOut

router = APIRouter(prefix="/api/knowledge", tags=["Knowledge"])


@router.post("/search")
async def search(actor: CanReadKnowledge, body: SearchIn, service: Service) -> SearchOut:
    """The few passages that answer, each with its citation and the reasons of its score; none when none fits."""
    results = await service.components.searcher.search(
        actor.workspace_id, body.question, limit=body.limit, everything=body.everything
    )
    return SearchOut.from_domain(results)


@router.post("/ask")
async def ask(actor: CanReadKnowledge, body: AskIn, service: Service) -> AnswerOut:
    """An answer in prose, every sentence with its source. A question without an answer is counted as a gap."""
    return AnswerOut.from_domain(await service.components.answering.answer(actor, body.question))


@router.get("/documents")
async def list_documents(
    actor: CanReadKnowledge,
    service: Service,
    session: ReadSession,
    *,
    source: Annotated[str | None, Query(max_length=60)] = None,
    stale: bool = False,
    limit: Annotated[int, Query(ge=1, le=1000)] = 200,
) -> list[DocumentOut]:
    rows = await documents(session, now=service.now(), source=source, stale=stale, limit=limit)
    return [DocumentOut.from_domain(line) for line in rows]


@router.get("/documents/{document_id}")
async def read_document(
    actor: CanReadKnowledge,
    document_id: DocumentId,
    service: Service,
    session: ReadSession,
    first_line: Annotated[int, Query(ge=1, le=10**9)] = 1,
    lines: Annotated[int, Query(ge=1, le=2000)] = 200,
) -> LinesOut:
    """Some lines of it, however long it is."""
    return LinesOut.from_domain(await service.components.citations.open(session, document_id, first_line, lines))


@router.get("/citations")
async def open_citations(
    actor: CanReadKnowledge,
    service: Service,
    session: ReadSession,
    token: Annotated[str | None, Query(min_length=1, max_length=4002)] = None,
) -> list[CitationOut]:
    """The lines that a citation names, as they were cited, and whether they changed since. Without one, what was cited
    last."""
    citations = service.components.citations
    tokens = [token] if token is not None else await citations.latest(session)
    return [CitationOut.from_domain(await citations.resolve(session, each)) for each in tokens]
