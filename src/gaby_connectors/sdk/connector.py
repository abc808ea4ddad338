"""A connector: its name, its tools and how it is served. Everything that an author needs to begin with."""

import os
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import asynccontextmanager
from copy import copy
from pathlib import Path
from typing import Any, TypeVar

from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.server.models import InitializationOptions
from mcp.types import (
    CallToolRequestParams,
    CallToolResult,
    DiscoverResult,
    ListToolsResult,
    PaginatedRequestParams,
    RequestParams,
    ToolAnnotations,
)
from mcp.types import Tool as WireTool
from mcp.types.version import MODERN_PROTOCOL_VERSIONS
from pydantic import BaseModel, TypeAdapter

from gaby_connectors.sdk.backend import Backend
from gaby_connectors.sdk.calls import CallHandler
from gaby_connectors.sdk.config import ConnectorConfig, secrets_of
from gaby_connectors.sdk.ledger import IdempotencyLedger
from gaby_connectors.sdk.manifest import SERVER_META, TOOL_META, ResultLabel, ToolManifest, Version
from gaby_connectors.sdk.scrub import Scrubber
from gaby_connectors.sdk.tool import Function, Lookup, Tool, tool_of

STATE_VARIABLE = "GABY_CONNECTOR_STATE"
"""The folder in which a connector remembers the writes that it has done."""

_TOLD = {"ok": ResultLabel.SYSTEM, "detail": ResultLabel.SYSTEM}

FunctionT = TypeVar("FunctionT", bound=Function)


class Health(BaseModel):
    ok: bool
    detail: str


class Toolset:
    """Some tools. A connector is one with a name; others can be added to it when its settings say so."""

    def __init__(self) -> None:
        self.tools: dict[str, Tool] = {}

    def tool(
        self, manifest: ToolManifest, *, more: str = "", repeatable: bool = False, lookup: Lookup | None = None
    ) -> Callable[[FunctionT], FunctionT]:
        """Declares a typed async function as a tool.

        `more` tells how to get what a large result left out. A write is `repeatable` when doing it twice is the same
        as once; else give a `lookup` that finds by idempotency key what a call that was cut off has done.
        """

        def declare(function: FunctionT) -> FunctionT:
            self.add(tool_of(function, manifest, more=more, repeatable=repeatable, lookup=lookup))
            return function

        return declare

    def add(self, *tools: Tool) -> None:
        for tool in tools:
            if tool.name in self.tools:
                raise ValueError(f"there are two tools called {tool.name}")
            self.tools[tool.name] = tool


class Connector(Toolset):
    def __init__(
        self,
        name: str,
        *,
        version: str,
        instructions: str,
        config: type[ConnectorConfig] = ConnectorConfig,
        backend: Callable[[Any], Backend] = Backend,
    ) -> None:
        super().__init__()
        self.name = name
        self.version = TypeAdapter[str](Version).validate_python(version)
        self.instructions = instructions
        self.config = config
        self.backend = backend
        self.tool(ToolManifest(scope="read", path="healthcheck", cache=False, results=_TOLD))(healthcheck)

    def plus(self, more: Toolset) -> "Connector":
        """The same connector with more tools."""
        larger = copy(self)
        larger.tools = dict(self.tools)
        larger.add(*more.tools.values())
        return larger

    def server(self, config: ConnectorConfig, *, state: Path | None = None) -> "ConnectorServer":
        """The MCP server with these settings, for any transport."""
        return ConnectorServer(self, config, state)


class ConnectorServer(Server[CallHandler]):
    """An MCP server that tells manifests and answers calls. Closing the lifespan waits for effects under way."""

    def __init__(self, connector: Connector, config: ConnectorConfig, state: Path | None) -> None:
        super().__init__(
            connector.name,
            version=connector.version,
            instructions=connector.instructions,
            lifespan=self._alive,
            on_list_tools=self._list_tools,
            on_call_tool=self._call_tool,
        )
        self._connector = connector
        self._config = config
        self._state = state
        self._wire_tools = [_on_the_wire(tool) for tool in connector.tools.values()]
        self._experimental: dict[str, dict[str, Any]] = {SERVER_META: {"version": connector.version}}
        self.add_request_handler("server/discover", RequestParams, self._discover)

    def create_initialization_options(
        self,
        notification_options: Any = None,
        experimental_capabilities: dict[str, dict[str, Any]] | None = None,
        extensions: dict[str, dict[str, Any]] | None = None,
    ) -> InitializationOptions:
        experimental = (experimental_capabilities or {}) | self._experimental
        return super().create_initialization_options(notification_options, experimental, extensions)

    @asynccontextmanager
    async def _alive(self, _server: Server[CallHandler]) -> AsyncGenerator[CallHandler]:
        ledger = IdempotencyLedger(self._state)
        backend = self._connector.backend(self._config)
        calls = CallHandler(self._connector.tools, backend, ledger, Scrubber(secrets_of(self._config)))
        try:
            yield calls
        finally:
            await calls.finished()
            await backend.close()
            ledger.close()

    async def _list_tools(
        self, _context: ServerRequestContext[CallHandler], _params: PaginatedRequestParams | None
    ) -> ListToolsResult:
        return ListToolsResult(tools=self._wire_tools)

    async def _call_tool(
        self, context: ServerRequestContext[CallHandler], params: CallToolRequestParams
    ) -> CallToolResult:
        return await context.lifespan_context.call(params.name, params.arguments or {})

    async def _discover(self, context: ServerRequestContext[CallHandler], _params: RequestParams) -> DiscoverResult:
        return DiscoverResult(
            supported_versions=list(MODERN_PROTOCOL_VERSIONS),
            capabilities=self.get_capabilities(
                experimental_capabilities=self._experimental, protocol_version=context.protocol_version
            ),
            instructions=self.instructions,
        )


async def healthcheck(backend: Backend) -> Health:
    """Tell whether the system behind this connector answers right now."""
    return Health(ok=True, detail=await backend.check())


def state_folder(environment: Mapping[str, str] = os.environ) -> Path | None:
    given = environment.get(STATE_VARIABLE, "").strip()
    return Path(given) if given else None


def _on_the_wire(tool: Tool) -> WireTool:
    manifest = tool.manifest
    return WireTool(
        name=tool.name,
        title=tool.name.replace("_", " ").capitalize(),
        description=tool.description,
        input_schema=tool.input_schema,
        output_schema=tool.output_schema,
        annotations=ToolAnnotations(
            read_only_hint=not tool.writes,
            destructive_hint=tool.writes and manifest.dangerous,
            idempotent_hint=manifest.idempotent or not tool.writes,
            open_world_hint=bool(manifest.destinations),
        ),
        _meta={TOOL_META: manifest.model_dump(mode="json", exclude_defaults=True) | {"scope": manifest.scope}},
    )
