"""Work that goes on while its results are being used."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing, suppress
from typing import TypeVar

T = TypeVar("T")


async def ahead(stream: AsyncGenerator[T], depth: int = 1) -> AsyncGenerator[T]:
    """The same things in the same order, made in a task of their own, at most so many before they are wanted."""
    made: asyncio.Queue[tuple[T] | None] = asyncio.Queue(maxsize=depth)

    async def make() -> None:
        try:
            async with aclosing(stream):
                async for each in stream:
                    await made.put((each,))
        finally:
            with suppress(asyncio.CancelledError):
                await made.put(None)

    maker = asyncio.create_task(make())
    try:
        while (each := await made.get()) is not None:
            yield each[0]
        await maker
    finally:
        if not maker.done():
            maker.cancel()
            while not made.empty():
                made.get_nowait()
        with suppress(asyncio.CancelledError):
            await maker
