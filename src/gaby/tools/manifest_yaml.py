"""A drafted manifest as YAML, every guess with its reason as a comment above it."""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from gaby.kernel.text import printable
from gaby.safety import ArgumentRole
from gaby.tools.manifest_check import LARGEST_MANIFEST
from gaby.tools.manifest_draft import VERSION, ManifestDraft, ToolDraft
from gaby_connectors.sdk.manifest import ToolManifest

_WIDTH = 116
_SIMPLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_YAML_WORDS = frozenset({"true", "false", "yes", "no", "on", "off", "y", "n", "null"})
_AUDIENCE = (
    "staff: only colleagues are told what it returns, besides the owner of a row. `customers`: every verified "
    "requester; `public`: anybody."
)
_OWNER = "Whoever has this address is told of the row, and may have it changed. Check that only the system sets it."
_OWNER_ARGUMENT = "Everything it returns belongs to whomever this names. Check that it never returns what is of others."
_RESULTS = "Made by the system itself, so it may choose what a harmless change touches. `external` if people choose it."
_KINDS = "What the bare name stands for, by the tool's name."
_REDACT = "Never shown to a model, by its name."
_ROLES = {
    "steering": ArgumentRole.STEERING,
    "content": ArgumentRole.CONTENT,
    "destinations": ArgumentRole.DESTINATION,
    "lookups": ArgumentRole.LOOKUP,
    "plain": ArgumentRole.PLAIN,
}


def draft_yaml(draft: ManifestDraft) -> str:
    """Always a text that `gaby connector manifest` takes as it is; tools for which there is no room are left out."""
    lines = [
        f"# A draft for {draft.connector}, from what its server says of itself. Nothing holds until you accept it:",
        f"# gaby connector manifest {draft.connector} FILE. A tool that you take out does nothing unasked.",
        f"manifest_version: {VERSION}",
        "tools:" if draft.tools else "tools: {}",
    ]
    size = sum(map(len, lines)) + 1000
    for at, tool in enumerate(draft.tools):
        entry = list(_entry(tool))
        size += sum(len(line) + 1 for line in entry)
        if size > LARGEST_MANIFEST:
            lines.append(
                f"# {len(draft.tools) - at} more tools are left out: a manifest has at most 256,000 characters."
            )
            if at == 0:
                lines[3] = "tools: {}"
            break
        lines += entry
    return "\n".join(lines) + "\n"


def _entry(tool: ToolDraft) -> Iterator[str]:
    manifest = tool.manifest
    yield f"  {_name(tool.name)}:"
    kind = "A read" if tool.access == "read" else "A write"
    yield from _comment(f"{kind}: {tool.access_reason}.")
    yield f"    scope: {manifest.scope}"
    for note in tool.notes:
        yield from _comment(note)
    if manifest.dangerous:
        yield "    dangerous: true"
    yield from _arguments(tool)
    yield from _mapping("argument_kinds", manifest.argument_kinds, _KINDS)
    yield from _result(manifest)


def _arguments(tool: ToolDraft) -> Iterator[str]:
    for name, role in _ROLES.items():
        listed: tuple[str, ...] = getattr(tool.manifest, name)
        if not listed:
            continue
        reasons = dict.fromkeys(each.reason for each in tool.arguments.values() if each.role is role)
        yield from _comment(f"{name}: {'; '.join(reasons)}.")
        yield f"    {name}: [{', '.join(map(_name, listed))}]"


def _result(manifest: ToolManifest) -> Iterator[str]:
    yield from _mapping("results", manifest.results, _RESULTS)
    yield from _mapping("result_kinds", manifest.result_kinds, _KINDS)
    yield from _mapping("owner", manifest.owner, _OWNER)
    if manifest.owner_argument is not None:
        yield from _comment(_OWNER_ARGUMENT)
        yield f"    owner_argument: {_name(manifest.owner_argument)}"
    if manifest.redact:
        yield from _comment(_REDACT)
        yield f"    redact: [{', '.join(map(_name, manifest.redact))}]"
    yield from _comment(_AUDIENCE)
    yield f"    audience: {manifest.audience}"


def _mapping(field: str, values: Mapping[str, Any], reason: str) -> Iterator[str]:
    if values:
        yield from _comment(reason)
        yield f"    {field}: {{{', '.join(f'{_name(name)}: {_name(str(value))}' for name, value in values.items())}}}"


def _name(text: str) -> str:
    """Quoted as JSON unless no reader of YAML could take it for anything else than this word."""
    simple = _SIMPLE.fullmatch(text) and text.casefold() not in _YAML_WORDS
    return text if simple else json.dumps(text)


def _comment(text: str) -> Iterator[str]:
    """Names come from the server: a break of the line in one of them must not end the comment."""
    line = "   "
    for word in printable(text, one_line=True).split(" "):
        if len(line) + len(word) > _WIDTH and line.strip():
            yield f"    #{line[3:]}"
            line = "   "
        line += f" {word[:_WIDTH]}"
    yield f"    #{line[3:]}"
