"""Calls through Gaby: decided, redacted, and two rows of the audit log on disk for each."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

from benchmarks.support_servers.callers import ORDERS, CallOnce, arguments
from benchmarks.support_servers.scene import open_scene
from gaby.tools import Run

CALLS_PER_RUN = 25
"""About what an investigation needs."""


@asynccontextmanager
async def open_way(folder: Path, _python: str) -> AsyncGenerator[CallOnce]:
    async with open_scene(folder, ORDERS) as scene:
        runs: dict[int, Run] = {}

        async def call(number: int) -> None:
            place = number // CALLS_PER_RUN
            run = runs.get(place)
            if run is None:
                runs.clear()
                run = runs[place] = scene.run()
            await scene.read(run, "read_order", arguments(number))

        yield call
