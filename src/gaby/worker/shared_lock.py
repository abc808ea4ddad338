"""A lock that many share, or one has alone: moves are made side by side, but one that may end its process is not."""

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager


class SharedLock:
    def __init__(self) -> None:
        self._sharing = 0
        self._wanting = 0
        """How many want to be alone, or are."""
        self._alone = False
        self._changed = asyncio.Event()

    @asynccontextmanager
    async def shared(self) -> AsyncGenerator[None]:
        """Beside others, as soon as nobody wants to be alone."""
        await self._until(lambda: not self._wanting)
        self._sharing += 1
        try:
            yield
        finally:
            self._sharing -= 1
            self._changed.set()

    @asynccontextmanager
    async def exclusive(self) -> AsyncGenerator[None]:
        """As soon as nobody shares it any more. Nobody else begins to until then."""
        self._wanting += 1
        try:
            await self._until(lambda: not self._sharing and not self._alone)
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
