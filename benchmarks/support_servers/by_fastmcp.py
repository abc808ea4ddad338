"""Calls through a FastMCP proxy, which runs in an environment of its own."""

import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

from benchmarks.support_servers.by_sdk import connected
from benchmarks.support_servers.callers import ORDERS, CallOnce

# A connected client, which is the fastest of its ways: by default it shakes hands anew for each request.
_PROXY = """
import asyncio, os, sys
os.environ["FASTMCP_LOG_LEVEL"] = "ERROR"
from fastmcp import Client
from fastmcp.client.transports import StdioTransport
from fastmcp.server import create_proxy
async def main():
    async with Client(StdioTransport(sys.argv[1], sys.argv[2:])) as client:
        await create_proxy(client).run_stdio_async(show_banner=False, log_level="ERROR")
asyncio.run(main())
"""


@asynccontextmanager
async def open_way(_folder: Path, python: str) -> AsyncGenerator[CallOnce]:
    async with connected(python, ["-c", _PROXY, sys.executable, ORDERS]) as call:
        yield call
