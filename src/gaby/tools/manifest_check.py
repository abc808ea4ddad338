"""Every error of an operator's manifest at once, with its line, checked against the tools that the server has."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any, cast

import yaml
from pydantic import ValidationError

from gaby.kernel.text import printable
from gaby.mcp import ServerDefinitions, ToolDefinition
from gaby.safety.schemas import properties_of
from gaby.safety.scopes import template_arguments
from gaby.tools.errors import ManifestInvalid
from gaby.tools.manifest_lines import LocatedYaml, Place, load_located
from gaby_connectors.sdk.manifest import ConnectorManifest, ToolManifest
from gaby_connectors.sdk.result_paths import declared_paths, find_path

LARGEST_MANIFEST = 256_000
"""Characters of a manifest file."""
_MOST_ERRORS = 200
_ARGUMENT_FIELDS = (
    *("steering", "content", "plain", "destinations", "lookups"),
    *("argument_kinds", "own_creations", "harmless_values"),
)


@dataclass(frozen=True)
class ManifestError:
    line: int
    where: str
    message: str

    def __str__(self) -> str:
        place = f"{self.where}: " if self.where else ""
        return printable(f"line {self.line}: {place}{self.message}", one_line=True)


@dataclass(frozen=True)
class CheckedManifest:
    manifest: ConnectorManifest
    unchecked: tuple[str, ...]
    """What no schema of the server speaks of, so that nobody could check it."""


def check_manifest(text: str, definitions: ServerDefinitions | None = None) -> CheckedManifest:
    """The manifest, or `ManifestInvalid` with all that is wrong with it."""
    if len(text) > LARGEST_MANIFEST:
        raise ManifestInvalid(f"A manifest may have at most {LARGEST_MANIFEST} characters.")
    try:
        located = load_located(text)
    except yaml.YAMLError as error:
        raise ManifestInvalid(f"This is not YAML that can be used: {_yaml_error(error)}") from None
    errors = [
        ManifestError(line, "", f"`{key}` is written twice; only one of them would count")
        for line, key in located.doubled_keys()
    ]
    manifest = _validated(located, errors)
    errors += _misfits(located, definitions) if definitions is not None else ()
    if errors or manifest is None:
        raise _invalid(errors)
    unchecked = _unchecked(manifest, definitions) if definitions is not None else ()
    return CheckedManifest(manifest, tuple(unchecked))


def suggestion(name: str, known: Iterable[str]) -> str:
    """`; did you mean find_user?`, or nothing."""
    near = get_close_matches(name, list(known)[:5000], n=1, cutoff=0.6)
    return f"; did you mean {near[0]}?" if near else ""


def _validated(located: LocatedYaml, errors: list[ManifestError]) -> ConnectorManifest | None:
    try:
        return ConnectorManifest.model_validate(located.data)
    except ValidationError as refused:
        for each in refused.errors(include_input=False, include_url=False):
            place = tuple(step for step in each["loc"] if step != "[key]")
            errors.append(_error(located, place, _in_words(each["type"], each["msg"], place)))
        return None


def _in_words(kind: str, message: str, place: Place) -> str:
    if kind != "extra_forbidden":
        return message.removeprefix("Value error, ")
    known = ToolManifest.model_fields if len(place) > 2 else ConnectorManifest.model_fields
    return f"a manifest has no such field{suggestion(str(place[-1]), known)}"


def _misfits(located: LocatedYaml, definitions: ServerDefinitions) -> Iterator[ManifestError]:
    """Of the tools that are well formed by themselves, whatever may be wrong with the others."""
    for name, written in _mapping(_mapping(located.data).get("tools")).items():
        if not isinstance(name, str):
            continue
        tool = definitions.by_name.get(name)
        if tool is None:
            message = f"the connector has no tool {name}{suggestion(name, definitions.by_name)}"
            yield _error(located, ("tools", name), message)
            continue
        try:
            manifest = ToolManifest.model_validate(written)
        except ValidationError:
            continue
        for place, message in tool_misfits(manifest, tool):
            yield _error(located, ("tools", name, *place), message)


def tool_misfits(manifest: ToolManifest, tool: ToolDefinition) -> Iterator[tuple[Place, str]]:
    """Arguments and result paths that the tool does not have."""
    known = properties_of(tool.input_schema, tool.input_schema)
    for field in _ARGUMENT_FIELDS:
        listed: Iterable[str] = getattr(manifest, field)
        for at, argument in enumerate(listed):
            if argument not in known:
                step = argument if isinstance(listed, Mapping) else at
                yield (field, step), f"it has no argument {argument}{suggestion(argument, known)}"
    if manifest.owner_argument is not None and manifest.owner_argument not in known:
        text = f"it has no argument {manifest.owner_argument}{suggestion(manifest.owner_argument, known)}"
        yield ("owner_argument",), text
    for argument in template_arguments(manifest.path or ""):
        if argument not in known:
            # Filled with `-` in every call, no rule about it would ever fit.
            yield ("path",), f"it has no argument {argument}{suggestion(argument, known)}"
    for each in declared_paths(manifest):
        if find_path(tool.output_schema, each.path) == "absent":
            yield (each.field, each.key), f"its results have no {each.path}"


def _mapping(value: Any) -> dict[object, Any]:
    return cast("dict[object, Any]", value) if isinstance(value, dict) else {}


def _unchecked(manifest: ConnectorManifest, definitions: ServerDefinitions) -> Iterator[str]:
    for name, each in manifest.tools.items():
        paths = [declared.path for declared in declared_paths(each)]
        open_ends = [path for path in paths if find_path(definitions.by_name[name].output_schema, path) == "unknown"]
        if open_ends:
            shown = ", ".join(dict.fromkeys(open_ends))
            yield f"{name}: the server does not declare what it returns there, so nobody could check {shown}."


def _error(located: LocatedYaml, place: Place, message: str) -> ManifestError:
    return ManifestError(located.line_of(place), ".".join(map(str, place)), message)


def _invalid(errors: list[ManifestError]) -> ManifestInvalid:
    ordered = sorted(set(errors), key=lambda each: (each.line, each.where, each.message))[:_MOST_ERRORS]
    more = len(set(errors)) - len(ordered)
    shown = [f"  {each}" for each in ordered] + ([f"  and {more} more"] if more > 0 else [])
    details = [{"where": each.where, "line": each.line, "message": each.message} for each in ordered]
    return ManifestInvalid("\n".join(["The manifest cannot be used:", *shown]), errors=details)


def _yaml_error(error: Exception) -> str:
    mark = getattr(error, "problem_mark", None)
    if isinstance(mark, yaml.Mark):
        return printable(
            f"line {mark.line + 1}: {getattr(error, 'problem', None) or 'it ends too early'}", one_line=True
        )
    return printable(str(error), one_line=True)[:300]
