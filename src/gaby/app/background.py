"""Work that the server does by itself, in intervals."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from datetime import timedelta

from gaby.kernel.errors import GabyError
from gaby.kernel.log import get_log

log = get_log(__name__)


@asynccontextmanager
async def repeating(
    name: str, action: Callable[[], Awaitable[object]], *, first: timedelta, every: timedelta
) -> AsyncGenerator[None]:
    """Does the work in the background while the body runs. A failure is logged, and the next time comes anyway."""
    task = asyncio.create_task(_repeat(name, action, first, every), name=name)
    try:
        yield
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


async def _repeat(name: str, action: Callable[[], Awaitable[object]], first: timedelta, every: timedelta) -> None:
    pause = first
    while True:
        await asyncio.sleep(pause.total_seconds())
        try:
            await action()
        except (GabyError, OSError) as error:
            log.warning("background.failed", work=name, error=repr(error))
        pause = every
