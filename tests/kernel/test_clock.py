"""Time is in UTC, and in tests it stands still."""

from datetime import UTC, datetime, timedelta

import pytest

from gaby.kernel.clock import Clock, ManualClock, SystemClock

START = datetime(2030, 1, 2, tzinfo=UTC)


def test_the_system_clock_is_in_utc_and_goes_forward() -> None:
    clock: Clock = SystemClock()
    assert clock.now().tzinfo is UTC
    assert abs(clock.now() - datetime.now(UTC)) < timedelta(seconds=5)
    assert clock.monotonic() <= clock.monotonic()


def test_a_held_clock_moves_only_when_told() -> None:
    clock = ManualClock(START)
    assert clock.now() == clock.now() == START
    before = clock.monotonic()
    clock.advance(timedelta(minutes=1, milliseconds=500))
    assert clock.now() == START + timedelta(seconds=60.5)
    assert clock.monotonic() - before == pytest.approx(60.5)
