"""The SDK again, with a row of bare SQLite on disk before and after each call: the least that a durable log costs."""

import asyncio
import sqlite3
from collections.abc import AsyncGenerator
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from pathlib import Path

from benchmarks.support_servers import by_sdk
from benchmarks.support_servers.callers import CallOnce


@asynccontextmanager
async def open_way(folder: Path, python: str) -> AsyncGenerator[CallOnce]:
    rows = sqlite3.connect(folder / "rows.db", isolation_level=None, check_same_thread=False)
    rows.execute("PRAGMA journal_mode = WAL")
    rows.execute("PRAGMA synchronous = FULL")
    rows.execute("CREATE TABLE rows (number INTEGER PRIMARY KEY, content TEXT)")
    with ThreadPoolExecutor(1) as thread:

        def keep() -> None:
            rows.execute("INSERT INTO rows (content) VALUES (?)", ("x" * 600,))

        async with by_sdk.open_way(folder, python) as call_sdk:

            async def call(number: int) -> None:
                loop = asyncio.get_running_loop()
                await loop.run_in_executor(thread, keep)
                await call_sdk(number)
                await loop.run_in_executor(thread, keep)

            yield call
    rows.close()
