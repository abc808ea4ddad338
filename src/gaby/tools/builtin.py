"""Gaby's own tools, as a connector inside the process: reading on in results that were too large to pass around."""

from collections.abc import Callable
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from gaby.kernel.ids import WorkspaceId
from gaby.mcp import SpillFolder, read_definitions
from gaby_connectors.sdk.manifest import SERVER_META, TOOL_META, ToolManifest

NAME = "gaby"
VERSION = "1.0.0"


class ReadResult(BaseModel):
    model_config = ConfigDict(extra="forbid")

    result_id: str = Field(description="The id that a shortened result gives.", pattern="^[0-9a-f]{32}$")
    page: int = Field(default=0, description="Which page, counted from 0.", ge=0, le=1_000_000)


TOOLS: list[dict[str, Any]] = [
    {
        "name": "read_result",
        "description": "Read a page of a result that was too large to be shown as a whole.",
        "inputSchema": ReadResult.model_json_schema(),
        "_meta": {TOOL_META: ToolManifest(scope="read", cache=False).model_dump(mode="json")},
    }
]
EXPERIMENTAL = {SERVER_META: {"version": VERSION}}
DEFINITIONS = read_definitions(TOOLS, server_name=NAME, server_version=VERSION, experimental=EXPERIMENTAL)


def server_maker(spill: SpillFolder) -> Callable[[WorkspaceId], Any]:
    """Makes the server for one workspace; it reads that workspace's results and no other's."""

    def make(workspace_id: WorkspaceId) -> Any:
        # Only when somebody reads on: it loads all of MCP.
        from gaby.tools.builtin_server import BuiltInServer

        return BuiltInServer(spill, workspace_id)

    return make
