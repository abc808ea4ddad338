"""What a server says about its tools: read with suspicion, and pinned by fingerprint."""

import re
from collections.abc import Mapping, Sequence
from functools import cached_property
from hashlib import sha256
from typing import Any, cast

from pydantic import BaseModel, ConfigDict

from gaby.mcp.errors import DefinitionsRefused
from gaby.mcp.invisible_characters import hidden_character
from gaby.mcp.schemas import canonical, objection_to_schema, objection_to_value
from gaby_connectors.sdk.manifest import SERVER_META, TOOL_META

MAX_TOOLS = 512
MAX_DESCRIPTION = 4_000
MAX_TITLE = 200
_TOOL_NAME = re.compile(r"[A-Za-z0-9_./-]{1,128}")
_VERSION = re.compile(r"\d{1,6}\.\d{1,6}\.\d{1,6}", re.ASCII)


class ToolHints(BaseModel):
    """What the server says of itself. Nothing is allowed because of a hint."""

    model_config = ConfigDict(frozen=True)

    read_only: bool | None = None
    destructive: bool | None = None
    idempotent: bool | None = None
    open_world: bool | None = None


class ToolDefinition(BaseModel):
    model_config = ConfigDict(frozen=True)

    name: str
    title: str | None = None
    description: str = ""
    input_schema: dict[str, Any]
    output_schema: dict[str, Any] | None = None
    hints: ToolHints = ToolHints()
    manifest: dict[str, Any] | None = None
    """As the connector sent it, not yet believed."""

    @cached_property
    def fingerprint(self) -> str:
        """Changes when anything changes that a model or Gaby sees of this tool."""
        return _hash(self.model_dump())


class ServerDefinitions(BaseModel):
    model_config = ConfigDict(frozen=True)

    server_name: str
    server_version: str
    manifest_version: str | None = None
    tools: tuple[ToolDefinition, ...]

    @cached_property
    def fingerprint(self) -> str:
        """Independent of the order of the tools, and of the server's own version, which says nothing about them."""
        tools = sorted((tool.name, tool.fingerprint) for tool in self.tools)
        return _hash({"manifest_version": self.manifest_version, "tools": tools})

    @cached_property
    def by_name(self) -> Mapping[str, ToolDefinition]:
        return {tool.name: tool for tool in self.tools}


def read_definitions(
    tools: Sequence[Mapping[str, Any]],
    *,
    server_name: str = "",
    server_version: str = "",
    experimental: Mapping[str, Any] | None = None,
) -> ServerDefinitions:
    """The tools as the protocol sends them, or `DefinitionsRefused` with the reason. Nothing is repaired."""
    for what, text in (("name", server_name), ("version", server_version)):
        _check_text(f"The server's {what}", text, MAX_TITLE)
    if len(tools) > MAX_TOOLS:
        raise DefinitionsRefused(f"The connector has {len(tools)} tools, of at most {MAX_TOOLS}.")
    read = tuple(_read_tool(tool) for tool in tools)
    names = [tool.name for tool in read]
    if doubled := {name for name in names if names.count(name) > 1} if len(set(names)) < len(names) else None:
        raise DefinitionsRefused(f"The connector has several tools with one name: {', '.join(sorted(doubled))}.")
    return ServerDefinitions(
        server_name=server_name,
        server_version=server_version,
        manifest_version=_manifest_version(experimental or {}),
        tools=read,
    )


def _read_tool(tool: Mapping[str, Any]) -> ToolDefinition:
    name = tool.get("name")
    if not isinstance(name, str) or not _TOOL_NAME.fullmatch(name):
        raise DefinitionsRefused(f"A tool has a name that is not acceptable: {ascii(name)[:100]}.")
    annotations = _object(name, "annotations", tool.get("annotations")) or {}
    title = tool.get("title") or annotations.get("title")
    description = tool.get("description") or ""
    if title is not None:
        _check_text(f"The title of {name}", title, MAX_TITLE)
    _check_text(f"The description of {name}", description, MAX_DESCRIPTION)
    for key, must_be_object in (("inputSchema", True), ("outputSchema", False)):
        schema = tool.get(key)
        if schema is None and not must_be_object:
            continue
        if objection := objection_to_schema(schema, must_be_object=must_be_object):
            raise DefinitionsRefused(f"The {key} of {name} is refused: {objection}.")
    manifest = (_object(name, "_meta", tool.get("_meta")) or {}).get(TOOL_META)
    return ToolDefinition(
        name=name,
        title=title,
        description=description,
        input_schema=tool["inputSchema"],
        output_schema=tool.get("outputSchema"),
        hints=_hints(annotations),
        manifest=_manifest(name, manifest),
    )


def _check_text(what: str, text: Any, longest: int) -> None:
    if not isinstance(text, str):
        raise DefinitionsRefused(f"{what} is not a text.")
    if len(text) > longest:
        raise DefinitionsRefused(f"{what} has {len(text)} characters, of at most {longest}.")
    if hidden := hidden_character(text):
        raise DefinitionsRefused(f"{what} holds the invisible character {hidden}.")


def _object(name: str, what: str, value: Any) -> dict[str, Any] | None:
    if value is not None and not isinstance(value, dict):
        raise DefinitionsRefused(f"The {what} of {name} is not an object.")
    return cast("dict[str, Any] | None", value)


def _manifest(name: str, value: Any) -> dict[str, Any] | None:
    manifest = _object(name, "manifest", value)
    if manifest is not None and (objection := objection_to_value(manifest)):
        raise DefinitionsRefused(f"The manifest of {name} is refused: {objection}.")
    return manifest


def _hints(annotations: Mapping[str, Any]) -> ToolHints:
    def hint(name: str) -> bool | None:
        value = annotations.get(name)
        return value if isinstance(value, bool) else None

    return ToolHints(
        read_only=hint("readOnlyHint"),
        destructive=hint("destructiveHint"),
        idempotent=hint("idempotentHint"),
        open_world=hint("openWorldHint"),
    )


def _manifest_version(experimental: Mapping[str, Any]) -> str | None:
    declared = experimental.get(SERVER_META)
    if declared is None:
        return None
    version = cast("dict[str, Any]", declared).get("version") if isinstance(declared, dict) else None
    if not isinstance(version, str) or not _VERSION.fullmatch(version):
        raise DefinitionsRefused(f"The version of the manifest is not like 1.2.3: {ascii(version)[:100]}.")
    return version


def _hash(value: Any) -> str:
    return sha256(canonical(value)).hexdigest()
