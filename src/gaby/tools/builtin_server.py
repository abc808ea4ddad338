"""The MCP server behind Gaby's own tools. Loads the MCP SDK, so it is imported only when it is needed."""

from typing import Any

from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.types import (
    CallToolRequestParams,
    CallToolResult,
    DiscoverResult,
    ListToolsResult,
    PaginatedRequestParams,
    RequestParams,
    TextContent,
    Tool,
)
from mcp.types.version import MODERN_PROTOCOL_VERSIONS
from pydantic import ValidationError

from gaby.kernel.errors import GabyError
from gaby.kernel.ids import WorkspaceId
from gaby.mcp import SpillFolder
from gaby.tools.builtin import EXPERIMENTAL, NAME, TOOLS, VERSION, ReadResult


class BuiltInServer(Server[Any]):
    def __init__(self, spill: SpillFolder, workspace_id: WorkspaceId) -> None:
        super().__init__(NAME, version=VERSION, on_list_tools=self._list_tools, on_call_tool=self._call_tool)
        self._spill = spill
        self._workspace_id = workspace_id
        self.add_request_handler("server/discover", RequestParams, self._discover)

    async def _list_tools(
        self, _context: ServerRequestContext[Any], _params: PaginatedRequestParams | None
    ) -> ListToolsResult:
        return ListToolsResult(tools=[Tool.model_validate(tool) for tool in TOOLS])

    async def _call_tool(self, _context: ServerRequestContext[Any], params: CallToolRequestParams) -> CallToolResult:
        try:
            asked = ReadResult.model_validate(params.arguments or {})
            page = await self._spill.read(self._workspace_id, asked.result_id, asked.page)
        except (ValidationError, GabyError) as error:
            return CallToolResult(content=[TextContent(type="text", text=str(error))], is_error=True)
        return CallToolResult(content=[TextContent(type="text", text=page)])

    async def _discover(self, context: ServerRequestContext[Any], _params: RequestParams) -> DiscoverResult:
        capabilities = self.get_capabilities(
            experimental_capabilities=EXPERIMENTAL, protocol_version=context.protocol_version
        )
        return DiscoverResult(supported_versions=list(MODERN_PROTOCOL_VERSIONS), capabilities=capabilities)
