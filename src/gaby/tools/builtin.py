"""Gaby's own tools, as a connector inside the process: reading on in results that were too large to pass around."""

from collections.abc import Callable
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from gaby.kernel.errors import GabyError
from gaby.kernel.ids import WorkspaceId
from gaby.mcp import SpillFolder, read_definitions
from gaby_connectors.sdk.manifest import SERVER_META, TOOL_META, ToolManifest

NAME = "gaby"
_VERSION = "1.0.0"


class ReadResult(BaseModel):
    model_config = ConfigDict(extra="forbid")

    result_id: str = Field(description="The id that a shortened result gives.", pattern="^[0-9a-f]{32}$")
    page: int = Field(default=0, description="Which page, counted from 0.", ge=0, le=1_000_000)


_TOOLS: list[dict[str, Any]] = [
    {
        "name": "read_result",
        "description": "Read a page of a result that was too large to be shown as a whole.",
        "inputSchema": ReadResult.model_json_schema(),
        "_meta": {TOOL_META: ToolManifest(scope="read", cache=False).model_dump(mode="json")},
    }
]
DEFINITIONS = read_definitions(
    _TOOLS, server_name=NAME, server_version=_VERSION, experimental={SERVER_META: {"version": _VERSION}}
)


def server_maker(spill: SpillFolder) -> Callable[[WorkspaceId], Any]:
    """Makes the server for one workspace; it reads that workspace's results and no other's."""

    def make(workspace_id: WorkspaceId) -> Any:
        from mcp.server.lowlevel import NotificationOptions, Server
        from mcp.types import CallToolResult, ListToolsResult, TextContent, Tool

        class BuiltIn(Server[Any]):
            def create_initialization_options(
                self,
                notification_options: NotificationOptions | None = None,
                experimental_capabilities: dict[str, dict[str, Any]] | None = None,
                extensions: dict[str, dict[str, Any]] | None = None,
            ) -> Any:
                return super().create_initialization_options(
                    notification_options, {SERVER_META: {"version": _VERSION}}, extensions
                )

        async def list_tools(_context: Any, _params: Any) -> ListToolsResult:
            return ListToolsResult(tools=[Tool.model_validate(tool) for tool in _TOOLS])

        async def call_tool(_context: Any, params: Any) -> CallToolResult:
            try:
                asked = ReadResult.model_validate(params.arguments or {})
                page = await spill.read(workspace_id, asked.result_id, asked.page)
            except (ValidationError, GabyError) as error:
                return CallToolResult(content=[TextContent(type="text", text=str(error))], is_error=True)
            return CallToolResult(content=[TextContent(type="text", text=page)])

        return BuiltIn(NAME, version=_VERSION, on_list_tools=list_tools, on_call_tool=call_tool)

    return make
