"""Re-indexing after a change of the model, on both engines."""

import asyncio
from collections.abc import Sequence
from datetime import timedelta

import numpy as np
import pytest

from gaby.kernel.actors import system_actor
from gaby.kernel.clock import HeldClock
from gaby.kernel.database import Database, ReadSession, WriteSession
from gaby.kernel.errors import Conflict, GabyError, Unavailable
from gaby.kernel.events import Event
from gaby.kernel.ids import Ids, WorkspaceId
from gaby.llm.books import DayBudgetSpent
from gaby.llm.embeddings.embedder import Vector
from gaby.llm.embeddings.errors import EmbedderUnknown
from gaby.llm.embeddings.local import find_embedder
from gaby.llm.embeddings.models import Reindexing
from gaby.llm.embeddings.reindex import Reindexer
from gaby.llm.embeddings.service import Embeddings
from gaby.llm.embeddings.vectors import to_bytes, unit_rows
from gaby.llm.errors import KeyRefused, ModelBusy, ModelDown
from tests.kernel.database.stories import A, B
from tests.llm.embeddings.scenes import (
    Chosen,
    Notes,
    Provider,
    change_note,
    new_reindexer,
    searched_model,
    stored_vectors,
    vector_of,
    write_notes,
)

pytestmark = pytest.mark.promise("G9")

NOTES = {f"n{number:02}": f"note number {number}" for number in range(8)}
OLD, NEW = "local/wordllama", "acme/vectors"


@pytest.fixture
async def events(workspaces: Database) -> list[Event]:
    told: list[Event] = []

    async def hear(event: Event) -> None:
        told.append(event)

    workspaces.after_commit(hear)
    return told


async def start(db: Database, reindexer: Reindexer, model: str, place: WorkspaceId = A) -> None:
    async with db.write(place) as session:
        await reindexer.start(session, system_actor("test", place), place, model)


async def progress(db: Database, reindexer: Reindexer, place: WorkspaceId = A) -> Reindexing:
    async with db.read(place) as session:
        (row,) = await reindexer.progress(session)
        return row


def expected(model: str, notes: dict[str, str] = NOTES) -> dict[str, bytes]:
    if model == OLD:
        rows = find_embedder(OLD).embed(list(notes.values()))
    else:
        rows = unit_rows(np.array([vector_of(text) for text in notes.values()]))
    return {key: to_bytes(row) for key, row in zip(notes, rows, strict=True)}


@pytest.fixture
async def indexed(workspaces: Database, reindexer: Reindexer, events: list[Event]) -> Database:
    """Eight notes, searched by the old model."""
    await write_notes(workspaces, A, NOTES)
    await start(workspaces, reindexer, OLD)
    await reindexer.run()
    events.clear()
    return workspaces


async def test_every_text_gets_a_vector_and_then_the_new_ones_are_searched(
    indexed: Database, reindexer: Reindexer, events: list[Event], clock: HeldClock
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


async def test_a_room_without_collections_has_nothing_to_do(
    workspaces: Database, clock: HeldClock, ids: Ids, embeddings: Embeddings
) -> None:
    reindexer = Reindexer(workspaces, clock, ids, embeddings)
    await start(workspaces, reindexer, NEW)
    assert await reindexer.run() == 0


async def test_whoever_takes_over_goes_on_where_the_other_was(
    indexed: Database, reindexer: Reindexer, embeddings: Embeddings, provider: Provider, clock: HeldClock, ids: Ids
) -> None:
    await start(indexed, reindexer, NEW)
    await reindexer.step()
    await new_reindexer(indexed, clock, ids, embeddings).run()
    assert await stored_vectors(indexed, A, NEW) == expected(NEW)
    assert [len(batch) for batch in provider.asked] == [3, 3, 2]


async def test_a_batch_that_was_broken_off_is_made_again(
    indexed: Database, reindexer: Reindexer, embeddings: Embeddings, provider: Provider, clock: HeldClock, ids: Ids
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
    indexed: Database, reindexer: Reindexer, embeddings: Embeddings, clock: HeldClock, ids: Ids
) -> None:
    await start(indexed, reindexer, NEW)
    other = new_reindexer(indexed, clock, ids, embeddings)
    await asyncio.gather(reindexer.run(), other.run(), reindexer.run())
    row = await progress(indexed, reindexer)
    assert (row.state, row.done) == ("done", 8)
    assert await stored_vectors(indexed, A, NEW) == expected(NEW)


async def test_a_slow_process_does_not_turn_back_one_that_is_ahead(
    indexed: Database, reindexer: Reindexer, provider: Provider, clock: HeldClock, ids: Ids
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
    indexed: Database, reindexer: Reindexer, embeddings: Embeddings, clock: HeldClock, ids: Ids, events: list[Event]
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


@pytest.mark.parametrize(
    "passing", [ModelDown(), ModelBusy(retry_after=40), DayBudgetSpent(), Unavailable()], ids=lambda error: error.code
)
async def test_a_provider_that_fails_for_a_while_is_asked_again_later_and_the_reason_can_be_seen(
    indexed: Database, reindexer: Reindexer, provider: Provider, clock: HeldClock, passing: GabyError
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
    indexed: Database, reindexer: Reindexer, provider: Provider, clock: HeldClock
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
    indexed: Database, reindexer: Reindexer, provider: Provider, clock: HeldClock, events: list[Event]
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
    indexed: Database, clock: HeldClock, ids: Ids, embeddings: Embeddings
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
    indexed: Database, reindexer: Reindexer, provider: Provider, clock: HeldClock
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


async def test_whoever_stores_a_text_can_ask_which_vector_it_needs_besides(
    indexed: Database, reindexer: Reindexer
) -> None:
    async def being_made() -> str | None:
        async with indexed.read(A) as session:
            return await reindexer.being_made(session, "notes")

    assert await being_made() is None
    await start(indexed, reindexer, NEW)
    assert await being_made() == NEW
    await reindexer.run()
    assert await being_made() is None


async def test_a_room_that_cannot_store_leaves_nothing_behind_and_says_why(
    indexed: Database, clock: HeldClock, ids: Ids, embeddings: Embeddings
) -> None:
    class Broken(Notes):
        async def store(self, session: WriteSession, model: str, vectors: Sequence[tuple[str, Vector]]) -> None:
            await super().store(session, model, vectors)
            raise Conflict("The shelf is full.")

    reindexer = Reindexer(indexed, clock, ids, embeddings, batch=3)
    reindexer.register(Broken())
    await start(indexed, reindexer, NEW)
    await reindexer.run()
    row = await progress(indexed, reindexer)
    assert (row.state, row.done, row.cursor, row.error) == ("failed", 0, None, "The shelf is full.")
    assert await stored_vectors(indexed, A, NEW) == {}


async def test_a_collection_that_is_gone_fails_instead_of_waiting_for_ever(
    indexed: Database, reindexer: Reindexer, clock: HeldClock, ids: Ids, embeddings: Embeddings
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
