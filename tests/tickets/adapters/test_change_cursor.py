"""A list that is sorted by change is followed without gaps."""

from datetime import UTC, datetime, timedelta

import pytest

from gaby.tickets.adapters.change_cursor import ChangeCursor, ChangedItem, cursor_of, of_cursor

pytestmark = pytest.mark.promise("T4")
START = datetime(2030, 1, 2, tzinfo=UTC)
LATER = START + timedelta(hours=1)


def changes(*seconds: int | None) -> list[ChangedItem]:
    times = [None if each is None else START + timedelta(seconds=each) for each in seconds]
    return [ChangedItem(str(number), at) for number, at in enumerate(times)]


def test_a_full_page_of_one_time_is_left_by_counting() -> None:
    trail = ChangeCursor(START, START).after(changes(0, 0), full=True, now=LATER, step=1)
    assert (trail.since, trail.offset) == (START, 1)
    trail = trail.after(changes(0, 7), full=True, now=LATER, step=1)
    assert (trail.since, trail.offset) == (START + timedelta(seconds=7), 0)


def test_a_full_page_without_times_is_left_by_counting_too() -> None:
    trail = ChangeCursor(START, START, newest=LATER).after(changes(None, None), full=True, now=LATER, step=2)
    assert (trail.since, trail.offset) == (START, 2)


def test_what_changed_a_moment_ago_is_brought_once_more() -> None:
    page = changes(0, 3599)
    trail = ChangeCursor(START, START).after(page, full=False, now=LATER, step=1)
    assert trail.fresh(page) == ["0", "1"]
    settled = trail.after(page, full=False, now=LATER + timedelta(minutes=1), step=1)
    assert settled.fresh(page) == ["0"]
    assert settled.fresh([ChangedItem("1", LATER)]) == ["1"]


def test_nothing_from_before_the_start_is_asked_for() -> None:
    trail = ChangeCursor(START, START).after(changes(5), full=False, now=LATER, step=1)
    assert trail.since == START


@pytest.mark.parametrize("cursor", [None, "", "nonsense", "[]", '{"since": 7}', '{"since": "x", "start": "y"}'])
def test_a_cursor_that_cannot_be_read_begins_anew(cursor: str | None) -> None:
    assert ChangeCursor.loaded(of_cursor(cursor), START) == ChangeCursor(START, START)


def test_a_cursor_is_read_as_it_was_written() -> None:
    trail = ChangeCursor(START, START).after(changes(5, 9), full=True, now=LATER, step=1)
    assert ChangeCursor.loaded(of_cursor(cursor_of(trail.dumped())), LATER) == trail
