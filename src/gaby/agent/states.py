"""Where an investigation can stand. Each state has a method for every way out of it, so no other way can be written."""

from datetime import datetime
from typing import Annotated, Literal, TypeAlias
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from gaby.kernel.outcomes import Verdict
from gaby.tools.runs import ToolCall


class _RunState(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    def halted(self, reason: str) -> "Halted":
        return Halted(reason=reason)


class _ActiveState(_RunState):
    """Between the start and the verdict. The budget can run out in any of these."""

    def verdict_ready(self, because: str = "") -> "Judging":
        return Judging(because=because)

    def out_of_budget(self, what: str) -> "Judging":
        return Judging(budget=what)

    def broken(self, what: str) -> "Judging":
        """Nothing more can be found out; somebody is told."""
        return Judging(broken=what)


class Created(_ActiveState):
    name: Literal["created"] = "created"

    def started(self) -> "Planning":
        return Planning()

    def follow(self, lead: UUID) -> "Judging":
        """Another investigation has told what there is to tell of the same incident."""
        return Judging(follows=lead)

    def put_off(self) -> "Created":
        """Another investigation of the same incident is to tell first."""
        return self


class Planning(_ActiveState):
    name: Literal["planning"] = "planning"

    def retrieve(self, queries: tuple[str, ...], calls: tuple[ToolCall, ...] = ()) -> "Retrieving":
        """Calls that were planned beside the search are made behind it."""
        return Retrieving(queries=queries, calls=calls)

    def offer_tools(self) -> "Planning":
        """More tools are shown from now on."""
        return self

    def propose(self, calls: tuple[ToolCall, ...]) -> "SafetyCheck":
        return SafetyCheck(calls=calls)


class Retrieving(_ActiveState):
    name: Literal["retrieving"] = "retrieving"
    queries: tuple[str, ...]
    calls: tuple[ToolCall, ...] = ()

    def retrieved(self) -> Planning:
        return Planning()

    def retrieved_with_calls(self) -> "SafetyCheck":
        return SafetyCheck(calls=self.calls)


class SafetyCheck(_ActiveState):
    name: Literal["safety_check"] = "safety_check"
    calls: tuple[ToolCall, ...]
    waited_for: str = ""
    """The limit that these calls had to wait for, if any."""

    def allowed(self, calls: tuple[ToolCall, ...]) -> "Acting":
        return Acting(calls=calls, waited_for=self.waited_for)

    def ask(self, calls: tuple[ToolCall, ...], until: datetime) -> "WaitingApproval":
        return WaitingApproval(calls=calls, until=until)

    def denied(self) -> Planning:
        return Planning()


class WaitingApproval(_ActiveState):
    """Nobody sleeps here: it is a row that a person's answer, or its last moment, wakes up."""

    name: Literal["waiting_approval"] = "waiting_approval"
    calls: tuple[ToolCall, ...]
    until: datetime

    def approved(self, calls: tuple[ToolCall, ...]) -> "Acting":
        return Acting(calls=calls)

    def still_waiting(self) -> "WaitingApproval":
        return self

    def turned_down(self) -> Planning:
        return Planning()


class Acting(_ActiveState):
    """Calls are made; those that meet a limit that passes rest until it has passed."""

    name: Literal["acting"] = "acting"
    calls: tuple[ToolCall, ...]
    waited_for: str = ""
    """The limit that these calls wait for or had to wait for, if any."""
    rests_until: datetime | None = None
    """None of the calls was tried since this was written."""

    def acted(self) -> "Observing":
        return Observing()

    def put_off(self, calls: tuple[ToolCall, ...], waits_for: str, until: datetime) -> "Acting":
        """Only these are left to be made."""
        return Acting(calls=calls, waited_for=waits_for, rests_until=until)

    def rested(self) -> SafetyCheck:
        """Whatever was decided before the rest is decided anew."""
        return SafetyCheck(calls=self.calls, waited_for=self.waited_for)


class Observing(_ActiveState):
    name: Literal["observing"] = "observing"

    def observed(self) -> Planning:
        return Planning()


class Judging(_RunState):
    name: Literal["verdict"] = "verdict"
    because: str = ""
    """Why it ends here, when it is not the planner who said so."""
    budget: str | None = None
    """What ran out."""
    broken: str | None = None
    """What went wrong inside Gaby."""
    follows: UUID | None = None
    """The investigation of the same incident that speaks for this one."""

    def judged(self, verdict: Verdict) -> "WritingBack":
        return WritingBack(verdict=verdict)

    def failed(self, why: str) -> "Judging":
        """What went wrong was the verdict itself, so there is none but this."""
        return Judging(broken=why)


class WritingBack(_RunState):
    name: Literal["writing_back"] = "writing_back"
    verdict: Verdict

    def posted(self) -> "DoneState":
        return DoneState(verdict=self.verdict)

    def still_due(self) -> "WritingBack":
        return self

    def undelivered(self) -> "WritingBack":
        """The requester could not be told, so a colleague has to."""
        return WritingBack(verdict="needs_tech")


class DoneState(_RunState):
    name: Literal["done"] = "done"
    verdict: Verdict


class Halted(_RunState):
    name: Literal["halted"] = "halted"
    reason: str


State: TypeAlias = Annotated[
    Created
    | Planning
    | Retrieving
    | SafetyCheck
    | WaitingApproval
    | Acting
    | Observing
    | Judging
    | WritingBack
    | DoneState
    | Halted,
    Field(discriminator="name"),
]
STATE: TypeAdapter[State] = TypeAdapter(State)
