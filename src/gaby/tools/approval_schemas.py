"""What the API and the commands give about approvals."""

from datetime import datetime
from typing import Any, Self
from uuid import UUID

from pydantic import BaseModel, Field

from gaby.kernel.ids import ApprovalId, RunId
from gaby.tools.models import Approval


class QuoteOut(BaseModel):
    source: str
    excerpt: str


class ConcernOut(BaseModel):
    rule: str
    reason: str
    argument: str | None = None
    quotes: list[QuoteOut] = []


class ApprovalOut(BaseModel):
    id: ApprovalId
    reference: str | None = Field(default=None, description="What people call it, such as A-3.")
    run_id: RunId
    tool: str
    state: str
    dangerous: bool
    arguments: dict[str, Any] = Field(description="Personal data is redacted here.")
    concerns: list[ConcernOut]
    preview: Any = Field(default=None, description="What a rehearsal showed.")
    why: str
    effect: str = Field(description="What will happen, in one sentence.")
    ticket: str
    requester: str
    requester_verified: bool
    owners: list[dict[str, Any]] = Field(description="For each value that chooses something, who stands behind it.")
    step_id: UUID | None = Field(description="Calls of one step are one question.")
    requested_by: str
    requested_at: datetime
    expires_at: datetime
    decided_by: str | None
    decided_at: datetime | None
    answer: str | None
    modified: bool

    @classmethod
    def from_domain(cls, row: Approval) -> Self:
        return cls(
            id=row.typed_id,
            reference=row.reference,
            run_id=RunId(row.run_id),
            tool=f"{row.connector}.{row.tool}",
            state=row.state,
            dangerous=row.dangerous,
            arguments=row.shown,
            concerns=[ConcernOut.model_validate(each) for each in row.concerns],
            preview=row.preview["shown"] if row.preview is not None else None,
            why=row.reason,
            effect=row.effect,
            ticket=row.ticket,
            requester=row.requester,
            requester_verified=row.requester_verified,
            owners=row.owners,
            step_id=row.step_id,
            requested_by=row.requested_by,
            requested_at=row.requested_at,
            expires_at=row.expires_at,
            decided_by=row.decided_by,
            decided_at=row.decided_at,
            answer=row.answer,
            modified=row.modified,
        )


class ApprovalDetailOut(ApprovalOut):
    real_arguments: dict[str, Any] = Field(default={}, description="Exactly what would be sent.")
