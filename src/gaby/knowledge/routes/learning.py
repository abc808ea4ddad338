"""What Gaby would like to learn, and what it could not answer, over HTTP."""

from typing import Annotated, Literal

from fastapi import APIRouter, Query, Response, status

from gaby.kernel.http.access import CanCurateKnowledge, CanReadKnowledge, ReadSession, WriteSession
from gaby.kernel.ids import CandidateId, GapId
from gaby.knowledge.routes.dependencies import Service
from gaby.knowledge.schemas import CandidateDecisionIn, CandidateOut, GapOut

router = APIRouter(prefix="/api/knowledge", tags=["Knowledge"])


@router.get("/candidates")
async def list_candidates(
    actor: CanReadKnowledge,
    service: Service,
    session: ReadSession,
    state: Literal["staged", "accepted", "rejected", "archived"] = "staged",
    limit: Annotated[int, Query(ge=1, le=500)] = 100,
) -> list[CandidateOut]:
    return [CandidateOut.from_domain(row) for row in await service.components.candidates.list(session, state, limit)]


@router.post("/candidates/{candidate_id}/decision")
async def decide_candidate(
    actor: CanCurateKnowledge,
    candidate_id: CandidateId,
    body: CandidateDecisionIn,
    service: Service,
    session: WriteSession,
) -> CandidateOut:
    """Accepted, as it stands or as edited, it becomes a document; rejected, it is not asked again."""
    candidates = service.components.candidates
    row = await candidates.get(session, candidate_id)
    if body.decision == "accept":
        return CandidateOut.from_domain(await candidates.accept(session, actor, row, title=body.title, text=body.text))
    if body.decision == "unlearn":
        return CandidateOut.from_domain(await candidates.unlearn(session, actor, row, body.reason or ""))
    return CandidateOut.from_domain(await candidates.reject(session, actor, row, body.reason or ""))


@router.get("/gaps")
async def list_gaps(
    actor: CanReadKnowledge,
    service: Service,
    session: ReadSession,
    limit: Annotated[int, Query(ge=1, le=500)] = 100,
) -> list[GapOut]:
    """Questions that found no answer, alike ones together, the most asked first."""
    return [GapOut.from_domain(row) for row in await service.components.gaps.list(session, limit)]


@router.delete("/gaps/{gap_id}", status_code=status.HTTP_204_NO_CONTENT)
async def close_gap(actor: CanCurateKnowledge, gap_id: GapId, service: Service, session: WriteSession) -> Response:
    """Somebody wrote the page, or there shall be none."""
    await service.components.gaps.close(session, actor, gap_id)
    return Response(status_code=status.HTTP_204_NO_CONTENT)
