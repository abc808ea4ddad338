"""One thread, in turns."""

import asyncio
import threading
from collections.abc import Sequence

import numpy as np
import pytest

from gaby.kernel.errors import Unavailable
from gaby.llm.embeddings.embedder import Matrix
from gaby.llm.embeddings.errors import EmbeddingsBusy
from gaby.llm.embeddings.worker import EmbeddingWorker, QueueSlots
from tests.llm.embeddings.scenes import Slow

pytestmark = pytest.mark.promise("G9")

TEN = "0123456789"
"""As much as `Slow` takes at once."""


async def begun(model: Slow) -> None:
    """Once the thread is inside the first batch."""
    assert await asyncio.to_thread(model.begun.wait, 30)


async def settled() -> None:
    """Once every task that can run without the thread has run."""
    for _ in range(10):
        await asyncio.sleep(0)


async def test_a_question_does_not_wait_behind_a_library() -> None:
    worker, model = EmbeddingWorker(), Slow()
    library = asyncio.create_task(worker.embed(model, [f"{number:010}" for number in range(500)]))
    await begun(model)
    question = asyncio.create_task(worker.embed(model, ["question"]))
    await settled()
    model.may_go_on.set()
    await question
    assert model.made.index(["question"]) == 1
    assert (await library).shape == (500, 4)
    assert len(model.made) == 501
    await worker.close()


async def test_many_questions_do_not_stop_a_library_for_good() -> None:
    worker, model = EmbeddingWorker(), Slow()
    library = asyncio.create_task(worker.embed(model, [TEN, TEN, TEN]))
    await begun(model)
    questions = [asyncio.create_task(worker.embed(model, [f"q{number}"])) for number in range(30)]
    await settled()
    model.may_go_on.set()
    await asyncio.gather(library, *questions)
    places = [place for place, made in enumerate(model.made) if made == [TEN]]
    assert places == [0, 9, 18]
    await worker.close()


async def test_two_libraries_take_turns() -> None:
    worker, model = EmbeddingWorker(), Slow()
    first = asyncio.create_task(worker.embed(model, ["a" * 10] * 4))
    await begun(model)
    second = asyncio.create_task(worker.embed(model, ["b" * 10] * 4))
    await settled()
    model.may_go_on.set()
    await asyncio.gather(first, second)
    assert [made[0][0] for made in model.made] == list("abababab")
    await worker.close()


async def test_rows_come_back_in_the_order_of_the_texts() -> None:
    worker, model = EmbeddingWorker(), Slow()
    model.may_go_on.set()
    texts = ["one", "two", "three", "four", "a much longer text", "five"]
    whole = await worker.embed(model, texts)
    assert len(model.made) > 1
    assert np.array_equal(whole, model.embed(texts))
    assert (await worker.embed(model, [])).shape == (0, 4)
    await worker.close()


async def test_all_batches_are_made_in_the_same_thread() -> None:
    seen: set[int] = set()

    class Watched(Slow):
        def embed(self, texts: Sequence[str]) -> Matrix:
            seen.add(threading.get_ident())
            return super().embed(texts)

    worker, model = EmbeddingWorker(), Watched()
    model.may_go_on.set()
    await asyncio.gather(*(worker.embed(model, [TEN, TEN]) for _ in range(5)))
    assert len(seen) == 1
    assert threading.get_ident() not in seen
    await worker.close()


async def test_whoever_goes_away_makes_room_and_costs_no_further_batch() -> None:
    worker, model = EmbeddingWorker(QueueSlots(small=1, large=1)), Slow()
    library = asyncio.create_task(worker.embed(model, ["gone" * 3] * 50))
    await begun(model)
    library.cancel()
    await settled()
    assert library.cancelled()
    question = asyncio.create_task(worker.embed(model, ["question"]))
    other = asyncio.create_task(worker.embed(model, [TEN, TEN]))
    await settled()
    model.may_go_on.set()
    await asyncio.gather(question, other)
    assert model.made == [["gone" * 3], ["question"], [TEN], [TEN]]
    await worker.close()


async def test_whoever_goes_away_in_the_middle_does_not_stop_those_behind() -> None:
    worker, model = EmbeddingWorker(), Slow()
    gone = asyncio.create_task(worker.embed(model, ["gone"]))
    await begun(model)
    behind = asyncio.create_task(worker.embed(model, ["behind"]))
    await settled()
    gone.cancel()
    await settled()
    model.may_go_on.set()
    assert (await behind).shape == (1, 4)
    await worker.close()


async def test_whoever_goes_away_before_the_first_turn_costs_nothing() -> None:
    worker, model = EmbeddingWorker(), Slow()
    first = asyncio.create_task(worker.embed(model, ["first"]))
    await begun(model)
    gone = [asyncio.create_task(worker.embed(model, texts)) for texts in (["gone"], [TEN, TEN])]
    await settled()
    for task in gone:
        task.cancel()
    await settled()
    model.may_go_on.set()
    await first
    await worker.embed(model, ["last"])
    assert model.made == [["first"], ["last"]]
    await worker.close()


async def test_when_all_places_are_taken_one_waits_or_is_told() -> None:
    worker, model = EmbeddingWorker(QueueSlots(small=1, large=1)), Slow()
    first = asyncio.create_task(worker.embed(model, ["first"]))
    await begun(model)
    waiting = asyncio.create_task(worker.embed(model, ["waiting"]))
    await settled()
    with pytest.raises(EmbeddingsBusy):
        await worker.embed(model, ["told"], wait=False)
    library = asyncio.create_task(worker.embed(model, [TEN, TEN], wait=False))
    await settled()
    model.may_go_on.set()
    await asyncio.gather(first, waiting, library)
    assert ["told"] not in model.made
    assert (await worker.embed(model, ["later"], wait=False)).shape == (1, 4)
    await worker.close()


async def test_a_failure_reaches_whoever_asked_and_nobody_else() -> None:
    worker, broken, whole = EmbeddingWorker(), Slow(failing=ValueError("broken")), Slow()
    whole.may_go_on.set()
    failing = asyncio.create_task(worker.embed(broken, [TEN] * 5))
    await begun(broken)
    fine = asyncio.create_task(worker.embed(whole, [TEN] * 3))
    await settled()
    broken.may_go_on.set()
    with pytest.raises(ValueError, match="broken"):
        await failing
    assert (await fine).shape == (3, 4)
    assert len(broken.made) == 1
    await worker.close()


async def test_closing_ends_what_waits() -> None:
    worker, model = EmbeddingWorker(), Slow()
    tasks = [asyncio.create_task(worker.embed(model, texts)) for texts in (["a"], ["b"], [TEN, TEN])]
    await begun(model)
    closing = asyncio.create_task(worker.close())
    await settled()
    model.may_go_on.set()
    await closing
    results = await asyncio.gather(*tasks, return_exceptions=True)
    assert all(isinstance(result, asyncio.CancelledError) for result in results)
    assert model.made == [["a"]]
    with pytest.raises(Unavailable):
        await worker.embed(model, ["too late"])
