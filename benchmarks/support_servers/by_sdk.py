"""Calls through the client of the MCP SDK as it comes, with its own stdio transport."""

import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client

from benchmarks.support_servers.callers import ORDERS, CallOnce, arguments


@asynccontextmanager
async def open_way(_folder: Path, _python: str) -> AsyncGenerator[CallOnce]:
    async with connected(sys.executable, [ORDERS]) as call:
        yield call


@asynccontextmanager
async def connected(command: str, args: list[str]) -> AsyncGenerator[CallOnce]:
    async with Client(stdio_client(StdioServerParameters(command=command, args=args))) as client:

        async def call(number: int) -> None:
            result = await client.call_tool("read_order", arguments(number))
            assert result.structured_content is not None, result
            assert result.structured_content["state"] == "shipped"

        yield call
