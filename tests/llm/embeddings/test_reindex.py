"""Re-indexing after a change of the model, on both engines."""

from datetime import timedelta

import pytest

from gaby.kernel.clock import ManualClock
from gaby.kernel.database import Database
from gaby.kernel.events import Event
from gaby.kernel.ids import IdFactory
from gaby.llm.embeddings.reindex import Reindexer
from gaby.llm.embeddings.service import Embeddings
from tests.kernel.database.stories import A, B
from tests.llm.embeddings.reindex_scenes import NEW, NOTES, OLD, expected, progress, start
from tests.llm.embeddings.scenes import (
    Provider,
    searched_model,
    stored_vectors,
    write_notes,
)

pytestmark = pytest.mark.promise("G9")


async def test_every_text_gets_a_vector_and_then_the_new_ones_are_searched(
    indexed: Database, reindexer: Reindexer, events: list[Event], clock: ManualClock
) -> None:
    assert await searched_model(indexed, A) == OLD
    assert await stored_vectors(indexed, A, OLD) == expected(OLD)
    await start(indexed, reindexer, NEW)
    seen: list[tuple[int, int, str]] = []
    while await reindexer.step():
        row = await progress(indexed, reindexer)
        seen.append((row.done, row.total, row.state))
        clock.advance(timedelta(seconds=1))
        if row.state == "running":
            assert await searched_model(indexed, A) == OLD
            assert await stored_vectors(indexed, A, OLD) == expected(OLD)
    assert seen == [(3, 8, "running"), (6, 8, "running"), (8, 8, "running"), (8, 8, "done")]
    assert await searched_model(indexed, A) == NEW
    assert await stored_vectors(indexed, A, NEW) == expected(NEW)
    assert await stored_vectors(indexed, A, OLD) == {}
    row = await progress(indexed, reindexer)
    assert row.finished_at is not None
    assert row.finished_at > row.started_at
    assert [event.name for event in events] == ["embeddings.reindex_started", "embeddings.reindex_finished"]
    assert events[1].payload == {"collection": "notes", "model": NEW, "total": 8}
    assert events[1].workspace_id == A


async def test_an_empty_collection_is_done_at_once(workspaces: Database, reindexer: Reindexer) -> None:
    await start(workspaces, reindexer, NEW)
    assert await reindexer.run() == 1
    row = await progress(workspaces, reindexer)
    assert (row.state, row.done, row.total) == ("done", 0, 0)
    assert await searched_model(workspaces, A) == NEW


async def test_an_installation_without_collections_has_nothing_to_do(
    workspaces: Database, clock: ManualClock, ids: IdFactory, embeddings: Embeddings
) -> None:
    reindexer = Reindexer(workspaces, clock, ids, embeddings)
    await start(workspaces, reindexer, NEW)
    assert await reindexer.run() == 0


async def test_a_change_of_the_model_in_the_middle_begins_anew(
    indexed: Database, reindexer: Reindexer, provider: Provider, events: list[Event]
) -> None:
    await start(indexed, reindexer, NEW)
    await reindexer.step()
    await start(indexed, reindexer, "acme/better")
    row = await progress(indexed, reindexer)
    assert (row.model, row.done, row.state) == ("acme/better", 0, "running")
    await reindexer.run()
    assert await searched_model(indexed, A) == "acme/better"
    assert (await stored_vectors(indexed, A, "acme/better")).keys() == NOTES.keys()
    assert await stored_vectors(indexed, A, NEW) == {}
    assert [event.payload["model"] for event in events] == [NEW, "acme/better", "acme/better"]


async def test_back_to_the_old_model_in_the_middle_leaves_all_of_the_old(
    indexed: Database, reindexer: Reindexer
) -> None:
    await start(indexed, reindexer, NEW)
    await reindexer.step()
    await start(indexed, reindexer, OLD)
    await reindexer.run()
    assert await searched_model(indexed, A) == OLD
    assert await stored_vectors(indexed, A, OLD) == expected(OLD)
    assert await stored_vectors(indexed, A, NEW) == {}


async def test_starting_twice_with_the_same_model_changes_nothing(
    indexed: Database, reindexer: Reindexer, events: list[Event]
) -> None:
    await start(indexed, reindexer, NEW)
    await reindexer.step()
    await start(indexed, reindexer, NEW)
    assert (await progress(indexed, reindexer)).done == 3
    assert len(events) == 1


async def test_workspaces_take_turns(indexed: Database, reindexer: Reindexer) -> None:
    await write_notes(indexed, B, NOTES)
    await start(indexed, reindexer, NEW)
    await start(indexed, reindexer, NEW, place=B)
    for _ in range(2):
        await reindexer.step()
    assert [(await progress(indexed, reindexer, place)).done for place in (A, B)] == [3, 3]


@pytest.mark.promise("P4")
async def test_a_workspace_sees_only_its_own_progress_and_indexes_only_its_own_texts(
    indexed: Database, reindexer: Reindexer
) -> None:
    await write_notes(indexed, B, {"b1": "a note of B"})
    await start(indexed, reindexer, NEW)
    await reindexer.run()
    async with indexed.read(B) as session:
        assert await reindexer.progress(session) == []
    assert await stored_vectors(indexed, B, NEW) == {}


async def test_whoever_stores_a_text_can_ask_which_vector_it_needs_besides(
    indexed: Database, reindexer: Reindexer
) -> None:
    async def target_model() -> str | None:
        async with indexed.read(A) as session:
            return await reindexer.target_model(session, "notes")

    assert await target_model() is None
    await start(indexed, reindexer, NEW)
    assert await target_model() == NEW
    await reindexer.run()
    assert await target_model() is None
