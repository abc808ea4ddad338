"""What the API takes and gives about connectors, tools, approvals and kill switches."""

from datetime import datetime
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from gaby.kernel.ids import ConnectorId
from gaby.kernel.text import CleanStr, CleanText
from gaby.mcp import DefinitionChange, ServerDefinitions, ServerStatus
from gaby.safety import Scopes, Verdict
from gaby.safety.verdicts import OutcomeName
from gaby.tools.approval_schemas import ConcernOut, QuoteOut
from gaby.tools.approvals import ApprovalDecision
from gaby.tools.catalogue import ToolEntry
from gaby.tools.connectors import PolicyChange, changes_of, is_unsafe
from gaby.tools.models import ConnectorRecord, KillSwitch
from gaby_connectors.sdk.manifest import Access, Autonomy

Reason = Annotated[str, CleanText(max_length=500, min_length=1, one_line=True)]
Limit = Annotated[int, Field(ge=0, le=100_000)]
Text = Annotated[str, CleanText(max_length=4000)]
Arguments = Annotated[dict[str, Any], Field(max_length=200)]


class _ToolsIn(BaseModel):
    model_config = ConfigDict(extra="forbid")


class ConnectorIn(_ToolsIn):
    name: Annotated[str, Field(pattern=r"^[a-z][a-z0-9-]{0,38}$", examples=["directory"])]
    kind: Annotated[CleanStr, Field(examples=["ldap"], description="One of Gaby's own connectors.")]
    settings: Annotated[dict[str, Text], Field(max_length=100, description="Its settings; secrets are encrypted.")] = {}


class PolicyIn(_ToolsIn):
    autonomy: Autonomy | None = None
    scopes: Scopes | None = None
    reads_per_minute: Limit | None = None
    writes_per_minute: Limit | None = None

    @model_validator(mode="after")
    def _something(self) -> Self:
        if not self.model_fields_set:
            raise ValueError("say what to change")
        return self

    def change(self) -> PolicyChange:
        return PolicyChange(self.autonomy, self.scopes, self.reads_per_minute, self.writes_per_minute)


class CredentialsIn(_ToolsIn):
    settings: Annotated[dict[str, Text], Field(max_length=100)]


class ManifestIn(_ToolsIn):
    yaml: Annotated[str, CleanText(max_length=256_000)] | None = Field(
        description="The manifest, or null to remove it."
    )


class AcceptIn(_ToolsIn):
    fingerprint: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$", description="Of the tools that you looked at.")]


class StopIn(_ToolsIn):
    reason: Reason


class ExplainIn(_ToolsIn):
    tool: Annotated[CleanStr, Field(examples=["directory.unlock_user"])]
    arguments: Arguments = {}
    rehearse: bool = False


class ApprovalDecisionIn(_ToolsIn):
    decision: Literal["approve", "refuse", "escalate"]
    reason: Annotated[str, CleanText(max_length=2000)] = ""
    arguments: Arguments | None = Field(default=None, description="Approve these arguments instead.")
    remember: bool = Field(default=False, description="Do not ask again for this kind of action in this sitting.")
    whole_step: bool = Field(default=False, description="The same answer for every call of the step that waits.")

    def answer(self) -> ApprovalDecision:
        return ApprovalDecision(self.decision, self.reason, self.arguments, self.remember, self.whole_step)


class ConnectorOut(BaseModel):
    id: ConnectorId
    name: str
    kind: str
    transport: str
    autonomy: Autonomy
    scopes: Scopes
    reads_per_minute: int
    writes_per_minute: int
    state: Literal["new", "accepted", "quarantined"]
    unsafe: bool
    tools: int
    accepted_at: datetime | None
    accepted_by: str | None
    auth_expired_at: datetime | None
    created_at: datetime

    @classmethod
    def from_domain(cls, row: ConnectorRecord) -> Self:
        accepted = ServerDefinitions.model_validate(row.accepted) if row.accepted is not None else None
        state = "new" if accepted is None else "accepted" if row.seen is None else "quarantined"
        return cls(
            id=ConnectorId(row.id),
            name=row.name,
            kind=row.kind,
            transport=row.launch["transport"],
            autonomy=Autonomy(row.autonomy),
            scopes=Scopes.model_validate(row.scopes),
            reads_per_minute=row.reads_per_minute,
            writes_per_minute=row.writes_per_minute,
            state=state,
            unsafe=is_unsafe(row),
            tools=len(accepted.tools) if accepted is not None else 0,
            accepted_at=row.accepted_at,
            accepted_by=row.accepted_by,
            auth_expired_at=row.auth_expired_at,
            created_at=row.created_at,
        )


class ChangeOut(BaseModel):
    kind: str
    tool: str
    path: str
    detail: str

    @classmethod
    def from_domain(cls, change: DefinitionChange) -> Self:
        return cls(kind=change.kind, tool=change.tool, path=change.path, detail=change.detail)


class DefinitionsOut(BaseModel):
    """What a connector shows of itself, and how that differs from what was accepted."""

    fingerprint: str | None
    changes: list[ChangeOut]

    @classmethod
    def from_domain(cls, row: ConnectorRecord) -> Self:
        shown = row.seen if row.seen is not None else row.accepted
        fingerprint = ServerDefinitions.model_validate(shown).fingerprint if shown is not None else None
        return cls(fingerprint=fingerprint, changes=[ChangeOut.from_domain(change) for change in changes_of(row)])


class LogOut(BaseModel):
    text: str


class HealthOut(BaseModel):
    connector: str
    state: str
    since: datetime
    reason: str
    in_flight: int
    recent_failures: int

    @classmethod
    def from_domain(cls, status: ServerStatus) -> Self:
        return cls(
            connector=status.key.connector,
            state=status.state,
            since=status.since,
            reason=status.reason,
            in_flight=status.in_flight,
            recent_failures=status.recent_failures,
        )


class ToolOut(BaseModel):
    name: str
    description: str
    lane: Access
    dangerous: bool
    unsafe: bool
    can_rehearse: bool
    schema_: dict[str, Any] = Field(alias="schema", serialization_alias="schema")

    @classmethod
    def from_domain(cls, entry: ToolEntry) -> Self:
        facts = entry.facts
        return cls(
            name=facts.full_name,
            description=entry.definition.description,
            lane=facts.access,
            dangerous=facts.manifest.dangerous,
            unsafe=facts.unsafe,
            can_rehearse=facts.can_rehearse,
            schema=entry.schema,
        )


class VerdictOut(BaseModel):
    outcome: OutcomeName
    rule: str
    reason: str
    concerns: list[ConcernOut]
    retry_after: Annotated[float, Field(description="With `wait`: in how many seconds it is decided anew.")] = 0.0

    @classmethod
    def from_domain(cls, verdict: Verdict) -> Self:
        concerns = [
            ConcernOut(
                rule=each.rule,
                reason=each.reason,
                argument=each.argument,
                quotes=[QuoteOut(source=quote.source, excerpt=quote.excerpt) for quote in each.quotes],
            )
            for each in verdict.concerns
        ]
        return cls(
            outcome=verdict.outcome,
            rule=verdict.rule,
            reason=verdict.reason,
            concerns=concerns,
            retry_after=verdict.retry_after,
        )


class KillSwitchOut(BaseModel):
    connector_id: ConnectorId | None
    reason: str
    pulled_by: str
    pulled_at: datetime

    @classmethod
    def from_domain(cls, row: KillSwitch) -> Self:
        return cls(
            connector_id=ConnectorId(row.connector_id) if row.connector_id is not None else None,
            reason=row.reason,
            pulled_by=row.pulled_by,
            pulled_at=row.pulled_at,
        )
