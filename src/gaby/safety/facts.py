"""What a decision rests on: the facts of one call, and the policy that its operators set. Plain data, all of it."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

from gaby.safety.arguments import ArgumentRole, Schema
from gaby.safety.egress import CarrierFact
from gaby.safety.provenance import ArgumentTrace
from gaby.safety.readers import Disclosure
from gaby.safety.scopes import Scopes
from gaby_connectors.sdk.manifest import Access, Autonomy, ToolManifest


@dataclass(frozen=True)
class Policy:
    """What operators allow one connector in one workspace."""

    autonomy: Autonomy
    scopes: Scopes
    reads_per_minute: int = 300
    writes_per_minute: int = 30

    def per_minute(self, access: Access) -> int:
        return self.reads_per_minute if access == "read" else self.writes_per_minute


@dataclass(frozen=True)
class ToolFacts:
    connector: str
    name: str
    manifest: ToolManifest
    unsafe: bool
    """No accepted manifest speaks of it, so what is known of it is only a guess."""
    schema: Schema
    roles: Mapping[str, ArgumentRole]
    access: Access
    fingerprint: str
    """Of the tool as it was accepted, and of its manifest."""

    @property
    def full_name(self) -> str:
        return f"{self.connector}.{self.name}"

    @property
    def sends_outward(self) -> bool:
        return ArgumentRole.DESTINATION in self.roles.values()

    @property
    def can_rehearse(self) -> bool:
        """Whether it can be shown what would happen: the connector is able to, and nothing leaves the house by it."""
        return self.manifest.supports_dry_run and not self.sends_outward


@dataclass(frozen=True)
class ApprovalFact:
    """A person's answer, as it is stored."""

    state: Literal["waiting", "approved", "refused", "escalated", "expired", "used"]
    binding: str
    expires_at: datetime
    decided_by: str


@dataclass(frozen=True)
class Facts:
    tool: ToolFacts
    arguments: Mapping[str, Any]
    path: str
    now: datetime
    traces: tuple[ArgumentTrace, ...] = ()
    """Of every value in steering and destination arguments of a write."""
    carriers: tuple[CarrierFact, ...] = ()
    """Of content arguments of a write, and of arguments of a read that may be fetched."""
    disclosures: tuple[Disclosure, ...] = ()
    """What the call would tell somebody who may not know it."""
    argument_errors: tuple[str, ...] = ()
    killed: str | None = None
    """Who pulled which kill switch, and why."""
    quarantined: bool = False
    calls_last_minute: int = 0
    seconds_until_free: float = 0.0
    """Seconds until the rate limit allows this call."""
    repeated: bool = False
    """The same change was made in this run already."""
    rehearsal_wanted: bool = False
    approved_before: bool = False
    """An operator agreed to this kind of action earlier in the same sitting."""
    approval: ApprovalFact | None = None
    binding: str | None = None
    """What an approval of this call must be bound to."""
