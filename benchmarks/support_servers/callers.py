"""The ways to call a tool that are compared, each in a process of its own: `python -m ... WAY FOLDER PYTHON`.

It reads orders as lines of JSON and answers each with what it cost: its own processor time and that of all servers.
"""

import asyncio
import json
import sys
import time
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from importlib import import_module
from pathlib import Path
from typing import Any

import psutil

ORDERS = str(Path(__file__).parent / "orders.py")
CallOnce = Callable[[int], Awaitable[None]]


def arguments(number: int) -> dict[str, Any]:
    """About 200 bytes, different each time."""
    asked = "where it is now, who signed for it, whether the carrier tried to deliver it, and what we promised then"
    return {"order_id": f"ord-{number:06}", "about": f"The customer asks for the {number}th time {asked}."}


WAYS = {
    "gaby": "benchmarks.support_servers.by_gaby",
    "sdk": "benchmarks.support_servers.by_sdk",
    "sdk_and_disk": "benchmarks.support_servers.by_sdk_and_disk",
    "fastmcp": "benchmarks.support_servers.by_fastmcp",
}
"""Loaded by name, so that each process holds only what its way needs."""


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
    way, folder, python = sys.argv[1:4]
    opened: AbstractAsyncContextManager[CallOnce] = import_module(WAYS[way]).open_way(Path(folder), python)
    async with opened as call:
        done = 0
        while line := await asyncio.to_thread(sys.stdin.readline):
            order = json.loads(line)
            figures = await measure(call, done, order["calls"], order["at_once"])
            done += order["calls"]
            print(json.dumps(figures), flush=True)


if __name__ == "__main__":
    asyncio.run(main())
