"""Where an investigation stands, what to do next, and how it ends, as plain data."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal, cast

from gaby.kernel.outcomes import CallOutcome
from gaby.mind.summaries import CitedSentence
from gaby.mind.tool_choice import ToolCard
from gaby.mind.urgency import Urgency
from gaby.mind.verdicts import RuleVerdict, VerdictCase
from gaby.safety import Access

_DEEPEST = 12


@dataclass(frozen=True)
class PastCall:
    """A call that was made, in the order of its number."""

    number: int
    tool: str
    """With its connector: `company.list_logins`."""
    arguments: Mapping[str, Any]
    outcome: CallOutcome
    access: Access = "read"
    result: Any = None
    """JSON, or text; only when the call was done or simulated."""
    reason: str = ""
    """Why it was denied or failed."""

    @property
    def citation(self) -> str:
        return f"tool:{self.tool}#{self.number}"

    @property
    def key(self) -> str:
        return call_key(self.tool, self.arguments)


@dataclass(frozen=True)
class FoundPassage:
    """A passage of the knowledge, as it stands in its document."""

    citation: str
    title: str
    text: str
    trusted: bool = True
    """Somebody who works here wrote it. Others may be read, and are never followed as a runbook."""
    for_requester: bool = True
    """Whoever gets the reply may read it. What others say is for colleagues."""
    runbook: bool = False
    """It is a whole page that declares itself a runbook or reads as one; see `runbooks.is_runbook`."""


@dataclass(frozen=True)
class Situation:
    title: str
    text: str
    """The ticket with all that was written to it. A stranger may have written it."""
    requester: str | None = None
    """The address that the desk vouches for."""
    requester_verified: bool = False
    instructed: bool = False
    """Somebody who works here wrote it, for Gaby to do."""
    searched: bool = False
    """The knowledge was asked already."""
    passages: Sequence[FoundPassage] = ()
    """The best first."""
    calls: Sequence[PastCall] = ()
    tools: Sequence[ToolCard] = ()
    """Those that may be called now."""
    nudges: Sequence[str] = ()
    """What the loop has to say, such as that a call was made three times."""
    ticket_id: str | None = None
    """What the desk calls the ticket, so that it can be read and annotated there."""
    queries: Sequence[str] = ()
    """What the knowledge was asked for. Left out: nothing is asked for a second time."""
    now: datetime | None = None
    """Left out: nobody can say how old something is."""
    budget_gone: bool = False
    follow: str = ""
    """The citation of the runbook to follow, whatever the ticket says. Empty: the one that fits."""
    drafts: bool = False
    """A person looks at every reply before it is sent."""
    asked_before: bool = False
    """The requester was asked something already; nobody is asked who they are twice."""

    @property
    def ticket(self) -> str:
        return f"{self.title}\n\n{self.text}" if self.title else self.text


@dataclass(frozen=True)
class ProposedCall:
    """What a planner wants to be called: the rules of this package, or a model."""

    tool: str
    arguments: Mapping[str, Any]
    why: str = ""
    consent: str = ""
    """What a person has to confirm first, by the runbook that asks for the call, whatever else allows it."""

    @property
    def key(self) -> str:
        return call_key(self.tool, self.arguments)


@dataclass(frozen=True)
class NextStep:
    kind: Literal["retrieve", "call", "conclude"]
    queries: tuple[str, ...] = ()
    calls: tuple[ProposedCall, ...] = ()
    """Reads are independent of each other. Writes come one after the other, in this order."""
    why: str = ""


@dataclass(frozen=True)
class RuleConclusion:
    case: VerdictCase
    judgement: RuleVerdict
    sentences: tuple[CitedSentence, ...] = ()
    """The reply to the requester. Empty when there is nothing that could be cited."""
    notes: tuple[CitedSentence, ...] = field(default=())
    """What colleagues should know: the cause, what shows it, and what is left to do."""
    cause: str = ""
    """In the words of the runbook. Empty when none was found."""
    followed: tuple[str, ...] = ()
    """Citations of the runbooks that led here."""
    urgency: Urgency = "medium"
    """By triage, for whoever takes over."""
    is_suggestion: bool = False
    """The reply may answer what was asked; whoever looks at the draft decides."""


def call_key(tool: str, arguments: Mapping[str, Any]) -> str:
    """The same for two calls that ask for the same."""
    return f"{tool} {_spelled(arguments)}"


def _spelled(value: object, depth: int = 0) -> str:
    if depth > _DEEPEST:
        return "..."
    if isinstance(value, Mapping):
        pairs = cast("Mapping[object, object]", value).items()
        fields = sorted((str(key), _spelled(inner, depth + 1)) for key, inner in pairs if inner is not None)
        return "{" + ",".join(f"{key!r}:{inner}" for key, inner in fields) + "}"
    if isinstance(value, list | tuple):
        return "[" + ",".join(_spelled(inner, depth + 1) for inner in cast("Sequence[object]", value)) + "]"
    return repr(value)
