"""Talks to a connector over MCP inside the test: everything real but the process."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from mcp.client.client import Client
from mcp.types import CallToolResult, Tool

from gaby_connectors.sdk.config import ConnectorConfig
from gaby_connectors.sdk.connector import Connector
from gaby_connectors.sdk.manifest import ERROR_META, TOOL_META, ToolErrorDetail, ToolManifest


class Talk:
    def __init__(self, client: Client) -> None:
        self.client = client

    async def call(self, tool: str, **arguments: Any) -> CallToolResult:
        return await self.client.call_tool(tool, arguments)

    async def ask(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """The structured result of a call that works."""
        result = await self.call(tool, **arguments)
        assert not result.is_error, result.content
        return result.structured_content

    async def fails(self, tool: str, **arguments: Any) -> ToolErrorDetail:
        """The error of a call that does not."""
        result = await self.call(tool, **arguments)
        assert result.is_error, result.structured_content
        return ToolErrorDetail.model_validate((result.meta or {})[ERROR_META])

    async def tool(self, name: str) -> Tool:
        return next(tool for tool in (await self.client.list_tools()).tools if tool.name == name)

    async def manifest(self, name: str) -> ToolManifest:
        return ToolManifest.model_validate(((await self.tool(name)).meta or {})[TOOL_META])


@asynccontextmanager
async def talking(
    connector: Connector, config: ConnectorConfig | None = None, *, state: Path | None = None
) -> AsyncGenerator[Talk]:
    server = connector.server(config or connector.config(), state=state)
    async with Client(server, mode="legacy") as client:
        yield Talk(client)
