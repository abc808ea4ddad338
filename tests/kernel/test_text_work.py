"""Long text work leaves the event loop free."""

import threading

import pytest

from gaby.kernel.text_work import LONG, run_text_work


def where(text: str, *, suffix: str) -> tuple[str, bool]:
    return text + suffix, threading.current_thread() is threading.main_thread()


async def test_short_work_is_done_at_once_and_long_work_in_a_thread() -> None:
    assert await run_text_work(LONG, where, "a", suffix="b") == ("ab", True)
    assert await run_text_work(LONG + 1, where, "a", suffix="b") == ("ab", False)


async def test_what_goes_wrong_in_a_thread_is_told() -> None:
    with pytest.raises(ValueError, match="invalid literal"):
        await run_text_work(LONG + 1, int, "x")
