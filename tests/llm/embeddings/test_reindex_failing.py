"""What happens to a re-indexing when something fails."""

from collections.abc import Sequence
from datetime import timedelta

import pytest

from gaby.kernel.clock import ManualClock
from gaby.kernel.database import Database, WriteSession
from gaby.kernel.errors import Conflict, GabyError, Unavailable
from gaby.kernel.events import Event
from gaby.kernel.ids import IdFactory
from gaby.llm.budget_ledger import DayBudgetSpent
from gaby.llm.embeddings.embedder import Vector
from gaby.llm.embeddings.errors import EmbedderUnknown
from gaby.llm.embeddings.reindex import Reindexer
from gaby.llm.embeddings.service import Embeddings
from gaby.llm.errors import KeyRefused, ModelBusy, ModelDown
from tests.kernel.database.stories import A, B
from tests.llm.embeddings.reindex_scenes import NEW, OLD, expected, progress, start
from tests.llm.embeddings.scenes import (
    Notes,
    Provider,
    searched_model,
    stored_vectors,
    write_notes,
)

pytestmark = pytest.mark.promise("G9")


@pytest.mark.parametrize(
    "passing", [ModelDown(), ModelBusy(retry_after=40), DayBudgetSpent(), Unavailable()], ids=lambda error: error.code
)
async def test_a_provider_that_fails_for_a_while_is_asked_again_later_and_the_reason_can_be_seen(
    indexed: Database, reindexer: Reindexer, provider: Provider, clock: ManualClock, passing: GabyError
) -> None:
    await start(indexed, reindexer, NEW)
    await reindexer.step()
    provider.failing = passing
    assert await reindexer.run() == 1
    row = await progress(indexed, reindexer)
    assert (row.state, row.done, row.error, row.attempts) == ("running", 3, passing.message, 1)
    assert await searched_model(indexed, A) == OLD
    asked = len(provider.asked)
    clock.advance(timedelta(seconds=10))
    assert await reindexer.run() == 0
    assert len(provider.asked) == asked
    clock.advance(timedelta(seconds=60))
    assert await reindexer.run() == 1
    assert (await progress(indexed, reindexer)).attempts == 2
    provider.failing = None
    clock.advance(timedelta(minutes=15))
    await reindexer.run()
    row = await progress(indexed, reindexer)
    assert (row.state, row.done, row.error, row.attempts, row.retry_at) == ("done", 8, None, 0, None)
    assert await stored_vectors(indexed, A, NEW) == expected(NEW)


async def test_the_pauses_grow_and_stay_below_a_quarter_of_an_hour(
    indexed: Database, reindexer: Reindexer, provider: Provider, clock: ManualClock
) -> None:
    provider.failing = ModelDown()
    await start(indexed, reindexer, NEW)
    pauses: list[float] = []
    for _ in range(9):
        assert await reindexer.step()
        row = await progress(indexed, reindexer)
        assert row.retry_at is not None
        pauses.append((row.retry_at - clock.now()).total_seconds())
        clock.advance(row.retry_at - clock.now())
    assert pauses == [15, 30, 60, 120, 240, 480, 900, 900, 900]


async def test_what_needs_a_person_fails_and_can_be_started_again_without_paying_twice(
    indexed: Database, reindexer: Reindexer, provider: Provider, clock: ManualClock, events: list[Event]
) -> None:
    await start(indexed, reindexer, NEW)
    await reindexer.step()
    provider.failing = KeyRefused()
    await reindexer.run()
    row = await progress(indexed, reindexer)
    assert (row.state, row.error) == ("failed", KeyRefused().message)
    assert events[-1].name == "embeddings.reindex_failed"
    assert events[-1].payload["error"] == KeyRefused().message
    clock.advance(timedelta(days=1))
    assert await reindexer.run() == 0
    assert await searched_model(indexed, A) == OLD
    provider.failing = None
    await start(indexed, reindexer, NEW)
    await reindexer.run()
    assert await stored_vectors(indexed, A, NEW) == expected(NEW)
    assert [len(batch) for batch in provider.asked] == [3, 3, 3, 2]


async def test_one_workspace_that_fails_does_not_hold_up_another(
    indexed: Database, reindexer: Reindexer, provider: Provider
) -> None:
    await write_notes(indexed, B, {"b1": "a note of B"})
    await start(indexed, reindexer, NEW)
    await start(indexed, reindexer, OLD, place=B)
    provider.failing = ModelDown()
    await reindexer.run()
    assert (await progress(indexed, reindexer, B)).state == "done"
    assert await searched_model(indexed, B) == OLD
    assert (await progress(indexed, reindexer)).state == "running"


async def test_a_collection_that_cannot_store_leaves_nothing_behind_and_says_why(
    indexed: Database, clock: ManualClock, ids: IdFactory, embeddings: Embeddings
) -> None:
    class Broken(Notes):
        async def store(self, session: WriteSession, model: str, vectors: Sequence[tuple[str, Vector]]) -> None:
            await super().store(session, model, vectors)
            raise Conflict("The index is full.")

    reindexer = Reindexer(indexed, clock, ids, embeddings, batch=3)
    reindexer.register(Broken())
    await start(indexed, reindexer, NEW)
    await reindexer.run()
    row = await progress(indexed, reindexer)
    assert (row.state, row.done, row.cursor, row.error) == ("failed", 0, None, "The index is full.")
    assert await stored_vectors(indexed, A, NEW) == {}


async def test_a_collection_that_is_gone_fails_instead_of_waiting_for_ever(
    indexed: Database, reindexer: Reindexer, clock: ManualClock, ids: IdFactory, embeddings: Embeddings
) -> None:
    await start(indexed, reindexer, NEW)
    await Reindexer(indexed, clock, ids, embeddings).run()
    row = await progress(indexed, reindexer)
    assert row.state == "failed"
    assert "notes" in (row.error or "")


async def test_an_unknown_local_model_is_refused_before_anything_begins(
    indexed: Database, reindexer: Reindexer
) -> None:
    with pytest.raises(EmbedderUnknown):
        await start(indexed, reindexer, "local/unknown")
    row = await progress(indexed, reindexer)
    assert (row.model, row.state) == (OLD, "done")
