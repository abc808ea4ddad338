"""A server that behaves, made with the SDK: it echoes, adds, tells who it is, and waits when told to."""

import asyncio
import os
import sys
from typing import Any

from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp_types import CallToolRequestParams, CallToolResult, ListToolsResult, TextContent, Tool

from gaby_connectors.sdk.manifest import TOOL_META

ANY = {"type": "object"}
SUM: dict[str, Any] = {"type": "object", "properties": {"sum": {"type": "integer"}}, "required": ["sum"]}
TOOLS = [
    Tool(name="echo", title="Echo", description="Says what it hears.", input_schema=ANY),
    Tool(name="add", input_schema=ANY, output_schema=SUM, _meta={TOOL_META: {"scope": "read"}}),
    Tool(name="whoami", input_schema=ANY),
    Tool(name="wait", input_schema=ANY),
    Tool(name="big", input_schema=ANY),
    Tool(name="fail", input_schema=ANY),
]


async def list_tools(_context: Any, _params: Any) -> ListToolsResult:
    return ListToolsResult(tools=TOOLS)


def said(text: str, **more: Any) -> CallToolResult:
    return CallToolResult(content=[TextContent(text=text)], **more)


async def call_tool(_context: Any, params: CallToolRequestParams) -> CallToolResult:
    arguments = params.arguments or {}
    match params.name:
        case "echo":
            return said(str(arguments.get("text", "")))
        case "add":
            total = arguments["a"] + arguments["b"]
            return said(str(total), structured_content={"sum": total})
        case "whoami":
            return said(str(os.getpid()), structured_content=dict(os.environ))
        case "wait":
            await asyncio.sleep(arguments.get("seconds", 0))
            return said("waited")
        case "big":
            return said("x" * arguments["size"])
        case "fail":
            return said(arguments["text"], is_error=True, _meta=arguments.get("meta"))
        case _:
            raise ValueError(f"no tool {params.name}")


def make_server() -> Server[Any]:
    return Server("good", version="1.0.0", on_list_tools=list_tools, on_call_tool=call_tool)


async def main() -> None:
    server = make_server()
    async with stdio_server() as (incoming, outgoing):
        await server.run(incoming, outgoing, server.create_initialization_options())


if __name__ == "__main__":
    sys.stderr.write("good server starts\n")
    asyncio.run(main())
