"""Re-indexing while others work too: on the same batch, on the model, on the texts."""

import asyncio
from collections.abc import Sequence
from datetime import timedelta

import pytest

from gaby.kernel.clock import ManualClock
from gaby.kernel.database import Database, ReadSession, WriteSession
from gaby.kernel.events import Event
from gaby.kernel.ids import IdFactory
from gaby.llm.embeddings.reindex import Reindexer
from gaby.llm.embeddings.service import Embeddings
from tests.kernel.database.stories import A
from tests.llm.embeddings.reindex_scenes import NEW, NOTES, expected, progress, start
from tests.llm.embeddings.scenes import (
    Chosen,
    Notes,
    Provider,
    change_note,
    new_reindexer,
    stored_vectors,
    write_notes,
)

pytestmark = pytest.mark.promise("G9")


async def test_whoever_takes_over_goes_on_where_the_other_was(
    indexed: Database,
    reindexer: Reindexer,
    embeddings: Embeddings,
    provider: Provider,
    clock: ManualClock,
    ids: IdFactory,
) -> None:
    await start(indexed, reindexer, NEW)
    await reindexer.step()
    await new_reindexer(indexed, clock, ids, embeddings).run()
    assert await stored_vectors(indexed, A, NEW) == expected(NEW)
    assert [len(batch) for batch in provider.asked] == [3, 3, 2]


async def test_a_batch_that_was_broken_off_is_made_again(
    indexed: Database,
    reindexer: Reindexer,
    embeddings: Embeddings,
    provider: Provider,
    clock: ManualClock,
    ids: IdFactory,
) -> None:
    await start(indexed, reindexer, NEW)
    await reindexer.step()
    provider.gate = asyncio.Event()
    provider.reached.clear()
    broken_off = asyncio.create_task(reindexer.step())
    await provider.reached.wait()
    broken_off.cancel()
    with pytest.raises(asyncio.CancelledError):
        await broken_off
    provider.gate = None
    assert (await progress(indexed, reindexer)).done == 3
    await new_reindexer(indexed, clock, ids, embeddings).run()
    assert await stored_vectors(indexed, A, NEW) == expected(NEW)


async def test_two_processes_at_once_do_nothing_twice(
    indexed: Database, reindexer: Reindexer, embeddings: Embeddings, clock: ManualClock, ids: IdFactory
) -> None:
    await start(indexed, reindexer, NEW)
    other = new_reindexer(indexed, clock, ids, embeddings)
    await asyncio.gather(reindexer.run(), other.run(), reindexer.run())
    row = await progress(indexed, reindexer)
    assert (row.state, row.done) == ("done", 8)
    assert await stored_vectors(indexed, A, NEW) == expected(NEW)


async def test_a_slow_process_does_not_turn_back_one_that_is_ahead(
    indexed: Database, reindexer: Reindexer, provider: Provider, clock: ManualClock, ids: IdFactory
) -> None:
    await start(indexed, reindexer, NEW)
    provider.gate = asyncio.Event()
    slow = asyncio.create_task(reindexer.step())
    await provider.reached.wait()
    ahead = Embeddings(indexed, clock, Chosen(NEW), remote=Provider())
    for _ in range(2):
        await new_reindexer(indexed, clock, ids, ahead).step()
    provider.gate.set()
    await slow
    row = await progress(indexed, reindexer)
    assert (row.done, row.cursor) == (6, "n05")
    await ahead.close()


async def test_two_processes_that_come_to_the_end_at_once_end_it_once(
    indexed: Database,
    reindexer: Reindexer,
    embeddings: Embeddings,
    clock: ManualClock,
    ids: IdFactory,
    events: list[Event],
) -> None:
    class Overtaken(Notes):
        async def batch(self, session: ReadSession, after: str | None, size: int) -> Sequence[tuple[str, str]]:
            found = await super().batch(session, after, size)
            if not found and not isinstance(session, WriteSession):
                await reindexer.run()
            return found

    second = Reindexer(indexed, clock, ids, embeddings, batch=3)
    second.register(Overtaken())
    await start(indexed, reindexer, NEW)
    await second.run()
    assert (await progress(indexed, reindexer)).state == "done"
    assert [event.name for event in events] == ["embeddings.reindex_started", "embeddings.reindex_finished"]


async def test_a_batch_of_the_former_model_that_is_under_way_counts_for_nothing(
    indexed: Database, reindexer: Reindexer, provider: Provider
) -> None:
    await start(indexed, reindexer, NEW)
    provider.gate = asyncio.Event()
    late = asyncio.create_task(reindexer.step())
    await provider.reached.wait()
    await start(indexed, reindexer, "acme/better")
    provider.gate.set()
    assert await late
    row = await progress(indexed, reindexer)
    assert (row.model, row.done, row.cursor) == ("acme/better", 0, None)
    assert await stored_vectors(indexed, A, NEW) == {}


async def test_texts_that_come_at_the_last_moment_are_indexed_too(indexed: Database, reindexer: Reindexer) -> None:
    await start(indexed, reindexer, NEW)
    for _ in range(3):
        await reindexer.step()
    late = {"n90": "came late"}
    await write_notes(indexed, A, late)
    await reindexer.run()
    row = await progress(indexed, reindexer)
    assert (row.state, row.done, row.total) == ("done", 9, 9)
    assert await stored_vectors(indexed, A, NEW) == expected(NEW, NOTES | late)


async def test_a_text_that_comes_just_before_the_end_is_indexed_before_the_swap(
    indexed: Database, clock: ManualClock, ids: IdFactory, embeddings: Embeddings
) -> None:
    late = {"n90": "came late"}

    class Busy(Notes):
        async def batch(self, session: ReadSession, after: str | None, size: int) -> Sequence[tuple[str, str]]:
            found = await super().batch(session, after, size)
            if not found and not isinstance(session, WriteSession) and after == "n07":
                await write_notes(indexed, A, late)
            return found

    reindexer = Reindexer(indexed, clock, ids, embeddings, batch=3)
    reindexer.register(Busy())
    await start(indexed, reindexer, NEW)
    await reindexer.run()
    assert await stored_vectors(indexed, A, NEW) == expected(NEW, NOTES | late)


async def test_a_text_that_changes_while_its_vector_is_made_gets_the_new_one(
    indexed: Database, reindexer: Reindexer, provider: Provider, clock: ManualClock
) -> None:
    await start(indexed, reindexer, NEW)
    provider.gate = asyncio.Event()
    step = asyncio.create_task(reindexer.step())
    await provider.reached.wait()
    await change_note(indexed, A, "n01", "said otherwise")
    provider.gate.set()
    await step
    assert (await progress(indexed, reindexer)).done == 0
    clock.advance(timedelta(seconds=15))
    await reindexer.run()
    assert await stored_vectors(indexed, A, NEW) == expected(NEW, NOTES | {"n01": "said otherwise"})
