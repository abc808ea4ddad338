"""The rate limit itself: never more than allowed in any minute, in the order in which calls came."""

from datetime import UTC, datetime, timedelta
from functools import partial
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gaby.kernel.clock import ManualClock
from gaby.kernel.ids import WorkspaceId
from gaby.tools.rates import RateKey, RateLimiter

HOURS = 10_000.0
KEY = RateKey(WorkspaceId(UUID(int=1)), "desk", "write")


def call(number: int) -> UUID:
    return UUID(int=number)


@pytest.fixture
def held() -> ManualClock:
    return ManualClock(datetime(2030, 1, 1, tzinfo=UTC))


steps = st.lists(
    st.tuples(st.integers(0, 90), st.integers(1, 12), st.sampled_from(["take", "queue", "look"])), max_size=80
)


@pytest.mark.promise("S2")
@given(steps, st.lists(st.integers(1, 4), min_size=1, max_size=5))
def test_no_minute_has_more_calls_than_the_limit(steps: list[tuple[int, int, str]], limits: list[int]) -> None:
    """Whoever comes, in whichever order, and however the limit is changed between."""
    clock = ManualClock(datetime(2030, 1, 1, tzinfo=UTC))
    rates = RateLimiter(clock)
    made: list[tuple[float, int]] = []
    for number, (seconds, who, what) in enumerate(steps):
        clock.advance(timedelta(seconds=seconds))
        most = limits[number % len(limits)]
        wait = {"take": rates.take, "queue": partial(rates.queue, longest=200), "look": rates.seconds_until_free}[what](
            KEY, most, call(who)
        )
        assert wait >= 0
        if what == "take" and wait == 0:
            made.append((clock.monotonic(), most))
    for at, most in made:
        assert sum(at - 60 < other <= at for other, _ in made) <= most


@pytest.mark.promise("S2")
@given(st.integers(1, 5), st.integers(1, 40))
def test_everybody_who_comes_when_told_gets_through_at_once(most: int, waiting: int) -> None:
    clock = ManualClock(datetime(2030, 1, 1, tzinfo=UTC))
    rates = RateLimiter(clock)
    due = {who: rates.take(KEY, most, call(who)) or None for who in range(waiting)}
    due = {who: clock.monotonic() + rates.queue(KEY, most, call(who), HOURS) for who, wait in due.items() if wait}
    assert len(due) == max(0, waiting - most)
    for who, at in sorted(due.items(), key=lambda each: each[1]):
        clock.advance(timedelta(seconds=max(0.0, at - clock.monotonic())))
        assert rates.take(KEY, most, call(who)) == 0
    assert clock.monotonic() == 60.0 * ((waiting - 1) // most)


def test_those_who_wait_come_before_those_who_come_later(held: ManualClock) -> None:
    rates = RateLimiter(held)
    assert rates.take(KEY, 1, call(1)) == 0
    held.advance(timedelta(seconds=20))
    assert rates.queue(KEY, 1, call(2), HOURS) == 40.0
    assert rates.queue(KEY, 1, call(3), HOURS) == 100.0
    held.advance(timedelta(seconds=40))
    assert rates.take(KEY, 1, call(4)) == 120.0
    assert rates.take(KEY, 1, call(3)) == 60.0
    assert rates.take(KEY, 1, call(2)) == 0


def test_a_place_is_kept_for_a_while(held: ManualClock) -> None:
    rates = RateLimiter(held)
    rates.take(KEY, 1, call(1))
    rates.queue(KEY, 1, call(2), HOURS)
    held.advance(timedelta(seconds=75))
    assert rates.take(KEY, 1, call(3)) > 0
    held.advance(timedelta(seconds=1))
    assert rates.take(KEY, 1, call(3)) == 0


def test_who_may_not_wait_so_long_leaves_no_place_behind(held: ManualClock) -> None:
    """Places that nobody takes once made everybody after them wait longer, until nobody came through any more."""
    rates = RateLimiter(held)
    made: list[int] = []
    waiting: dict[int, float] = {}
    for second in range(0, 6 * 3600, 10):
        due = [number for number, at in waiting.items() if at <= held.monotonic()]
        for number in [*due, *([second] if second % 30 == 0 else [])]:
            waiting.pop(number, None)
            if rates.take(KEY, 1, call(number)) == 0:
                made.append(number)
            elif (wait := rates.queue(KEY, 1, call(number), longest=600)) <= 600:
                waiting[number] = held.monotonic() + wait
        held.advance(timedelta(seconds=10))
    assert len(made) > 300, "one a minute, for six hours"
    held.advance(timedelta(minutes=15))
    assert rates.seconds_until_free(KEY, 1, call(1)) == 0


def test_calls_side_by_side_do_not_pass_the_limit_together(held: ManualClock) -> None:
    rates = RateLimiter(held)
    assert [rates.take(KEY, 3, call(n)) for n in range(5)] == [0, 0, 0, 60.0, 60.0]
    assert rates.last_minute(KEY) == 3


def test_a_wall_clock_that_is_set_back_stalls_nobody(held: ManualClock) -> None:
    rates = RateLimiter(held)
    rates.take(KEY, 1, call(1))
    held.advance(timedelta(seconds=60))
    held._now -= timedelta(days=1)  # pyright: ignore[reportPrivateUsage]
    assert rates.take(KEY, 1, call(2)) == 0
