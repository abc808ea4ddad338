"""Schedules: what one process does for the whole installation, as long as any process is alive.

Whoever leads counts up in the database every few seconds. The others watch the count, each by its own clock for spans:
one that stands still for longer than a leader may be silent belongs to somebody who is gone. No wall clock has a say in
it, so that clocks which differ or are set back stop nothing.
"""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, cast

from sqlalchemy import CursorResult, delete, select, update

from gaby.kernel.clock import Clock
from gaby.kernel.database import AllWorkspaces, Database, ReadSession, WriteSession
from gaby.kernel.errors import GabyError
from gaby.kernel.log import get_log
from gaby.worker.models import Leader, ScheduleRecord

_ROLE = "schedules"
_ALL = AllWorkspaces("schedules serve every workspace")
_GRACE = timedelta(minutes=2)
"""How late a schedule may be before somebody is told: a leader may have to be followed by another."""
_LONGEST = timedelta(hours=6)
_SAME_TIME = timedelta(seconds=5)
"""Clocks of several machines differ by so much without anybody having set them."""
_log = get_log(__name__)
OnSetBack = Callable[[], Awaitable[object]]


@dataclass(frozen=True)
class Schedule:
    name: str
    every: timedelta
    work: Callable[[], Awaitable[object]]
    first: timedelta
    """How long after the start."""


@dataclass(frozen=True)
class ScheduleHealth:
    name: str
    late: timedelta
    """How long nobody has done it though it is due; zero if all is well."""
    problem: str | None
    """Why it failed the last time."""


@dataclass
class _ScheduleState:
    due_at: datetime
    began_at: datetime | None = None
    ran_at: datetime | None = None
    problem: str | None = None


class Schedules:
    def __init__(
        self,
        database: Database,
        clock: Clock,
        holder: str,
        schedules: Sequence[Schedule],
        *,
        beat: timedelta = timedelta(seconds=5),
        silence: timedelta = timedelta(seconds=15),
        on_set_back: OnSetBack | None = None,
    ) -> None:
        self._database = database
        self._clock = clock
        self._holder = holder
        self._schedules = schedules
        self._beat = beat.total_seconds()
        self._silence = silence.total_seconds()
        self._on_set_back = on_set_back
        self._seen: tuple[str | None, int] | None = None
        self._seen_at = 0.0
        self._leads_until = float("-inf")
        self._tasks: set[asyncio.Task[None]] = set()
        self._states: dict[str, _ScheduleState] = {}

    @property
    def leads(self) -> bool:
        """Whether nobody else can have taken over. A process that stood still for a while finds out by this."""
        return self._clock.monotonic() < self._leads_until

    @asynccontextmanager
    async def running(self) -> AsyncGenerator[None]:
        task = asyncio.create_task(self._run(), name="schedules")
        try:
            yield
        finally:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
            await self._stop()
            await self._step_down()

    async def _run(self) -> None:
        while True:
            # Whatever goes wrong, the next beat comes: a process that stopped contending would be missed by nobody.
            [leads] = await asyncio.gather(self.contend(), return_exceptions=True)
            if isinstance(leads, BaseException):
                # Without the database nobody leads; whoever led before stops when the time is over.
                _log.warning("schedules.unavailable", exc_info=None if isinstance(leads, GabyError) else leads)
                leads = self.leads
            if leads and not self._tasks:
                self._start()
            elif not leads and self._tasks:
                _log.warning("schedules.lost")
                await self._stop()
            await asyncio.sleep(self._beat)

    async def contend(self) -> bool:
        """One beat: go on leading, take over, or see that somebody else leads."""
        # From before the database is asked, so that a slow answer makes the time shorter and never longer.
        now = self._clock.monotonic()
        async with self._database.read(_ALL) as session:
            row = await session.get_one(Leader, _ROLE)
            leader, seen_at = (row.holder, row.beat), row.seen_at
        if leader != self._seen:
            self._seen, self._seen_at = leader, now
        holder, beat = leader
        is_silent = now - self._seen_at >= self._silence
        if holder is not None and holder != self._holder and not is_silent:
            self._leads_until = float("-inf")
            return False
        if seen_at > self._clock.now() + _SAME_TIME and self._on_set_back is not None:
            # What waits for a time of day would wait until that time comes a second time. Before the new time is
            # written down, so that the next beat does it if this one fails.
            _log.warning("clock.set_back", to=str(self._clock.now()), after=str(seen_at))
            await self._on_set_back()
        async with self._database.write(_ALL) as session:
            won = await self._take(session, holder, beat)
            if won:
                await self._record(session, afresh=holder != self._holder)
        if won:
            if holder != self._holder:
                _log.info("schedules.lead", after=holder)
            self._seen, self._seen_at = (self._holder, beat + 1), now
            self._leads_until = now + self._silence
        return won

    async def _take(self, session: WriteSession, holder: str | None, beat: int) -> bool:
        """Only if nobody has counted on in the meantime."""
        unchanged = Leader.holder.is_(None) if holder is None else Leader.holder == holder
        statement = (
            update(Leader)
            .where(Leader.role == _ROLE, unchanged, Leader.beat == beat)
            .values(holder=self._holder, beat=beat + 1, seen_at=self._clock.now())
        )
        return cast("CursorResult[Any]", await session.execute(statement)).rowcount == 1

    async def _record(self, session: WriteSession, *, afresh: bool) -> None:
        """When each was done last, for whoever asks."""
        if afresh:
            await session.execute(
                delete(ScheduleRecord).where(ScheduleRecord.name.not_in([each.name for each in self._schedules]))
            )
        for each in self._schedules:
            state = self._states.get(each.name)
            row = await session.get(ScheduleRecord, each.name)
            seconds = max(1, round(each.every.total_seconds()))
            if row is None:
                due_at = self._clock.now() + each.first
                row = ScheduleRecord(name=each.name, every_seconds=seconds, due_at=due_at)
                session.add(row)
            row.every_seconds = seconds
            if state is not None:
                row.due_at, row.began_at, row.problem = state.due_at, state.began_at, state.problem
                row.ran_at = state.ran_at or row.ran_at
            elif afresh:
                row.began_at = None

    def _start(self) -> None:
        for each in self._schedules:
            task = asyncio.create_task(self._repeat(each), name=each.name)
            self._tasks.add(task)

    async def _stop(self) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        self._tasks.clear()
        self._states.clear()

    async def _step_down(self) -> None:
        """So that the next need not wait until the silence is long enough."""
        if not self.leads:
            return
        try:
            async with self._database.write(_ALL) as session:
                mine = update(Leader).where(Leader.role == _ROLE, Leader.holder == self._holder)
                await session.execute(mine.values(holder=None))
        except GabyError as error:
            _log.warning("schedules.unavailable", error=error.message)

    async def _repeat(self, schedule: Schedule) -> None:
        pause = schedule.first
        while True:
            self._states[schedule.name] = self._states.get(schedule.name) or _ScheduleState(self._clock.now() + pause)
            await asyncio.sleep(pause.total_seconds())
            if self.leads:
                await self._do(schedule)
                pause = schedule.every
            else:
                # A slow database: once it is known again who leads, what is due is not put off for a whole period.
                pause = min(schedule.every, timedelta(seconds=self._beat))

    async def _do(self, schedule: Schedule) -> None:
        """A failure is told, and the next time comes anyway, whatever went wrong."""
        state = self._states[schedule.name]
        state.began_at = self._clock.now()
        [outcome] = await asyncio.gather(schedule.work(), return_exceptions=True)
        state.began_at, state.problem = None, None
        state.due_at = self._clock.now() + schedule.every
        if isinstance(outcome, BaseException):
            state.problem = f"{type(outcome).__name__}: {outcome}"[:300]
            known = isinstance(outcome, GabyError | OSError)
            _log.warning("schedule.failed", schedule=schedule.name, exc_info=None if known else outcome)
        else:
            state.ran_at = self._clock.now()


async def schedule_health(session: ReadSession, now: datetime) -> list[ScheduleHealth]:
    """Each schedule; late is what is due for longer than a change of leaders takes, or under way for hours."""
    leader = await session.get(Leader, _ROLE)
    somebody_leads = leader is not None and leader.holder is not None and now - leader.seen_at < _GRACE
    health_reports: list[ScheduleHealth] = []
    for row in (await session.scalars(select(ScheduleRecord).order_by(ScheduleRecord.name))).all():
        late = now - row.due_at
        works = somebody_leads and row.began_at is not None and now - row.began_at < _LONGEST
        is_late = late > _GRACE and not works
        health_reports.append(ScheduleHealth(row.name, late if is_late else timedelta(), row.problem))
    return health_reports
