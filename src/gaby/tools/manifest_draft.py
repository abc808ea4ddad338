"""Drafts of manifests for servers that have none: a careful guess for every tool, with a reason for every guess.

Nothing holds because it was drafted: a person accepts a draft or some of its tools, or edits it in a file.
"""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field

from gaby.mcp import ServerDefinitions, ToolDefinition
from gaby.safety import ArgumentRole, access_of, roles
from gaby.safety.manifest_guess import is_verb_of_change, reading_doubts, words_of
from gaby.tools.argument_guess import (
    MOST_ARGUMENTS,
    ArgumentGuess,
    guess_arguments,
    guess_kinds,
    guess_owner_argument,
    kind_of_tool,
    lookups_of,
    unnameable_arguments,
)
from gaby.tools.errors import ConnectorNotAccepted, DefinitionsMoved
from gaby.tools.manifests import read_manifests
from gaby.tools.models import ConnectorRecord
from gaby.tools.result_guess import guess_result
from gaby_connectors.sdk.manifest import Access, ConnectorManifest, ToolManifest
from gaby_connectors.sdk.verbs import looks_destructive

VERSION = "1.0.0"
_MILD_VERBS = frozenset(words_of("add append attach comment create draft label log note reply tag"))
_GRAVE_WORDS = frozenset(
    words_of(
        "access account admin amount card charge credential credit debit deploy grant group hook invoice key license "
        "member money owner password pay payment permission policy price privilege refund role rule secret token user "
        "webhook"
    )
)
"""Things of which even a new one grants, pays or opens something."""
_GRAVE_ARGUMENTS = _GRAVE_WORDS - {"account", "card", "group", "invoice", "key", "member", "owner", "user"}
"""Of arguments, the names of people and things only say where something is added."""


@dataclass(frozen=True)
class ToolDraft:
    name: str
    manifest: ToolManifest
    access_reason: str
    arguments: Mapping[str, ArgumentGuess] = field(default_factory=dict[str, ArgumentGuess])
    notes: tuple[str, ...] = ()
    """What a person should look at: what could not be guessed, and what follows from it."""
    access: Access = "write"


@dataclass(frozen=True)
class ManifestDraft:
    connector: str
    fingerprint: str
    """Of the tools that it was drafted from."""
    tools: tuple[ToolDraft, ...]

    @property
    def reads(self) -> tuple[str, ...]:
        return tuple(tool.name for tool in self.tools if tool.access == "read")

    def manifest(self, chosen: Iterable[str] | None = None) -> ConnectorManifest:
        """Of all tools, or of those that a person chose."""
        names = None if chosen is None else set(chosen)
        wanted = {tool.name: tool.manifest for tool in self.tools if names is None or tool.name in names}
        return ConnectorManifest(manifest_version=VERSION, tools=wanted)


def draft_of(row: ConnectorRecord) -> ManifestDraft:
    """For the tools of which no manifest speaks, neither the connector's own nor an operator's: those that were
    accepted, or of a new connector those that it shows."""
    shown = row.accepted if row.accepted is not None else row.seen
    if shown is None:
        raise ConnectorNotAccepted
    definitions = ServerDefinitions.model_validate(shown)
    return draft_manifest(row.name, definitions, read_manifests(definitions, row.manifest).missing)


def joined_manifest(row: ConnectorRecord, accepted: ConnectorManifest, fingerprint: str) -> ConnectorManifest:
    """What an operator has said before, and what a person accepted of a draft now."""
    if row.accepted is None:
        raise ConnectorNotAccepted
    if ServerDefinitions.model_validate(row.accepted).fingerprint != fingerprint:
        # The person looked at other tools than those that it would hold for.
        raise DefinitionsMoved
    before = ConnectorManifest.model_validate(row.manifest) if row.manifest is not None else None
    if before is None:
        return accepted
    return ConnectorManifest(manifest_version=before.manifest_version, tools={**before.tools, **accepted.tools})


def draft_manifest(connector: str, definitions: ServerDefinitions, wanted: Collection[str]) -> ManifestDraft:
    prefix = _common_prefix([tool.name for tool in definitions.tools])
    tools = tuple(_draft(tool, prefix) for tool in definitions.tools if tool.name in wanted)
    return ManifestDraft(connector, definitions.fingerprint, tools)


def _draft(tool: ToolDefinition, prefix: str) -> ToolDraft:
    schema, name = tool.input_schema, tool.name.removeprefix(prefix)
    doubts = list(
        reading_doubts(
            name,
            schema,
            read_only_hint=tool.hints.read_only,
            description=tool.description,
            lookups=lookups_of(schema),
        )
    )
    draft = _draft_write(tool, name, doubts) if doubts else _draft_read(tool, name)
    return ToolDraft(
        tool.name,
        draft.manifest,
        draft.access_reason,
        draft.arguments,
        (*draft.notes, *_argument_notes(tool)),
        access_of(draft.manifest, roles(draft.manifest, schema)),
    )


def _draft_read(tool: ToolDefinition, name: str) -> ToolDraft:
    arguments = guess_arguments(tool.input_schema, reads=True)
    result = guess_result(tool.output_schema)
    kinds = guess_kinds(name, tool.input_schema)
    owner_argument = None if result.owner else guess_owner_argument(tool.input_schema, kinds)
    kind = kind_of_tool(name)
    top_id = next((path for path in result.results if path.casefold() in {"id", "uuid"}), None)
    manifest = ToolManifest(
        scope="read",
        lookups=_named(arguments, ArgumentRole.LOOKUP),
        argument_kinds=kinds,
        results=dict(result.results),
        result_kinds={top_id: kind} if top_id is not None and kind is not None else {},
        owner=dict(result.owner),
        owner_argument=owner_argument,
        redact=result.redact,
    )
    reason = "its name begins with a verb of reading, nothing about it changes anything, and no argument sends data"
    notes: list[str] = []
    if tool.output_schema is None:
        notes.append("It does not declare what it returns, so owners of rows and ids could not be seen.")
    if result.whole_has_owner is not None:
        notes.append(
            f"The result itself has `{result.whole_has_owner}`; only rows inside of a result can have an owner."
        )
    return ToolDraft(tool.name, manifest, reason, arguments, tuple(notes))


def _draft_write(tool: ToolDefinition, name: str, doubts: list[str]) -> ToolDraft:
    arguments = guess_arguments(tool.input_schema, reads=False)
    grave = _danger(tool, name, arguments)
    result = guess_result(tool.output_schema)
    manifest = ToolManifest(
        scope="write",
        dangerous=grave is not None,
        argument_kinds=guess_kinds(name, tool.input_schema),
        owner=dict(result.owner),
        redact=result.redact,
        steering=_named(arguments, ArgumentRole.STEERING),
        content=_named(arguments, ArgumentRole.CONTENT),
        destinations=_named(arguments, ArgumentRole.DESTINATION),
        plain=_named(arguments, ArgumentRole.PLAIN),
    )
    notes = [f"Dangerous: {grave}."] if grave is not None else ["Not dangerous: it only adds something, by its name."]
    properties = tool.input_schema.get("properties", {})
    if "dry_run" in properties:
        notes.append("It takes dry_run. If that changes nothing, add `supports_dry_run: true`.")
    if "idempotency_key" in properties:
        notes.append("It takes idempotency_key. If the same key has one effect, add `idempotent: true`.")
    return ToolDraft(tool.name, manifest, "; ".join(doubts[:3]), arguments, tuple(notes))


def _danger(tool: ToolDefinition, name: str, arguments: Mapping[str, ArgumentGuess]) -> str | None:
    """Why it may be hard to undo. Only what plainly adds a text or a label is not."""
    words = words_of(name)
    if tool.hints.destructive is True:
        return "the server itself says that it destroys"
    if any(looks_destructive(word) for word in words):
        return "its name says that it destroys, pays, locks out or grants"
    if not words or words[0] not in _MILD_VERBS or any(is_verb_of_change(word) for word in words[1:]):
        return "its name does not say that it only adds something"
    if len(arguments) == 0 and len(tool.input_schema.get("properties", {})) > MOST_ARGUMENTS:
        return "it has too many arguments to be looked at"
    asked = [word for argument in arguments for word in words_of(argument)]
    grave = [word for word in words if word.removesuffix("s") in _GRAVE_WORDS]
    grave += [word for word in asked if word.removesuffix("s") in _GRAVE_ARGUMENTS]
    return f"`{grave[0]}` can grant, pay or open something" if grave else None


def _argument_notes(tool: ToolDefinition) -> list[str]:
    unnameable = unnameable_arguments(tool.input_schema)
    notes: list[str] = []
    if unnameable:
        notes.append(f"{len(unnameable)} arguments have names that a manifest cannot hold; each of them steers.")
    if len(tool.input_schema.get("properties", {})) > MOST_ARGUMENTS:
        notes.append(f"It has more than {MOST_ARGUMENTS} arguments, so no roles are proposed and each of them steers.")
    return notes


def _named(arguments: Mapping[str, ArgumentGuess], role: ArgumentRole) -> tuple[str, ...]:
    return tuple(name for name, guessed in arguments.items() if guessed.role is role)


def _common_prefix(names: list[str]) -> str:
    """`slack_` of a server all of whose tools begin so. A verb that all share is no prefix."""
    first = {name.partition("_")[0] for name in names}
    if len(names) < 2 or len(first) != 1 or not all("_" in name for name in names):
        return ""
    (word,) = first
    known = is_verb_of_change(word) or not any(True for _ in reading_doubts(word, {}, read_only_hint=None))
    return "" if known else f"{word}_"
