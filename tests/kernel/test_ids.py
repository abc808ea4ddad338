"""Ids are uuid7, never twice the same, and sort by when they were made."""

import threading
from datetime import UTC, datetime, timedelta
from uuid import RFC_4122, UUID

from hypothesis import given
from hypothesis import strategies as st

from gaby.kernel.clock import ManualClock
from gaby.kernel.ids import SYSTEM, IdFactory

START = datetime(2030, 1, 2, 3, 4, 5, 678_901, tzinfo=UTC)


def millis(made: UUID) -> int:
    return made.int >> 80


def test_an_id_is_a_uuid7_of_its_moment() -> None:
    made = IdFactory(ManualClock(START)).new()
    assert (made.version, made.variant) == (7, RFC_4122)
    assert millis(made) == int(START.timestamp() * 1000)


def test_ids_of_one_moment_still_sort_by_creation() -> None:
    ids = IdFactory(ManualClock(START))
    made = [ids.new() for _ in range(10_000)]
    assert made == sorted(made)
    assert len(set(made)) == len(made)


@given(st.lists(st.integers(-5_000, 5_000), max_size=30))
def test_ids_sort_by_creation_even_when_the_clock_is_set_back(steps: list[int]) -> None:
    clock = ManualClock(START)
    ids = IdFactory(clock)
    made = [ids.new()]
    for step in steps:
        clock.advance(timedelta(microseconds=step))
        made.append(ids.new())
    assert made == sorted(made)
    assert len(set(made)) == len(made)
    assert all(each.version == 7 for each in made)


@given(st.integers(0, 2**44))
def test_the_moment_can_be_read_back(milliseconds: int) -> None:
    moment = datetime.fromtimestamp(milliseconds / 1000, UTC)
    assert abs(millis(IdFactory(ManualClock(moment)).new()) - moment.timestamp() * 1000) <= 1


def test_the_random_part_is_all_the_randomness_it_was_given() -> None:
    low, high = (
        IdFactory(ManualClock(START), random=lambda count, byte=byte: byte * count).new() for byte in (b"\0", b"\xff")
    )
    assert (low.int ^ high.int) == (1 << 62) - 1


def test_threads_never_get_the_same_id() -> None:
    ids, made = IdFactory(), list[UUID]()

    def make() -> None:
        made.extend(ids.new() for _ in range(5_000))

    threads = [threading.Thread(target=make) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(made)) == 20_000


def test_the_installation_has_an_id_that_is_never_made() -> None:
    assert SYSTEM.int == 0
    assert IdFactory().new() != SYSTEM
