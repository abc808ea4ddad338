"""Manifests of a connector's tools: the connector's own, or one that an operator wrote for it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError

from gaby.mcp import ServerDefinitions, ToolDefinition
from gaby.safety.schemas import properties_of
from gaby.tools.manifest_check import check_manifest
from gaby_connectors.sdk.manifest import ConnectorManifest, ToolManifest


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
    manifests: dict[str, ToolManifest] = {}
    problems: list[str] = []
    for tool in definitions.tools:
        try:
            manifest = override.get(tool.name) or _own(tool, declares=definitions.manifest_version is not None)
        except ValidationError as error:
            problems.extend(f"{tool.name}: {problem}" for problem in _in_words(error))
            continue
        if manifest is None:
            continue
        if unknown := manifest.unknown_arguments(properties_of(tool.input_schema, tool.input_schema)):
            problems.append(f"{tool.name}: it has no argument {', '.join(unknown)}")
        else:
            manifests[tool.name] = manifest
    missing = tuple(tool.name for tool in definitions.tools if tool.name not in manifests)
    return Manifests(manifests, missing, tuple(problems))


def parse_manifest(text: str, definitions: ServerDefinitions | None = None) -> ConnectorManifest:
    """An operator's YAML file. With definitions it is also checked that it speaks only of what exists."""
    return check_manifest(text, definitions).manifest


def _own(tool: ToolDefinition, *, declares: bool) -> ToolManifest | None:
    """A connector that declares no manifest version is not one that speaks of manifests."""
    return ToolManifest.model_validate(tool.manifest) if declares and tool.manifest is not None else None


def _in_words(error: ValidationError) -> list[str]:
    return [f"{'.'.join(str(step) for step in each['loc']) or 'manifest'}: {each['msg']}" for each in error.errors()]
