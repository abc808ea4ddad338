"""The runner: investigations side by side in one process, be it a server or a worker.

A run that was interrupted from outside is taken up again and again. Only what fails by itself is given up.
"""

import asyncio
import os
import secrets
import socket
import traceback
from collections.abc import Callable
from contextlib import suppress
from datetime import timedelta
from typing import TYPE_CHECKING

from gaby.agent.queue import MOST_FAILURES, ClaimedRun, RunQueue
from gaby.agent.service import Agent
from gaby.agent.transitions import LeaseLost
from gaby.kernel.clock import Clock
from gaby.kernel.errors import GabyError, Unavailable
from gaby.kernel.log import get_log
from gaby.worker.shared_lock import SharedLock

if TYPE_CHECKING:
    from gaby.agent.loop import InvestigationLoop
    from gaby.agent.run_context import InvestigationContext

_log = get_log(__name__)
_PAUSE = 1.0
"""After the database did not answer."""
_AGAIN = timedelta(seconds=10)
"""After something that a run needs did not answer, or after an error of its own."""
_LONGEST_MOVE = 1800.0
"""Whatever a move waits for has a time limit of its own. A move that takes longer than all of them waits for ever."""
_MARGIN = 5.0


def worker_name() -> str:
    """Tells processes apart, on whatever machine."""
    return f"{socket.gethostname()[:60]}-{os.getpid()}-{secrets.token_hex(3)}"


class Runner:
    def __init__(
        self,
        agent: Agent,
        clock: Clock,
        *,
        slots: int,
        poll_every: timedelta,
        longest_call: float = 60.0,
        started_at: float | None = None,
    ) -> None:
        """`started_at` is when the process began to live, by the monotonic clock; now, if nobody says."""
        self._agent = agent
        self._clock = clock
        self.slots = slots
        self._poll_every = poll_every.total_seconds()
        self._longest_call = longest_call
        self._wake = asyncio.Event()
        self._stopping = False
        self._name = worker_name()
        self._moving = SharedLock()
        self._started_at = clock.monotonic() if started_at is None else started_at
        self._tasks: dict[asyncio.Task[None], ClaimedRun] = {}

    @property
    def busy(self) -> int:
        return len(self._tasks)

    def schedule(self) -> None:
        """There is something to do. Only to be faster: whoever is not told finds out by looking."""
        self._wake.set()

    async def run(self) -> None:
        """Until `stop`."""
        while not self._stopping:
            self._wake.clear()
            claimed = await self._claim()
            if self._stopping:
                # Asked to stop while it was claiming.
                for each in claimed:
                    await self._give_back(each)
                return
            for each in claimed:
                task = asyncio.create_task(self._supervise(each), name=f"run {each.lease.run_id}")
                self._tasks[task] = each
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
        """Let each finish its present move, then leave the rest to others. What changes something is waited for as long
        as a call may take: cut off in the middle, nobody could say whether it was done."""
        self.finish()
        late = await self._left(patience, lambda _: True)
        for task in late:
            if not self._changes(self._tasks[task]):
                task.cancel()
        late = await self._left(self._longest_call + _MARGIN, self._changes)
        for task in late:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def _changes(self, claimed: ClaimedRun) -> bool:
        return self._agent.audit.changes_under_way(claimed.lease.run_id)

    async def _left(self, patience: float, matters: Callable[[ClaimedRun], bool]) -> set[asyncio.Task[None]]:
        """Which are still under way when the time is over, or when only such are left that do not matter."""
        time = asyncio.get_running_loop().time
        until = time() + patience
        while waiting := {task for task, each in self._tasks.items() if matters(each)}:
            if (left := until - time()) <= 0:
                break
            await asyncio.wait(waiting, timeout=min(left, 0.2), return_when=asyncio.FIRST_COMPLETED)
        return set(self._tasks)

    async def run_one(self) -> bool:
        """Carry on whatever is due most, here and now. False when nothing is, or when it is time to stop."""
        if self._stopping:
            return False
        claimed = await self._agent.queue.claim(self._name, suspects=self._is_quiet())
        for each in claimed:
            await self._supervise(each)
        return bool(claimed)

    def _is_quiet(self) -> bool:
        """Whether this process has lived for a while. In one that is killed again and again, a death proves nothing."""
        return self._clock.monotonic() - self._started_at >= self._agent.queue.lease.total_seconds() / 2

    async def _claim(self) -> list[ClaimedRun]:
        free = self.slots - self.busy
        if free <= 0:
            return []
        # Whatever goes wrong, it is looked again: a runner that stopped looking would be missed by nobody.
        claiming = self._agent.queue.claim(self._name, free, suspects=self._is_quiet())
        [claimed] = await asyncio.gather(claiming, return_exceptions=True)
        if isinstance(claimed, BaseException):
            _log.warning("queue.unavailable", exc_info=None if isinstance(claimed, GabyError) else claimed)
            await asyncio.sleep(_PAUSE)
            return []
        return claimed

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._tasks.pop(task, None)
        self._wake.set()

    async def _supervise(self, claimed: ClaimedRun) -> None:
        """Carry it on as long as it is ours. However that ends, it is told."""
        running = asyncio.create_task(self.carry_on(claimed))
        lease_keeper = asyncio.create_task(keep_lease(self._agent.queue, claimed, running))
        try:
            await asyncio.wait({running})
        except asyncio.CancelledError:
            lease_keeper.cancel()
            running.cancel()
            await asyncio.gather(running, lease_keeper, return_exceptions=True)
            await self._give_back(claimed)
            raise
        finally:
            lease_keeper.cancel()
            await asyncio.gather(lease_keeper, return_exceptions=True)
        report(claimed, running)
        error = None if running.cancelled() else running.exception()
        if isinstance(error, Unavailable):
            await self._give_back(claimed, _AGAIN)
        elif error is not None and not isinstance(error, LeaseLost):
            await self._failed(claimed)

    async def carry_on(self, claimed: ClaimedRun) -> None:
        """One run, as far as it goes."""
        loop, queue = self._agent.loop, self._agent.queue
        if claimed.failures >= 2 * MOST_FAILURES:
            # Not even its end could be written.
            await queue.abandon(claimed.lease, f"It failed {claimed.failures} times, and never got any further.")
            return
        if claimed.is_suspect:
            async with self._moving.exclusive():
                await queue.begin_alone(claimed)
                run, goes_on = await self._take_up(loop, claimed)
        else:
            async with self._moving.shared():
                run, goes_on = await self._take_up(loop, claimed)
        while goes_on:
            if self._stopping:
                await loop.put_down(run)
                return
            async with self._moving.shared():
                goes_on = await self._move(loop, run)

    async def _take_up(self, loop: "InvestigationLoop", claimed: ClaimedRun) -> "tuple[InvestigationContext, bool]":
        run = await loop.resume(claimed)
        return run, await self._move(loop, run)

    async def _move(self, loop: "InvestigationLoop", run: "InvestigationContext") -> bool:
        """One move, in a task of its own, since a bug may do anything. Whether it can go on at once."""
        moving = asyncio.create_task(loop.step(run))
        try:
            done, _ = await asyncio.wait({moving}, timeout=_LONGEST_MOVE)
        except asyncio.CancelledError:
            moving.cancel()
            await asyncio.gather(moving, return_exceptions=True)
            raise
        if not done:
            moving.cancel()
            await asyncio.gather(moving, return_exceptions=True)
            error: BaseException | None = TimeoutError("A move took too long.")
        elif moving.cancelled():
            raise asyncio.CancelledError
        else:
            error = moving.exception()
        if error is None:
            return moving.result()
        if isinstance(error, LeaseLost | Unavailable):
            raise error
        # A bug of ours, or something that no try will mend. It ends here, told with all that is known, and a person
        # looks.
        await loop.fail(run, error, "".join(traceback.format_exception(error))[-8000:])
        return False

    async def _failed(self, claimed: ClaimedRun) -> None:
        """It could not even be taken up, or its end could not be written, by an error of its own."""
        queue = self._agent.queue
        with suppress(GabyError):
            failures = await queue.failed(claimed.lease, after=_AGAIN, counted=claimed.is_suspect)
            if failures >= MOST_FAILURES:
                await queue.abandon(claimed.lease, f"It failed {failures} times, and never got any further.")

    async def _give_back(self, claimed: ClaimedRun, after: timedelta | None = None) -> None:
        """It was no fault of the run. Where not even that can be written, the lease ends by itself."""
        with suppress(GabyError):
            await self._agent.queue.give_back(claimed.lease, after=after, forgive=claimed.is_suspect)


async def keep_lease(queue: RunQueue, claimed: ClaimedRun, running: asyncio.Task[None]) -> None:
    """A slow model must not cost us the run. When it is lost all the same, we stop."""
    while True:
        await asyncio.sleep(queue.lease.total_seconds() / 3)
        try:
            ours = await queue.renew(claimed.lease)
        except GabyError as error:
            _log.warning("lease.not_renewed", run=str(claimed.lease.run_id), error=error.message)
            continue
        if not ours:
            running.cancel()
            return


def report(claimed: ClaimedRun, running: asyncio.Task[None]) -> None:
    run = str(claimed.lease.run_id)
    if running.cancelled():
        _log.warning("run.given_up", run=run, why="another worker has it, or this one stops")
        return
    error = running.exception()
    if isinstance(error, LeaseLost):
        _log.warning("run.lease_lost", run=run)
    elif isinstance(error, GabyError):
        # It is due again in a while.
        _log.warning("run.interrupted", run=run, error=error.message)
    elif error is not None:
        _log.error("run.broken", run=run, exc_info=error)
