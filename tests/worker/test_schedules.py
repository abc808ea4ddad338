"""What is done once for the whole installation is done as long as any process lives, by one at a time."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import timedelta

import pytest

from gaby.app.checks import schedules_check
from gaby.kernel.checks import Check
from gaby.kernel.clock import ManualClock
from gaby.kernel.database import AllWorkspaces, Database, open_database
from gaby.worker.schedules import Schedule, Schedules, schedule_health

pytestmark = pytest.mark.promise("Q3", "Q6")
MOMENT = timedelta(milliseconds=20)
SILENCE = timedelta(seconds=15)
ALL = AllWorkspaces("a test looks at schedules")


@pytest.fixture
async def database(database_url: str) -> AsyncGenerator[Database]:
    opened = open_database(database_url)
    yield opened
    await opened.close()


class Work:
    def __init__(self) -> None:
        self.done = 0
        self.error: Exception | None = None

    async def do(self) -> None:
        self.done += 1
        if self.error is not None:
            raise self.error

    async def again(self, times: int = 2) -> None:
        wanted = self.done + times
        for _ in range(500):
            if self.done >= wanted:
                return
            await asyncio.sleep(0.02)
        raise AssertionError("it is not done any more")


def process(database: Database, clock: ManualClock, name: str, work: Work) -> Schedules:
    schedule = Schedule("count", timedelta(seconds=5), work.do, first=MOMENT)
    quick = Schedule("quick", MOMENT, work.do, first=MOMENT)
    return Schedules(database, clock, name, [schedule, quick], beat=MOMENT, silence=SILENCE)


async def until_it_says(database: Database, clock: ManualClock, words: str) -> Check:
    for _ in range(500):
        # A new one each time, since it looks only every few seconds.
        if words in (check := await schedules_check(database, clock)()).message:
            return check
        await asyncio.sleep(0.02)
    raise AssertionError(f"nobody says {words}")


@asynccontextmanager
async def running(*processes: Schedules) -> AsyncGenerator[None]:
    async with AsyncExitStack() as stack:
        for each in processes:
            await stack.enter_async_context(each.running())
        yield


async def test_one_of_several_leads_and_another_follows_when_it_leaves(database: Database, clock: ManualClock) -> None:
    first, second = Work(), Work()
    one, other = process(database, clock, "one", first), process(database, clock, "other", second)
    async with running(one):
        await first.again()
        async with running(other):
            await first.again()
            assert (one.leads, other.leads, second.done) == (True, False, 0)
    async with running(other):
        await second.again()
        assert other.leads


async def test_whoever_dies_is_followed_after_a_long_enough_silence(database: Database, clock: ManualClock) -> None:
    """A process that is killed leaves its name in the table. Its wall clock does not matter."""
    work = Work()
    dead, heir = process(database, clock, "dead", Work()), process(database, clock, "heir", work)
    assert await dead.contend()
    assert not await heir.contend()
    clock.advance(SILENCE - timedelta(seconds=1))
    assert not await heir.contend(), "it may be slow"
    clock.advance(timedelta(seconds=1))
    assert await heir.contend()
    assert heir.leads
    assert not await dead.contend(), "whoever comes back finds that somebody else leads"
    async with running(heir):
        await work.again()


async def test_a_sign_of_life_is_enough_to_go_on_leading(database: Database, clock: ManualClock) -> None:
    leader, other = (process(database, clock, name, Work()) for name in ("leader", "other"))
    for _ in range(4):
        assert await leader.contend()
        assert not await other.contend()
        clock.advance(SILENCE - timedelta(seconds=1))


async def test_whoever_stood_still_for_too_long_does_nothing_more(database: Database, clock: ManualClock) -> None:
    stopped = process(database, clock, "stopped", Work())
    assert await stopped.contend()
    assert stopped.leads
    clock.advance(SILENCE)
    assert not stopped.leads


async def test_two_who_take_over_at_once_do_not_both_lead(database: Database, clock: ManualClock) -> None:
    several = [process(database, clock, f"process {number}", Work()) for number in range(4)]
    assert sum(await asyncio.gather(*(each.contend() for each in several))) == 1


@pytest.mark.parametrize("error", [OSError("no disk"), ValueError("a bug of ours")], ids=["known", "a bug"])
async def test_a_failure_is_told_and_the_next_time_comes_anyway(
    database: Database, clock: ManualClock, error: Exception
) -> None:
    work = Work()
    work.error = error
    async with running(process(database, clock, "one", work)):
        await work.again(3)
        check = await until_it_says(database, clock, type(error).__name__)
    assert check.health == "warn"


async def test_what_nobody_does_is_told(database: Database, clock: ManualClock) -> None:
    """79 tickets once stood still while every check said that all was well."""
    assert (await schedules_check(database, clock)()).message == "none has begun yet"
    async with running(process(database, clock, "one", Work())):
        assert (await until_it_says(database, clock, "in time")).health == "ok"
    clock.advance(timedelta(minutes=10))
    told = await schedules_check(database, clock)()
    assert told.health == "warn"
    assert "count, quick" in told.message
    assert "10 min" in told.message
    async with database.read(ALL) as session:
        late = {each.name: each.late for each in await schedule_health(session, clock.now())}
    assert min(late.values()) >= timedelta(minutes=9)


async def test_a_schedule_that_is_gone_is_forgotten(database: Database, clock: ManualClock) -> None:
    before = Schedules(database, clock, "old", [Schedule("old", MOMENT, Work().do, first=MOMENT)])
    assert await before.contend()
    clock.advance(SILENCE)
    after = process(database, clock, "new", Work())
    await after.contend()
    clock.advance(SILENCE)
    assert await after.contend()
    async with database.read(ALL) as session:
        assert {each.name for each in await schedule_health(session, clock.now())} == {"count", "quick"}


async def test_a_clock_that_was_set_back_is_noticed_once_and_until_it_was_heeded(
    database: Database, clock: ManualClock
) -> None:
    heard: list[str] = []

    async def heed() -> None:
        heard.append("set back")
        if len(heard) == 1:
            raise OSError("no disk")

    def leader(by: ManualClock) -> Schedules:
        return Schedules(database, by, "one", [], beat=MOMENT, silence=SILENCE, on_set_back=heed)

    later = ManualClock(clock.now() + timedelta(hours=1))
    assert await leader(later).contend()
    assert heard == []
    one = leader(clock)
    with pytest.raises(OSError, match="no disk"):
        await one.contend()
    for _ in range(3):
        assert await one.contend()
    assert heard == ["set back", "set back"]


async def test_nothing_that_goes_wrong_ends_the_contending(database: Database, clock: ManualClock) -> None:
    """One who stopped to contend after a bug would be missed by nobody."""
    work = Work()
    one = process(database, clock, "one", work)
    contend, troubles = one.contend, [ValueError("a bug of ours"), OSError("no disk")]

    async def shaky() -> bool:
        if troubles:
            raise troubles.pop()
        return await contend()

    one.contend = shaky
    async with running(one):
        await work.again()
