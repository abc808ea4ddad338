"""A call, the run it belongs to, and what came of it."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from math import ceil
from typing import Any, Literal, TypeAlias
from uuid import UUID

from gaby.audit import Fence
from gaby.kernel.actors import Actor
from gaby.kernel.ids import ApprovalId, RunId, WorkspaceId
from gaby.mcp import SpillPointer
from gaby.safety import Dictionary, Placeholders, ProvenanceLedger, Redactor, Verdict
from gaby_connectors.sdk.manifest import ErrorKind

Author: TypeAlias = Literal["model", "rules"]
"""Who put a text together. A model may have woven in anything that it has seen; rules write what they cite."""


def result_source(tool: str) -> str:
    """The name of a tool's results in the ledger, as people are told of them."""
    return f"the result of {tool}"


@dataclass(frozen=True)
class ToolCall:
    tool: str
    """With its connector: `directory.unlock_user`."""
    arguments: Mapping[str, Any]
    id: UUID
    """Also the idempotency key: the same call again has the same effect, once."""
    why: str = ""
    rehearse: bool = False
    approval_id: ApprovalId | None = None
    consent: str = ""
    """What a person has to confirm first, in words, even where the policy would allow it."""
    composed_by: Author = "model"
    step_id: UUID | None = None
    """Calls of one step are one question to a person."""
    resumed: bool = False
    """It may have begun before a crash, and whoever says so has looked that nothing came of it, or that doing it again
    does nothing more. Its approval, used by itself, still counts."""


@dataclass
class Run:
    """Whoever uses tools does so inside a run: an investigation, a conversation, an operator at the command line."""

    id: RunId
    actor: Actor
    redactor: Redactor
    placeholders: Placeholders
    ledger: ProvenanceLedger = field(default_factory=ProvenanceLedger)
    principals: frozenset[str] | None = None
    """Canonical addresses of the verified requester; empty if nobody was verified. None: an operator acts."""
    requester: str = ""
    """Whom a reply reaches, verified or not."""
    ticket: str = ""
    """As its desk calls it, for whoever is asked."""
    entered: set[UUID] = field(default_factory=set[UUID])
    """Calls of which the ledger knows who may be told what they brought. Of any other it is for the staff."""
    changes_made: set[str] = field(default_factory=set[str])
    """Which changes were made already, by tool and by all arguments but texts."""
    people: Dictionary = field(default_factory=Dictionary)
    """Who and what is personal in this run, by name."""
    most_wait: float = 0.0
    """Seconds for which whoever carries the run on may wait for a limit, so a place in the queue is kept for its call.
    Without any nobody comes back by themselves."""
    fence: Fence | None = None
    """What must hold whenever something is done in this run, such as the lease of whoever carries it on."""

    def learn_personal(self, values: Iterable[str]) -> None:
        """From now on these are taken out wherever they stand: in results, prompts, logs and timelines."""
        if self.people.learn_values(values):
            self.redactor = Redactor(self.redactor.profile, self.people)

    @property
    def workspace_id(self) -> WorkspaceId:
        return self.actor.workspace_id


@dataclass(frozen=True)
class Done:
    """The tool answered. `shown` is redacted and may go to models, logs and memory; `structured` may not."""

    verdict: Verdict
    shown: Any
    structured: Any
    text: str
    cached: bool = False
    spilled: SpillPointer | None = None


@dataclass(frozen=True)
class Simulated:
    """What would happen. Nothing did."""

    verdict: Verdict
    shown: Any
    structured: Any


@dataclass(frozen=True)
class Asked:
    """A person must agree first."""

    verdict: Verdict
    approval_id: ApprovalId


@dataclass(frozen=True)
class Denied:
    verdict: Verdict


@dataclass(frozen=True)
class Failed:
    """The tool did not do it, and says so."""

    kind: ErrorKind
    message: str
    retry_after: float | None = None


@dataclass(frozen=True)
class RetryLater:
    """A limit that passes. Nothing was done, and the same call may be made again, decided anew."""

    rule: str
    reason: str
    """Why, in words for a person."""
    seconds: float
    """How long to wait."""
    connector: str

    @property
    def message(self) -> str:
        return f"{self.reason} Nothing was done; try again in {ceil(self.seconds)} seconds."


@dataclass(frozen=True)
class Unknown:
    """Nobody can say whether it happened. It is not repeated; a person has to look."""

    reason: str


ToolOutcome: TypeAlias = Done | Simulated | Asked | Denied | Failed | RetryLater | Unknown
