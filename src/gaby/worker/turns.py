"""Turns: moves of several runs are made side by side, but one that may end its process is made alone."""

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager


class Turns:
    def __init__(self) -> None:
        self._moving = 0
        self._wanting = 0
        """How many want to be alone, or are."""
        self._alone = False
        self._changed = asyncio.Event()

    @asynccontextmanager
    async def beside(self) -> AsyncGenerator[None]:
        """Beside others, as soon as nobody wants to be alone."""
        await self._until(lambda: not self._wanting)
        self._moving += 1
        try:
            yield
        finally:
            self._moving -= 1
            self._changed.set()

    @asynccontextmanager
    async def alone(self) -> AsyncGenerator[None]:
        """As soon as the moves under way are made. No others begin until then."""
        self._wanting += 1
        try:
            await self._until(lambda: not self._moving and not self._alone)
            self._alone = True
            try:
                yield
            finally:
                self._alone = False
        finally:
            self._wanting -= 1
            self._changed.set()

    async def _until(self, ready: Callable[[], bool]) -> None:
        while not ready():
            self._changed.clear()
            await self._changed.wait()
