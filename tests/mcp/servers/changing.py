"""A server of the newer protocol, made with the SDK, that grows a tool and tells those who asked to be told."""

from mcp.server.mcpserver import Context, MCPServer


def make_server() -> MCPServer:
    server = MCPServer("changing", version="1.0.0")

    async def grow(context: Context) -> str:
        """Grows a tool."""
        server.add_tool(_grown, name="grown", description="It was not there before.")
        await context.notify_tools_changed()
        return "grown"

    server.add_tool(grow)
    return server


async def _grown() -> str:
    return "here"


if __name__ == "__main__":
    make_server().run("stdio")
