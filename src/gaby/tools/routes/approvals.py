"""Approvals: what waits for a person, and their answer."""

from typing import Literal

from fastapi import APIRouter

from gaby.kernel.http.access import CanDecideApprovals, ReadSession, WriteSession
from gaby.kernel.ids import ApprovalId
from gaby.tools.approval_schemas import ApprovalDetailOut, ApprovalOut
from gaby.tools.routes.dependencies import ToolService
from gaby.tools.schemas import ApprovalDecisionIn

router = APIRouter(prefix="/api/approvals", tags=["Approvals"])

State = Literal["waiting", "approved", "refused", "escalated", "expired", "used"]


@router.get("")
async def list_approvals(
    actor: CanDecideApprovals, service: ToolService, session: ReadSession, state: State | None = "waiting"
) -> list[ApprovalOut]:
    """Newest first. Without a state, those that wait."""
    return [ApprovalOut.from_domain(row) for row in await service.approvals.list(session, state)]


@router.get("/{approval_id}")
async def show_approval(
    actor: CanDecideApprovals, approval_id: ApprovalId, service: ToolService, session: ReadSession
) -> ApprovalDetailOut:
    """With the real arguments, since nobody can judge a call without seeing what it would send."""
    row = await service.approvals.get(session, approval_id)
    sealed = await service.approvals.call_of(session, row)
    return ApprovalDetailOut(**ApprovalOut.from_domain(row).model_dump(), real_arguments=sealed.arguments)


@router.post("/{approval_id}/decision")
async def decide_approval(
    actor: CanDecideApprovals,
    approval_id: ApprovalId,
    body: ApprovalDecisionIn,
    service: ToolService,
    session: WriteSession,
) -> ApprovalOut:
    """The first answer counts. Whoever comes second gets 409 with the name of who decided."""
    return ApprovalOut.from_domain(await service.decide_approval(session, actor, approval_id, body.answer()))
