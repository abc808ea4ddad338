"""The shared lock: side by side, unless one of them has to be alone."""

import asyncio

import pytest

from gaby.worker.shared_lock import SharedLock


@pytest.mark.promise("Q6")
async def test_whoever_wants_to_be_alone_waits_for_the_others_and_they_for_him() -> None:
    lock, seen = SharedLock(), list[str]()

    async def shared(name: str, wait: asyncio.Event) -> None:
        async with lock.shared():
            seen.append(f"{name} begins")
            await wait.wait()
        seen.append(f"{name} ends")

    async def alone() -> None:
        async with lock.exclusive():
            seen.append("alone")

    gate = asyncio.Event()
    first = asyncio.create_task(shared("one", gate))
    await asyncio.sleep(0)
    waits = [asyncio.create_task(alone()), asyncio.create_task(alone())]
    await asyncio.sleep(0)
    given_up = asyncio.create_task(alone())
    await asyncio.sleep(0)
    later = asyncio.create_task(shared("two", gate))
    await asyncio.sleep(0)
    given_up.cancel()
    await asyncio.sleep(0)
    assert seen == ["one begins"]
    gate.set()
    await asyncio.gather(first, *waits, later)
    assert seen == ["one begins", "one ends", "alone", "alone", "two begins", "two ends"]
