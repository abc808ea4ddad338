"""The manifest: what each tool of a connector may do, and what its arguments and results mean.

A connector sends it with its tools, under `TOOL_META` in a tool's `_meta`, and its version under `SERVER_META` in the
server's experimental capabilities. For somebody else's server an operator writes the same as a small YAML file.
This is the one definition of the format; Gaby reads it from here.
"""

from collections.abc import Iterable
from enum import StrEnum
from typing import Annotated, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, model_validator

TOOL_META = "gaby/tool"
SERVER_META = "gaby/manifest"
ERROR_META = "gaby/error"

GABY_ARGUMENTS = frozenset({"idempotency_key", "dry_run"})
"""Arguments that Gaby fills by itself; nobody else may, and planners do not see them."""

Access = Literal["read", "write"]
Version = Annotated[str, StringConstraints(pattern=r"^\d{1,6}\.\d{1,6}\.\d{1,6}$")]
ArgumentName = Annotated[str, StringConstraints(pattern=r"^[A-Za-z_][A-Za-z0-9_.-]{0,63}$")]
FieldPath = Annotated[
    str, StringConstraints(pattern=r"^(\*|[A-Za-z0-9_-]+(\[\])?|\[\])(\.(\*|[A-Za-z0-9_-]+(\[\])?))*$")
]
"""Where in a structured result: `id`, `users[].email`, `[].id` for a list at the top; `*` is any one name."""


KindName = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_]{0,39}$")]


class Autonomy(StrEnum):
    """How much a connector may do by itself, from nothing to everything its manifest allows."""

    OFF = "off"
    INVESTIGATE = "investigate"
    PROPOSE = "propose"
    ACT = "act"

    @property
    def rank(self) -> int:
        return list(Autonomy).index(self)


class Audience(StrEnum):
    """Who may be told something. Whoever owns a row may be told of it whatever the audience is."""

    PUBLIC = "public"
    """Anybody, also people who cannot show who they are."""
    CUSTOMERS = "customers"
    """Every requester who was verified."""
    STAFF = "staff"
    """Those who work here, and nobody else."""

    @property
    def rank(self) -> int:
        """The larger, the fewer may be told."""
        return list(Audience).index(self)


class ResultLabel(StrEnum):
    """What a connector vouches for in its results. Whatever is not listed counts as written by outsiders."""

    SYSTEM = "system"
    """Minted by the connector's own backend; nobody outside can choose it: a primary key, a status."""
    CREATED = "created"
    """Names what this very call has made, so whoever had it made may also change it: the id of a new file."""
    EXTERNAL = "external"
    """Somebody outside can choose it: names, texts, headers, addresses that customers typed in."""


class ToolManifest(BaseModel):
    """What one tool may do. Only `scope` is needed; everything that is left out is read in the careful way."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    scope: Access
    path: Annotated[str, StringConstraints(pattern=r"^[^\s]{1,200}$")] | None = Field(
        default=None,
        description="What the tool touches, for scope rules: `users/{user_id}/unlock`. The tool's name if left out.",
    )
    dangerous: bool = Field(default=False, description="Destroys, pays, locks out, grants access: hard to undo.")
    requires_approval_above_autonomy: Literal["investigate", "propose", "act"] | None = Field(
        default=None,
        description="The highest autonomy at which a person must still agree. `propose`: at `act` it runs by itself. "
        "`act`: always asks. Left out: `act` for dangerous tools, `propose` for the others.",
    )
    forbidden_in_autonomy: tuple[Autonomy, ...] = ()
    supports_dry_run: bool = Field(
        default=False, description="`dry_run: true` shows what would happen, changing nothing."
    )
    idempotent: bool = Field(default=False, description="The same `idempotency_key` twice has one effect.")
    steering: tuple[ArgumentName, ...] = Field(default=(), description="Arguments that choose whom or what is touched.")
    content: tuple[ArgumentName, ...] = Field(default=(), description="Free text that is stored or sent.")
    destinations: tuple[ArgumentName, ...] = Field(
        default=(),
        description="Arguments that choose where data goes: URLs, hosts, recipients. Makes the tool a write.",
    )
    lookups: tuple[ArgumentName, ...] = Field(
        default=(), description="Arguments that look like destinations but are only keys to find something by."
    )
    plain: tuple[ArgumentName, ...] = Field(
        default=(),
        description="Arguments that may hold anything without doing harm: a page size, a colour, a date. Every "
        "argument of a write that is listed neither here nor under `content` chooses what is changed. Free text "
        "is still searched for links and for what its readers may not know.",
    )
    harmless_values: dict[ArgumentName, tuple[bool | int | str, ...]] = Field(
        default_factory=dict,
        description="Values of a steering argument that choose nothing, as a schema's default: `{permission: [read]}`.",
    )
    results: dict[FieldPath, ResultLabel] = Field(default_factory=dict, description="Labels of result fields.")
    result_kinds: dict[FieldPath, KindName] = Field(
        default_factory=dict,
        description="What a vouched-for field names: `{'channels[]': 'channel'}`. It vouches for that kind alone.",
    )
    argument_kinds: dict[ArgumentName, KindName] = Field(
        default_factory=dict,
        description="What an argument names: `{'channel': 'channel'}`. `text` for words that name "
        "nothing, such as a title: those may also fill a template of an operator, `'Dinner at {restaurant}'`.",
    )
    own_creations: tuple[ArgumentName, ...] = Field(
        default=(),
        description="For a dangerous tool: arguments that may name what this very run has created, without a "
        "question. For sharing or assigning what was just made, not for deleting it.",
    )
    owner: dict[FieldPath, ArgumentName] = Field(
        default_factory=dict,
        description="Whose a row is: `{'orders[]': 'customer_email'}`. A row of the requester is theirs to act on.",
    )
    owner_argument: ArgumentName | None = Field(
        default=None,
        description="Everything in the result belongs to whomever this argument names: `user_id` of `list_logins`.",
    )
    audience: Audience = Field(
        default=Audience.STAFF,
        description="Who may be told what the tool returns: `public`, `customers` (verified requesters) or `staff`. "
        "The owner of a row may be told of that row in any case.",
    )
    readers: dict[FieldPath, Audience] = Field(
        default_factory=dict, description="The same for single fields, and for everything below them."
    )
    content_audience: Audience = Field(
        default=Audience.CUSTOMERS,
        description="Who can read what the tool writes. `staff` for internal notes: then nothing in them is kept back.",
    )
    redact: tuple[FieldPath, ...] = Field(
        default=(), description="Result fields that are personal whatever they look like."
    )
    cache: bool = Field(default=True, description="A read may be answered from the cache for a minute.")

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        roles = [*self.steering, *self.content, *self.plain]
        if doubled := sorted({name for name in roles if roles.count(name) > 1}):
            raise ValueError(f"an argument has one role, and {', '.join(doubled)} has several")
        if both := sorted(set(self.destinations) & set(self.lookups)):
            raise ValueError(f"{', '.join(both)} cannot be a destination and a mere lookup")
        if reserved := sorted({*roles, *self.destinations, *self.lookups} & GABY_ARGUMENTS):
            raise ValueError(f"{', '.join(reserved)} is filled by Gaby and has no role")
        if self.own_creations and not self.dangerous:
            raise ValueError("own_creations is for dangerous tools; the others may use what the run has created anyway")
        if self.scope == "read" and (
            self.dangerous or self.forbidden_in_autonomy or self.requires_approval_above_autonomy
        ):
            raise ValueError("a read cannot be dangerous, forbidden or in need of approval; make it a write")
        if self.scope == "read" and ResultLabel.CREATED in self.results.values():
            raise ValueError("a read creates nothing; label its results system or external")
        return self

    @property
    def access(self) -> Access:
        """A tool that lets its caller choose where data goes is a write, whatever it calls itself."""
        return "write" if self.scope == "write" or self.destinations else "read"

    @property
    def needs_approval_up_to(self) -> Autonomy:
        if self.requires_approval_above_autonomy is not None:
            return Autonomy(self.requires_approval_above_autonomy)
        return Autonomy.ACT if self.dangerous else Autonomy.PROPOSE

    def unknown_arguments(self, known: Iterable[str]) -> list[str]:
        """Arguments that the manifest speaks of and the tool does not have."""
        named = {*self.steering, *self.content, *self.plain, *self.destinations, *self.lookups}
        named |= {*self.argument_kinds, *self.own_creations, *self.harmless_values}
        if self.owner_argument is not None:
            named.add(self.owner_argument)
        return sorted(named - set(known))


class ConnectorManifest(BaseModel):
    """The whole manifest, as an operator's YAML file holds it for somebody else's server."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    manifest_version: Version
    tools: dict[Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_./-]{1,128}$")], ToolManifest]


class ErrorKind(StrEnum):
    """What went wrong in a connector, in words that Gaby knows how to answer."""

    INVALID = "invalid"
    NOT_FOUND = "not_found"
    CONFLICT = "conflict"
    DENIED = "denied"
    AUTH_EXPIRED = "auth_expired"
    RATE_LIMITED = "rate_limited"
    TRANSIENT = "transient"
    PERMANENT = "permanent"


class ToolErrorDetail(BaseModel):
    """Sent under `ERROR_META` in the `_meta` of a failed result."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    kind: ErrorKind
    message: Annotated[str, StringConstraints(max_length=2000)]
    retry_after: Annotated[float, Field(ge=0, le=86_400)] | None = None
    outcome: Literal["nothing", "unknown"] = "nothing"
    """Whether the connector can rule out that something happened."""
