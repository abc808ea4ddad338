"""What the API and the commands give about runs."""

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Literal, Self
from uuid import UUID

from pydantic import BaseModel, Field

from gaby.agent.models import Investigation, InvestigationStep

if TYPE_CHECKING:
    from gaby.agent.service import RatingResult


class StepOut(BaseModel):
    n: int
    system: str
    action: str
    detail: str
    kind: str
    at: datetime

    @classmethod
    def from_domain(cls, row: InvestigationStep) -> Self:
        return cls.model_validate(row, from_attributes=True)


class RunOut(BaseModel):
    id: UUID
    reference: Annotated[str | None, Field(description="What people call it, such as R-7.")]
    ticket_id: UUID
    state: str
    verdict: str | None
    reason: str | None
    created_at: datetime
    started_at: datetime | None
    finished_at: datetime | None
    wake_at: datetime | None
    edges: int
    rating: int | None

    @classmethod
    def from_domain(cls, row: Investigation) -> Self:
        return cls.model_validate(row, from_attributes=True)


class RunDetailOut(RunOut):
    summary: str | None
    steps: list[StepOut] = []

    @classmethod
    def with_steps(cls, row: Investigation, steps: Sequence[InvestigationStep]) -> Self:
        return cls.from_domain(row).model_copy(update={"steps": [StepOut.from_domain(step) for step in steps]})


class RatingOut(BaseModel):
    run: RunOut
    staged: Annotated[bool, Field(description="It now waits for a person as something to learn.")]
    why: str

    @classmethod
    def from_domain(cls, rated: "RatingResult") -> Self:
        return cls(run=RunOut.from_domain(rated.run), staged=rated.staged, why=rated.why)


RunState = Literal[
    "open",
    "created",
    "planning",
    "retrieving",
    "safety_check",
    "waiting_approval",
    "acting",
    "observing",
    "verdict",
    "writing_back",
    "done",
    "halted",
]
