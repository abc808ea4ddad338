"""Embeddings as the rest of Gaby asks for them."""

import asyncio

import numpy as np
import pytest
from sqlalchemy import func, select, update

from gaby.kernel.clock import ManualClock
from gaby.kernel.database import Database
from gaby.kernel.errors import Invalid
from gaby.kernel.ids import WorkspaceId
from gaby.llm.embeddings.errors import EmbedderUnknown, RemoteNotConnected
from gaby.llm.embeddings.local import find_embedder
from gaby.llm.embeddings.models import CachedVector
from gaby.llm.embeddings.service import Embeddings
from gaby.llm.embeddings.vectors import unit_rows
from gaby.llm.errors import AnswerUnreadable, ModelDown
from tests.kernel.database.stories import A, B, on_sqlite
from tests.llm.embeddings.scenes import Chosen, Provider, vector_of

pytestmark = pytest.mark.promise("G9")

TEXTS = ["cannot sign in", "paid twice", "where is my parcel"]


async def kept(db: Database, place: WorkspaceId = A) -> int:
    async with db.read(place) as session:
        rows = select(func.count()).select_from(CachedVector).where(CachedVector.workspace_id == place)
        return (await session.scalars(rows)).one()


async def test_each_text_is_asked_for_once_and_never_again(embeddings: Embeddings, provider: Provider) -> None:
    first = await embeddings.embed(A, [*TEXTS, TEXTS[0]])
    again = await embeddings.embed(A, [TEXTS[2], TEXTS[0], "new"])
    assert provider.asked == [TEXTS, ["new"]]
    assert np.array_equal(first[0], first[3])
    assert np.array_equal(again[:2], first[[2, 0]])
    assert np.allclose(first, unit_rows(np.array([vector_of(text) for text in [*TEXTS, TEXTS[0]]])), atol=1e-6)


async def test_no_workspace_profits_from_what_another_has_asked(embeddings: Embeddings, provider: Provider) -> None:
    await embeddings.embed(A, TEXTS)
    await embeddings.embed(B, TEXTS)
    assert provider.asked == [TEXTS, TEXTS]


async def test_no_texts_ask_nobody(embeddings: Embeddings, provider: Provider) -> None:
    assert len(await embeddings.embed(A, [])) == 0
    assert (await embeddings.embed_with(A, "local/minilm", [])).shape == (0, 384)
    assert provider.asked == []


@on_sqlite
async def test_a_workspace_has_the_model_that_was_chosen_for_it(workspaces: Database, clock: ManualClock) -> None:
    chosen = Chosen("local/wordllama")
    embeddings = Embeddings(workspaces, clock, chosen)
    assert (await embeddings.embed(A, TEXTS)).shape == (3, 256)
    chosen.model = "local/both"
    assert (await embeddings.embed(A, TEXTS)).shape == (3, 640)
    await embeddings.close()


async def test_a_local_model_gives_the_vectors_that_it_gives_directly(
    embeddings: Embeddings, workspaces: Database
) -> None:
    for name, worth in (("local/wordllama", 0), ("local/minilm", len(TEXTS))):
        before = await kept(workspaces)
        for _ in range(2):
            rows = await embeddings.embed_with(A, name, TEXTS)
            assert np.allclose(rows, embeddings.local(name)(TEXTS), atol=1e-6)
        assert await kept(workspaces) - before == worth


async def test_a_wrong_answer_never_gets_into_the_cache(
    embeddings: Embeddings, provider: Provider, workspaces: Database
) -> None:
    provider.answer = [vector_of("a"), vector_of("b")]
    with pytest.raises(AnswerUnreadable):
        await embeddings.embed(A, TEXTS)
    assert await kept(workspaces) == 0
    provider.answer = None
    await embeddings.embed(A, TEXTS)
    assert await kept(workspaces) == 3


async def test_a_provider_whose_dimensions_change_is_told_apart_also_after_a_restart(
    embeddings: Embeddings, provider: Provider, workspaces: Database, clock: ManualClock
) -> None:
    await embeddings.embed(A, TEXTS)
    restarted = Embeddings(workspaces, clock, Chosen("acme/vectors"), remote=provider)
    provider.dimensions = 5
    with pytest.raises(AnswerUnreadable, match="5 numbers, and before with 8"):
        await restarted.embed(A, ["new"])
    assert await kept(workspaces) == 3
    await restarted.close()


async def test_dimensions_that_change_in_the_middle_of_a_call_are_noticed_also_when_nothing_is_kept(
    embeddings: Embeddings, provider: Provider, workspaces: Database
) -> None:
    provider.dimensions_later = 5
    async with workspaces.write(A):
        with pytest.raises(AnswerUnreadable, match="5 numbers, and before with 8"):
            await embeddings.embed(A, [f"text {number}" for number in range(500)])
    assert len(provider.asked) == 6


async def test_what_was_paid_for_is_kept_when_a_later_batch_fails(
    embeddings: Embeddings, provider: Provider, workspaces: Database
) -> None:
    texts = [f"text {number}" for number in range(200)]
    provider.fail_after = 2
    provider.failing = ModelDown()
    with pytest.raises(ModelDown):
        await embeddings.embed(A, texts)
    assert await kept(workspaces) == 192
    provider.failing = None
    assert len(await embeddings.embed(A, texts)) == 200
    assert [len(batch) for batch in provider.asked] == [96, 96, 8, 8]


async def test_a_damaged_vector_is_made_anew(embeddings: Embeddings, provider: Provider, workspaces: Database) -> None:
    first = await embeddings.embed(A, TEXTS)
    async with workspaces.write(A) as session:
        await session.execute(update(CachedVector).where(CachedVector.workspace_id == A).values(vector=b"rubbish"))
    again = await embeddings.embed(A, TEXTS)
    third = await embeddings.embed(A, TEXTS)
    assert np.array_equal(first, again)
    assert np.array_equal(first, third)
    assert provider.asked == [TEXTS, TEXTS]


async def test_inside_a_write_texts_are_embedded_but_not_kept(
    embeddings: Embeddings, provider: Provider, workspaces: Database
) -> None:
    async with workspaces.write(A):
        assert (await embeddings.embed(A, TEXTS)).shape == (3, 8)
    assert await kept(workspaces) == 0


async def test_many_who_ask_for_the_same_texts_at_once_all_get_them(
    embeddings: Embeddings, workspaces: Database
) -> None:
    answers = await asyncio.gather(*(embeddings.embed(A, TEXTS) for _ in range(4)))
    assert all(np.allclose(answer, answers[0]) for answer in answers)
    assert await kept(workspaces) == 3


async def test_whoever_gives_up_leaves_the_service_in_order(
    embeddings: Embeddings, provider: Provider, workspaces: Database
) -> None:
    provider.gate = asyncio.Event()
    task = asyncio.create_task(embeddings.embed(A, TEXTS))
    await provider.reached.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    provider.gate.set()
    assert (await embeddings.embed(A, TEXTS)).shape == (3, 8)


@on_sqlite
async def test_a_large_request_comes_back_in_order(embeddings: Embeddings) -> None:
    texts = [f"customer {number % 1100} asks about order {number % 7}" for number in range(3000)]
    rows = await embeddings.embed_with(A, "local/wordllama", texts)
    assert np.allclose(rows, find_embedder("local/wordllama").embed(texts), atol=1e-6)


@on_sqlite
@pytest.mark.parametrize("model", ["acme/vectors", "local/wordllama", "local/minilm"])
async def test_hostile_texts_are_embedded_and_kept(embeddings: Embeddings, model: str) -> None:
    texts = ["", "\0", "\ud800", "\udc00\ud800", "a\0b", "\ufeff", "\u202e", "x" * 2**20, "\U0010ffff", "'; DROP --"]
    rows = await embeddings.embed_with(A, model, texts)
    assert np.allclose(np.linalg.norm(rows, axis=1), 1, atol=1e-5)
    assert np.isfinite(rows @ rows.T).all()
    assert np.allclose(rows, await embeddings.embed_with(A, model, texts), atol=1e-6)


@on_sqlite
async def test_a_model_of_a_provider_needs_one(workspaces: Database, clock: ManualClock) -> None:
    embeddings = Embeddings(workspaces, clock, Chosen("openai/text-embedding-3-small"))
    with pytest.raises(RemoteNotConnected, match="openai/text-embedding-3-small"):
        await embeddings.embed(A, TEXTS)
    await embeddings.close()


@on_sqlite
async def test_names_are_checked_before_anything_begins(embeddings: Embeddings) -> None:
    for good in ("local/wordllama", "local/minilm", "local/both", "openai/text-embedding-3-small", "a/b/c"):
        embeddings.check(good)
    for bad in ("", "openai", "/x", "x/", "x/" + "y" * 200):
        with pytest.raises(Invalid):
            embeddings.check(bad)
    with pytest.raises(EmbedderUnknown):
        embeddings.check("local/unknown")
