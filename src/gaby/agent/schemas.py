"""What the API takes and gives about investigations."""

from typing import Annotated, Any, Self

from pydantic import BaseModel, ConfigDict, Field, SecretStr, model_validator

from gaby.agent.persona import EnvelopeLimits, Persona
from gaby.agent.queue import QueueDepth
from gaby.kernel.text import CleanText
from gaby.tickets.escalation import EscalationTarget, parse_target


class HaltIn(BaseModel):
    model_config = ConfigDict(extra="forbid")

    reason: Annotated[str, CleanText(min_length=1, max_length=200, one_line=True)]


class RatingIn(BaseModel):
    model_config = ConfigDict(extra="forbid")

    rating: Annotated[int, Field(strict=True, ge=1, le=5, description="5: just what was needed. 1: of no use.")]


class QueueOut(BaseModel):
    waiting: int
    running: int
    expected_wait_seconds: float
    degraded: bool

    @classmethod
    def from_domain(cls, depth: QueueDepth, slots: int, degraded_above: int) -> Self:
        return cls(
            waiting=depth.waiting,
            running=depth.running,
            expected_wait_seconds=round(depth.expected_wait(slots), 1),
            degraded=depth.waiting > degraded_above,
        )


class EnvelopeLimitsIn(BaseModel):
    model_config = ConfigDict(extra="forbid")

    passages: Annotated[int | None, Field(strict=True, ge=0, le=40)] = None
    facts: Annotated[int | None, Field(strict=True, ge=0, le=20)] = None
    similar: Annotated[int | None, Field(strict=True, ge=0, le=10)] = None
    results: Annotated[int | None, Field(strict=True, ge=1, le=50)] = None
    result_characters: Annotated[int | None, Field(strict=True, ge=200, le=100_000)] = None


class PersonaIn(BaseModel):
    """What is left out stays as it is; null goes back to the installation's."""

    model_config = ConfigDict(extra="forbid")

    iterations: Annotated[int | None, Field(strict=True, ge=1, le=100)] = None
    seconds: Annotated[int | None, Field(strict=True, ge=10, le=86_400)] = None
    wait_seconds: Annotated[int | None, Field(strict=True, ge=0, le=86_400)] = None
    outage_seconds: Annotated[int | None, Field(strict=True, ge=0, le=86_400)] = None
    triage: Annotated[bool | None, Field(strict=True)] = None
    time_entries: Annotated[bool | None, Field(strict=True)] = None
    bounds: EnvelopeLimitsIn | None = None

    @model_validator(mode="after")
    def _says_something(self) -> Self:
        if not self.model_fields_set:
            raise ValueError("say what to change")
        return self

    def changes(self) -> dict[str, Any]:
        changes = self.model_dump(exclude_unset=True, exclude={"bounds"})
        if "bounds" in self.model_fields_set:
            changes["bounds"] = None if self.bounds is None else self.bounds.model_dump(exclude_unset=True)
        return changes


class PersonaOut(BaseModel):
    iterations: int
    seconds: int
    wait_seconds: int
    outage_seconds: int
    triage: bool
    time_entries: bool
    bounds: EnvelopeLimits
    escalates_to: str | None

    @classmethod
    def from_domain(cls, persona: Persona, target: EscalationTarget | None) -> Self:
        return cls(**persona.model_dump(), escalates_to=None if target is None else target.kind)


class EscalationIn(BaseModel):
    model_config = ConfigDict(extra="forbid")

    target: Annotated[
        SecretStr | None, Field(description="`slack:https://...` or `webhook:https://...`; null for nobody.")
    ]
    secret: SecretStr = SecretStr("")

    def parsed(self) -> EscalationTarget | None:
        if self.target is None:
            return None
        return parse_target(self.target.get_secret_value(), secret=self.secret.get_secret_value())
