"""Work ahead of its use: the same things in the same order, never too many, and nothing left running."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass, field

import pytest

from gaby.knowledge.prefetch import prefetch


@dataclass
class Numbers:
    """Counts, tells how far it is, and whether it was closed."""

    count: int
    fails_at: int | None = None
    made: list[int] = field(default_factory=list[int])
    closed: bool = False

    async def stream(self) -> AsyncGenerator[int]:
        try:
            for number in range(self.count):
                if number == self.fails_at:
                    raise LookupError(f"no {number}")
                self.made.append(number)
                yield number
                await asyncio.sleep(0)
        finally:
            await asyncio.sleep(0)  # Closing takes a moment, as closing a connection does.
            self.closed = True


async def settled() -> None:
    """Everybody else has had their turn, many times."""
    for _ in range(50):
        await asyncio.sleep(0)


@pytest.mark.parametrize("depth", [1, 2, 7])
async def test_the_order_is_kept(depth: int) -> None:
    numbers = Numbers(40)
    assert [each async for each in prefetch(numbers.stream(), depth)] == list(range(40))
    assert numbers.closed


async def test_an_empty_stream_is_empty() -> None:
    assert [each async for each in prefetch(Numbers(0).stream())] == []


@pytest.mark.parametrize("depth", [1, 2, 5])
async def test_never_more_than_so_many_are_made_before_they_are_wanted(depth: int) -> None:
    numbers = Numbers(30)
    taken = 0
    async with aclosing(prefetch(numbers.stream(), depth)) as stream:
        async for _ in stream:
            taken += 1
            await settled()
            assert len(numbers.made) == min(30, taken + depth), "it works ahead, and no further"
    assert taken == 30


async def test_nothing_is_made_before_the_first_is_wanted() -> None:
    numbers = Numbers(3)
    stream = prefetch(numbers.stream())
    await settled()
    assert numbers.made == []
    await stream.aclose()


@pytest.mark.parametrize("depth", [1, 3, 50])
async def test_a_failure_comes_after_everything_before_it(depth: int) -> None:
    numbers = Numbers(40, fails_at=4)
    taken: list[int] = []

    async def consume() -> None:
        async with aclosing(prefetch(numbers.stream(), depth)) as stream:
            async for each in stream:
                taken.append(each)
                await settled()

    with pytest.raises(LookupError, match="no 4"):
        await consume()
    assert taken == [0, 1, 2, 3]
    assert numbers.closed


@pytest.mark.parametrize("depth", [1, 4])
@pytest.mark.parametrize("stop", [1, 3])
async def test_who_leaves_early_closes_the_producer(depth: int, stop: int) -> None:
    numbers = Numbers(40)
    before = asyncio.all_tasks()
    async with aclosing(prefetch(numbers.stream(), depth)) as stream:
        async for each in stream:
            if each + 1 == stop:
                break
    assert numbers.closed
    assert asyncio.all_tasks() == before, "no task is left behind"
    assert len(numbers.made) <= stop + depth


async def test_the_reason_of_who_leaves_is_not_hidden_by_a_failure_that_nobody_met() -> None:
    numbers = Numbers(40, fails_at=1)

    async def consume() -> None:
        async with aclosing(prefetch(numbers.stream(), 5)) as stream:
            async for _ in stream:
                await settled()
                raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await consume()
    assert numbers.closed


async def test_a_cancelled_consumer_is_cancelled_and_closes_the_producer() -> None:
    numbers = Numbers(40)
    taken = asyncio.Event()

    async def consume() -> None:
        async with aclosing(prefetch(numbers.stream())) as stream:
            async for _ in stream:
                taken.set()
                await asyncio.Event().wait()

    task = asyncio.create_task(consume())
    await taken.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert numbers.closed
    assert len(numbers.made) <= 2


async def test_a_producer_that_was_waiting_is_interrupted() -> None:
    waiting = asyncio.Event()
    closed = asyncio.Event()

    async def endless() -> AsyncGenerator[int]:
        try:
            yield 1
            waiting.set()
            await asyncio.Event().wait()
        finally:
            closed.set()

    async with aclosing(prefetch(endless())) as stream:
        async for each in stream:
            assert each == 1
            await waiting.wait()
            break
    assert closed.is_set()
