"""What changed between the tools that an operator accepted and those that the server shows now, for people."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from difflib import unified_diff
from enum import StrEnum
from typing import Any, cast

import orjson

from gaby.kernel.text import printable
from gaby.mcp.definitions import ServerDefinitions, ToolDefinition

_MISSING = object()


class ChangeKind(StrEnum):
    TOOL_ADDED = "tool_added"
    TOOL_REMOVED = "tool_removed"
    TITLE = "title_changed"
    DESCRIPTION = "description_changed"
    INPUT_SCHEMA = "input_schema_changed"
    OUTPUT_SCHEMA = "output_schema_changed"
    HINTS = "hints_changed"
    MANIFEST = "manifest_changed"
    MANIFEST_VERSION = "manifest_version_changed"


@dataclass(frozen=True)
class DefinitionChange:
    kind: ChangeKind
    tool: str
    """Empty when the change is about the server."""
    path: str
    """Where in a schema or manifest: `properties.limit.maximum`."""
    detail: str
    """What it was and what it is now, whole; for a description a unified diff. Safe to print."""

    def __str__(self) -> str:
        where = f" at {self.path}" if self.path else ""
        separator = "\n" if "\n" in self.detail else " "
        what = printable(self.tool, one_line=True) or "server"
        return f"{what}: {self.kind.replace('_', ' ')}{where}:{separator}{self.detail}"


def difference(old: ServerDefinitions, new: ServerDefinitions) -> list[DefinitionChange]:
    """Empty exactly when the fingerprints are equal."""
    return list(_changes(old, new))


def _changes(old: ServerDefinitions, new: ServerDefinitions) -> Iterator[DefinitionChange]:
    if old.manifest_version != new.manifest_version:
        detail = f"{old.manifest_version or 'none'} -> {new.manifest_version or 'none'}"
        yield DefinitionChange(ChangeKind.MANIFEST_VERSION, "", "", detail)
    for name in sorted(old.by_name.keys() | new.by_name.keys()):
        before, after = old.by_name.get(name), new.by_name.get(name)
        if before is None and after is not None:
            yield DefinitionChange(ChangeKind.TOOL_ADDED, name, "", _shown(after.description))
        elif after is None and before is not None:
            yield DefinitionChange(ChangeKind.TOOL_REMOVED, name, "", _shown(before.description))
        elif before is not None and after is not None and before.fingerprint != after.fingerprint:
            yield from _tool_changes(before, after)


def _tool_changes(old: ToolDefinition, new: ToolDefinition) -> Iterator[DefinitionChange]:
    if old.title != new.title:
        yield DefinitionChange(ChangeKind.TITLE, new.name, "", f"{_shown(old.title)} -> {_shown(new.title)}")
    if old.description != new.description:
        yield DefinitionChange(ChangeKind.DESCRIPTION, new.name, "", _text_diff(old.description, new.description))
    parts = (
        (ChangeKind.INPUT_SCHEMA, old.input_schema, new.input_schema),
        (ChangeKind.OUTPUT_SCHEMA, old.output_schema, new.output_schema),
        (ChangeKind.HINTS, old.hints.model_dump(), new.hints.model_dump()),
        (ChangeKind.MANIFEST, old.manifest, new.manifest),
    )
    for kind, before, after in parts:
        for path, was, now in _value_changes("", before, after):
            yield DefinitionChange(kind, new.name, printable(path, one_line=True), f"{_shown(was)} -> {_shown(now)}")


def _value_changes(path: str, old: Any, new: Any) -> Iterator[tuple[str, Any, Any]]:
    if isinstance(old, dict) and isinstance(new, dict):
        before, after = cast("Mapping[str, Any]", old), cast("Mapping[str, Any]", new)
        for key in sorted(before.keys() | after.keys()):
            inner = f"{path}.{key}" if path else key
            yield from _value_changes(inner, before.get(key, _MISSING), after.get(key, _MISSING))
    elif not _same(old, new):
        yield path, old, new


def _same(old: Any, new: Any) -> bool:
    """As JSON: to Python, `true` and `1` are equal."""
    if old is _MISSING or new is _MISSING:
        return old is new
    return orjson.dumps(old, option=orjson.OPT_SORT_KEYS) == orjson.dumps(new, option=orjson.OPT_SORT_KEYS)


def _text_diff(old: str, new: str) -> str:
    lines = unified_diff(old.splitlines(), new.splitlines(), "accepted", "now", lineterm="", n=1)
    return "\n".join(printable(line, one_line=True) for line in lines) or f"{_shown(old)} -> {_shown(new)}"


def _shown(value: Any) -> str:
    if value is _MISSING:
        return "nothing"
    # All of it: what is cut off is where somebody would put what an operator must not see.
    return printable(orjson.dumps(value).decode(), one_line=True)
