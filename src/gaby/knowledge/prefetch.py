"""Work that goes on while its results are being used."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import TypeVar

T = TypeVar("T")


async def prefetch(stream: AsyncGenerator[T], depth: int = 1) -> AsyncGenerator[T]:
    """The same things in the same order, made in a task of their own, at most so many before they are wanted."""
    queue: asyncio.Queue[tuple[T] | None] = asyncio.Queue()
    slots = asyncio.Semaphore(depth)

    async def make() -> None:
        try:
            async with aclosing(stream):
                await slots.acquire()
                async for each in stream:
                    queue.put_nowait((each,))
                    await slots.acquire()
        finally:
            queue.put_nowait(None)

    maker = asyncio.create_task(make())
    try:
        while (each := await queue.get()) is not None:
            slots.release()
            yield each[0]
        await maker
    finally:
        maker.cancel()
        await asyncio.wait([maker])
        if not maker.cancelled():
            maker.exception()  # Who leaves early has a reason of their own, and does not want to hear of another.
