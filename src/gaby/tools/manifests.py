"""Manifests of a connector's tools: the connector's own, or one that an operator wrote for it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import yaml
from pydantic import ValidationError

from gaby.mcp import ServerDefinitions, ToolDefinition
from gaby.tools.errors import ManifestInvalid
from gaby_connectors.sdk.manifest import ConnectorManifest, ToolManifest

_LARGEST_FILE = 256_000


@dataclass(frozen=True)
class Manifests:
    tools: Mapping[str, ToolManifest]
    missing: tuple[str, ...]
    """Tools of which no valid manifest speaks."""
    problems: tuple[str, ...]

    @property
    def unsafe(self) -> bool:
        """No tool has a manifest. Where some have one, each of the others still does nothing unasked."""
        return not self.tools


def read_manifests(definitions: ServerDefinitions, written: Mapping[str, Any] | None) -> Manifests:
    """An operator's word comes before the connector's own."""
    override = ConnectorManifest.model_validate(written).tools if written is not None else {}
    found: dict[str, ToolManifest] = {}
    problems: list[str] = []
    for tool in definitions.tools:
        try:
            manifest = override.get(tool.name) or _own(tool, declares=definitions.manifest_version is not None)
        except ValidationError as error:
            problems.extend(f"{tool.name}: {problem}" for problem in _in_words(error))
            continue
        if manifest is None:
            continue
        if unknown := manifest.unknown_arguments(tool.input_schema.get("properties", {})):
            problems.append(f"{tool.name}: it has no argument {', '.join(unknown)}")
        else:
            found[tool.name] = manifest
    missing = tuple(tool.name for tool in definitions.tools if tool.name not in found)
    return Manifests(found, missing, tuple(problems))


def parse_manifest(text: str, definitions: ServerDefinitions | None = None) -> ConnectorManifest:
    """An operator's YAML file. With definitions it is also checked that it speaks only of tools that exist."""
    if len(text) > _LARGEST_FILE:
        raise ManifestInvalid(f"A manifest may have at most {_LARGEST_FILE} characters.")
    try:
        manifest = ConnectorManifest.model_validate(_NoAliases(text).get_single_data())
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        if isinstance(error, ValidationError):
            raise ManifestInvalid(errors=_details(error)) from None
        raise ManifestInvalid(f"This is not YAML that can be used: {error}") from None
    if definitions is not None and (unknown := sorted(set(manifest.tools) - set(definitions.by_name))):
        raise ManifestInvalid(f"The connector has no tool {', '.join(unknown)}.")
    return manifest


class _NoAliases(yaml.SafeLoader):
    """A few bytes of nested aliases can grow to gigabytes; a manifest needs none."""

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        if self.check_event(yaml.events.AliasEvent):
            raise yaml.YAMLError("aliases are not allowed here")
        return super().compose_node(parent, index)


def _own(tool: ToolDefinition, *, declares: bool) -> ToolManifest | None:
    """A connector that declares no manifest version is not one that speaks of manifests."""
    return ToolManifest.model_validate(tool.manifest) if declares and tool.manifest is not None else None


def _in_words(error: ValidationError) -> list[str]:
    return [f"{'.'.join(str(step) for step in each['loc']) or 'manifest'}: {each['msg']}" for each in error.errors()]


def _details(error: ValidationError) -> list[dict[str, str]]:
    return [{"where": ".".join(str(step) for step in each["loc"]), "message": each["msg"]} for each in error.errors()]
