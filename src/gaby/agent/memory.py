"""Working memory of one investigation: what it knows, and what each transition adds to it.

It is never stored as a whole. Every edge stores what it added, and the memory after any edge is the fold of all before
it; so a crash loses nothing, a finished run can be stepped through again, and little is written twice.
"""

import json
import zlib
from typing import Any, Literal
from uuid import UUID

import orjson
from pydantic import AliasChoices, BaseModel, ConfigDict, Field

from gaby.agent.states import STATE, State
from gaby.kernel.outcomes import CallOutcome, Verdict
from gaby.skills.conclusion import Conclusion
from gaby_connectors.sdk.manifest import Access

_PACKED_FROM = 200
"""Smaller ones only grow when they are compressed."""


_ADDED_UP = {"iterations", "plans", "seconds", "waited", "outage", "tokens", "nano_usd"}


class _MemoryRecord(BaseModel):
    model_config = ConfigDict(frozen=True)


class DialogueRecord(_MemoryRecord):
    """A message on the ticket that its people can read."""

    author: Literal["requester", "colleague", "gaby", "somebody else"]
    text: str


class TicketView(_MemoryRecord):
    """The ticket as it was written. Raw, so it is only ever stored sealed."""

    title: str
    body: str
    requester: str | None = None
    verified: bool = False
    customer: str = ""
    priority: str = "medium"
    messages: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    """What colleagues wrote for each other."""
    dialogue: tuple[DialogueRecord, ...] = ()
    """What was written after the first text, also by Gaby and by colleagues, oldest first."""
    others: bool = False
    """Somebody else than the requester has written on it."""
    heard: int = 0
    """How many messages of the requester there were. One more that comes too late begins another investigation."""


class TurnRecord(_MemoryRecord):
    """One answer of the planner, as it was carried out."""

    text: str = ""
    """Its reasons."""
    queries: tuple[str, ...] = ()
    internal: bool = False
    need: str = ""
    offered: tuple[str, ...] = ()
    calls: tuple[tuple[UUID, str, dict[str, Any]], ...] = ()
    """The id, the tool and the arguments of each call that it wanted."""


class CallRecord(_MemoryRecord):
    model_config = ConfigDict(serialize_by_alias=True)

    id: UUID
    number: int
    tool: str
    arguments: dict[str, Any]
    access: Access = Field(validation_alias=AliasChoices("access", "lane"), serialization_alias="lane")
    """Stored as `lane`, the key that earlier versions write and read."""
    outcome: CallOutcome
    result: Any = None
    reason: str = ""
    rule: str = ""
    """By which it was refused, or not made."""
    why: str = ""
    agreed: bool = False
    """A person was asked before, and agreed."""

    @property
    def citation(self) -> str:
        return f"tool:{self.tool}#{self.number}"


class PassageRecord(_MemoryRecord):
    citation: str
    document_id: UUID
    title: str
    text: str
    confidence: float
    trusted: bool = True
    """The company wrote it. What customers wrote is read, and never followed."""
    audience: str = "staff"
    """Who may be shown it."""
    turn: int = 0
    """The number of the planner's turn that asked for it; 0 was before the first."""
    runbook: bool = False
    """A whole page that is a runbook."""


class SimilarTicket(_MemoryRecord):
    title: str
    status: str
    summary: str = ""


class MemoryDelta(_MemoryRecord):
    """What one edge adds. Lists grow; single values replace those before."""

    ticket: TicketView | None = None
    intent: str | None = None
    urgency: str | None = None
    worth_investigating: bool | None = None
    before: str | None = None
    """How the ticket had ended before, when all that was written since is that it is solved."""
    queries: tuple[str, ...] = ()
    passages: tuple[PassageRecord, ...] = ()
    internal: bool = False
    """Whoever plans is shown pages that the requester may not read."""
    similar: tuple[SimilarTicket, ...] = ()
    calls: tuple[CallRecord, ...] = ()
    turns: tuple[TurnRecord, ...] = ()
    offered: tuple[str, ...] = ()
    """Tools that the planner is shown; empty while it is shown all."""
    earlier: tuple[str, ...] = ()
    """What Gaby changed on this ticket in investigations before this one, in words."""
    earlier_is_open: bool = False
    """The requester may be told of them."""
    is_open: bool = False
    """The requester may be told of everything that was read."""
    conclusion: Conclusion | None = None
    """How a model ended the investigation."""
    must_conclude: str = ""
    """Why the planner may do nothing more but conclude."""
    nudges: tuple[str, ...] = ()
    withdrawn: tuple[str, ...] = ()
    iterations: int = 0
    """How many more."""
    plans: int = 0
    seconds: float = 0.0
    """How much longer it was worked on."""
    waited: float = 0.0
    """How many more seconds it rests because of limits that pass."""
    outage: float = 0.0
    """Of these, because a connector or its system could not be used."""
    tokens: int = 0
    nano_usd: int = 0
    envelope: dict[str, int] | None = None
    """What each part of the planner's envelope costs, in tokens."""
    placeholders: str | None = None
    written_by: str | None = None
    verdict: Verdict | None = None
    reasons: tuple[str, ...] = ()
    cited: str | None = None
    """What the requester is told, with its tokens."""
    note: str | None = None
    """What colleagues are told, with its tokens."""
    released: tuple[str, ...] = ()
    """Sentences for the requester that a runbook wants them to be told."""
    reply: str | None = None
    by_model: bool = False
    """A model has planned or judged, and so chosen what the ending is made of."""


class WorkingMemory(BaseModel):
    ticket: TicketView = TicketView(title="", body="")
    intent: str | None = None
    urgency: str | None = None
    worth_investigating: bool = True
    before: str | None = None
    queries: list[str] = Field(default_factory=list[str])
    passages: list[PassageRecord] = Field(default_factory=list[PassageRecord])
    internal: bool = False
    similar: list[SimilarTicket] = Field(default_factory=list[SimilarTicket])
    calls: list[CallRecord] = Field(default_factory=list[CallRecord])
    turns: list[TurnRecord] = Field(default_factory=list[TurnRecord])
    offered: list[str] = Field(default_factory=list[str])
    earlier: list[str] = Field(default_factory=list[str])
    earlier_is_open: bool = False
    is_open: bool = False
    conclusion: Conclusion | None = None
    must_conclude: str = ""
    nudges: list[str] = Field(default_factory=list[str])
    withdrawn: list[str] = Field(default_factory=list[str])
    iterations: int = 0
    plans: int = 0
    seconds: float = 0.0
    waited: float = 0.0
    outage: float = 0.0
    tokens: int = 0
    nano_usd: int = 0
    envelope: dict[str, int] | None = None
    placeholders: str | None = None
    written_by: str | None = None
    verdict: Verdict | None = None
    reasons: list[str] = Field(default_factory=list[str])
    cited: str | None = None
    note: str | None = None
    released: list[str] = Field(default_factory=list[str])
    reply: str | None = None
    by_model: bool = False

    def standing(self, verdict: Verdict) -> Verdict:
        """What the ticket's status says: what was resolved stays resolved when somebody says thanks."""
        return "auto_resolved" if verdict == "skipped" and self.before == "auto_resolved" else verdict

    def add(self, delta: MemoryDelta) -> None:
        for name in delta.model_fields_set:
            value = getattr(delta, name)
            if name in _ADDED_UP:
                setattr(self, name, getattr(self, name) + value)
            elif name == "passages":
                # The latest search knows most about what is looked for, so what it found comes first.
                self.passages[:0] = value
            elif isinstance(value, tuple):
                getattr(self, name).extend(value)
            else:
                setattr(self, name, value)


def pack(state: State, delta: MemoryDelta) -> bytes:
    """One edge as it is sealed."""
    plain = _dumped({"state": state.model_dump(mode="json"), "delta": delta.model_dump(exclude_unset=True)})
    return b"z" + zlib.compress(plain, 6) if len(plain) >= _PACKED_FROM else b"j" + plain


def unpack(data: bytes) -> tuple[State, MemoryDelta]:
    plain = zlib.decompress(data[1:]) if data[:1] == b"z" else data[1:]
    unpacked = _loaded(plain)
    return STATE.validate_python(unpacked["state"]), MemoryDelta.model_validate(unpacked["delta"])


def _dumped(value: dict[str, Any]) -> bytes:
    """Tools may answer with numbers and texts that the fast way refuses."""
    try:
        return orjson.dumps(value)
    except TypeError:
        return json.dumps(value, default=str).encode()


def _loaded(plain: bytes) -> dict[str, Any]:
    try:
        return orjson.loads(plain)
    except orjson.JSONDecodeError:
        return json.loads(plain)
