"""The ways to call a tool that are compared, each in a process of its own: `python -m ... WAY FOLDER [FASTMCP]`.

It reads orders as lines of JSON and answers each with what it cost: its own processor time and that of all servers.
"""

import asyncio
import json
import sys
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any

import psutil

ORDERS = str(Path(__file__).parent / "orders.py")
CALLS_PER_RUN = 25
"""About what an investigation needs."""

CallOnce = Callable[[int], Awaitable[None]]

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


def arguments(number: int) -> dict[str, Any]:
    """About 200 bytes, different each time."""
    asked = "where it is now, who signed for it, whether the carrier tried to deliver it, and what we promised then"
    return {"order_id": f"ord-{number:06}", "about": f"The customer asks for the {number}th time {asked}."}


@asynccontextmanager
async def through_gaby(folder: Path, _fastmcp: str) -> AsyncGenerator[CallOnce]:
    from benchmarks.support_servers.scene import open_scene

    async with open_scene(folder, ORDERS) as scene:
        runs: dict[int, Any] = {}

        async def call(number: int) -> None:
            place = number // CALLS_PER_RUN
            run = runs.get(place)
            if run is None:
                runs.clear()
                run = runs[place] = scene.run()
            await scene.read(run, "read_order", arguments(number))

        yield call


@asynccontextmanager
async def through_the_sdk(_folder: Path, _fastmcp: str) -> AsyncGenerator[CallOnce]:
    async with _sdk_client(sys.executable, [ORDERS]) as call:
        yield call


@asynccontextmanager
async def through_fastmcp(_folder: Path, fastmcp: str) -> AsyncGenerator[CallOnce]:
    async with _sdk_client(fastmcp, ["-c", _PROXY, sys.executable, ORDERS]) as call:
        yield call


@asynccontextmanager
async def _sdk_client(command: str, args: list[str]) -> AsyncGenerator[CallOnce]:
    from mcp import Client, StdioServerParameters
    from mcp.client.stdio import stdio_client

    async with Client(stdio_client(StdioServerParameters(command=command, args=args))) as client:

        async def call(number: int) -> None:
            result = await client.call_tool("read_order", arguments(number))
            assert result.structured_content is not None, result
            assert result.structured_content["state"] == "shipped"

        yield call


WAYS: Mapping[str, Callable[[Path, str], AbstractAsyncContextManager[CallOnce]]] = {
    "gaby": through_gaby,
    "sdk": through_the_sdk,
    "fastmcp": through_fastmcp,
}


async def measure(call: CallOnce, first: int, calls: int, at_once: int) -> dict[str, float]:
    numbers = iter(range(first, first + calls))

    async def task() -> None:
        for number in numbers:
            await call(number)

    servers, own, begin = _servers(), time.process_time(), time.perf_counter()
    await asyncio.gather(*(task() for _ in range(at_once)))
    wall, own = time.perf_counter() - begin, time.process_time() - own
    return {"client": own, "servers": _servers() - servers, "wall": wall}


def _servers() -> float:
    """Processor seconds of every process below this one."""
    spent = [child.cpu_times() for child in psutil.Process().children(recursive=True)]
    return sum(each.user + each.system for each in spent)


async def main() -> None:
    way, folder, fastmcp = sys.argv[1:4]
    async with WAYS[way](Path(folder), fastmcp) as call:
        done = 0
        while line := await asyncio.to_thread(sys.stdin.readline):
            order = json.loads(line)
            figures = await measure(call, done, order["calls"], order["at_once"])
            done += order["calls"]
            print(json.dumps(figures), flush=True)


if __name__ == "__main__":
    asyncio.run(main())
