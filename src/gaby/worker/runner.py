"""The embedded runner: investigations side by side in the server's own event loop."""

import asyncio
import os
import secrets
import socket
import traceback
from collections.abc import Callable
from contextlib import suppress
from datetime import timedelta
from typing import TYPE_CHECKING

from gaby.agent.edges import LeaseLost
from gaby.agent.queue import MOST_TRIES, Claimed, Queue
from gaby.agent.service import Agent
from gaby.kernel.clock import Clock
from gaby.kernel.errors import GabyError, Unavailable
from gaby.kernel.log import get_log

if TYPE_CHECKING:
    from gaby.agent.loop import Loop
    from gaby.agent.moves import Investigating

_log = get_log(__name__)
Stopping = Callable[[], bool]
_PAUSE = 1.0
"""After the database did not answer."""


def worker_name() -> str:
    """Tells processes apart, on whatever machine."""
    return f"{socket.gethostname()[:60]}-{os.getpid()}-{secrets.token_hex(3)}"


class Runner:
    def __init__(self, agent: Agent, clock: Clock, *, slots: int, poll_every: timedelta) -> None:
        self._agent = agent
        self._clock = clock
        self.slots = slots
        self._poll_every = poll_every.total_seconds()
        self._wake = asyncio.Event()
        self._stopping = False
        self._name = worker_name()
        self._tasks: set[asyncio.Task[None]] = set()

    @property
    def busy(self) -> int:
        return len(self._tasks)

    def schedule(self) -> None:
        """There is something to do. Only to be faster: whoever is not told finds out by looking."""
        self._wake.set()

    async def work(self) -> None:
        """Until `stop`."""
        while not self._stopping:
            self._wake.clear()
            claimed = await self._claim()
            for each in claimed:
                task = asyncio.create_task(self._carry_on(each), name=f"run {each.lease.run_id}")
                self._tasks.add(task)
                task.add_done_callback(self._ended)
            if not claimed or self.busy >= self.slots:
                with suppress(TimeoutError):
                    async with asyncio.timeout(self._poll_every):
                        await self._wake.wait()

    def finish(self) -> None:
        """Take up nothing more; what is under way stops after its present move."""
        self._stopping = True
        self._wake.set()

    async def stop(self, patience: float = 10.0) -> None:
        """Let each finish its present move, then leave the rest to others."""
        self.finish()
        if self._tasks:
            _, late = await asyncio.wait(set(self._tasks), timeout=patience)
            for task in late:
                task.cancel()
            await asyncio.gather(*late, return_exceptions=True)

    async def due(self, most: int) -> int:
        """How many are due that nobody holds, at most so many."""
        return await self._agent.queue.due(most)

    async def work_one(self) -> bool:
        """Carry on whatever is due most, here and now. False when nothing is, or when it is time to stop."""
        if self._stopping:
            return False
        claimed = await self._agent.queue.claim(self._name)
        for each in claimed:
            await self._carry_on(each)
        return bool(claimed)

    async def _claim(self) -> list[Claimed]:
        free = self.slots - self.busy
        if free <= 0:
            return []
        try:
            return await self._agent.queue.claim(self._name, free)
        except GabyError as error:
            _log.warning("queue.unavailable", error=error.message)
            await asyncio.sleep(_PAUSE)
            return []

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        self._wake.set()

    async def _carry_on(self, claimed: Claimed) -> None:
        work = asyncio.create_task(carry_on(self._agent.loop, claimed, lambda: self._stopping))
        keep = asyncio.create_task(_keep_lease(self._agent.queue, claimed, work))
        try:
            await asyncio.wait({work})
        except asyncio.CancelledError:
            work.cancel()
            await asyncio.gather(work, return_exceptions=True)
            raise
        finally:
            keep.cancel()
            await asyncio.gather(keep, return_exceptions=True)
        report(claimed, work)
        if claimed.tries > MOST_TRIES and not work.cancelled() and work.exception() is not None:
            told = f"It was taken up {claimed.tries} times and never got any further."
            await self._agent.queue.abandon(claimed.lease, told)


async def carry_on(loop: "Loop", claimed: Claimed, stopping: Stopping) -> None:
    """One run, as far as it goes."""
    run = await loop.resume(claimed)
    moving = asyncio.create_task(_moves(loop, run, stopping))
    try:
        await asyncio.wait({moving})
    except asyncio.CancelledError:
        moving.cancel()
        await asyncio.gather(moving, return_exceptions=True)
        raise
    error = moving.exception() if not moving.cancelled() else None
    if error is None:
        return
    if isinstance(error, LeaseLost | Unavailable | asyncio.CancelledError):
        raise error
    # A bug of ours, or something that no try will mend. It ends here, told with all that is known, and a person looks.
    await loop.fail(run, error, "".join(traceback.format_exception(error))[-8000:])


async def _moves(loop: "Loop", run: "Investigating", stopping: Stopping) -> None:
    while await loop.step(run):
        if stopping():
            await loop.put_down(run)
            return


async def _keep_lease(queue: Queue, claimed: Claimed, work: asyncio.Task[None]) -> None:
    """A slow model must not cost us the run. When it is lost all the same, we stop."""
    while True:
        await asyncio.sleep(queue.lease.total_seconds() / 3)
        try:
            ours = await queue.renew(claimed.lease)
        except GabyError as error:
            _log.warning("lease.not_renewed", run=str(claimed.lease.run_id), error=error.message)
            continue
        if not ours:
            work.cancel()
            return


def report(claimed: Claimed, work: asyncio.Task[None]) -> None:
    run = str(claimed.lease.run_id)
    if work.cancelled():
        _log.warning("run.given_up", run=run, why="another worker has it, or this one stops")
        return
    error = work.exception()
    if isinstance(error, LeaseLost):
        _log.warning("run.lease_lost", run=run)
    elif isinstance(error, GabyError):
        # It is due again as soon as its lease ends.
        _log.warning("run.interrupted", run=run, error=error.message)
    elif error is not None:
        _log.error("run.broken", run=run, exc_info=error)
