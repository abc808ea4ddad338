"""Vectors that were made before, on both engines."""

import asyncio
from typing import Any

import numpy as np
import pytest
from sqlalchemy import func, select, update

from gaby.kernel.database import Database
from gaby.kernel.database.guard import UnscopedStatement
from gaby.kernel.ids import WorkspaceId
from gaby.llm.embeddings import cache
from gaby.llm.embeddings.embedder import Vector
from gaby.llm.embeddings.models import CachedVector
from gaby.llm.embeddings.texts import digest
from gaby.llm.embeddings.vectors import nowhere, to_bytes, unit_rows
from tests.kernel.database.stories import NOW, A, B

pytestmark = pytest.mark.promise("G9")

MODEL = "acme/vectors"


def some_vectors(count: int, dimensions: int = 8, *, seed: int = 1) -> dict[bytes, Vector]:
    rows = unit_rows(np.random.default_rng(seed).normal(size=(count, dimensions)))
    return {digest(f"text {number}"): row for number, row in enumerate(rows)}


async def keep(
    db: Database, vectors: dict[bytes, Vector], place: WorkspaceId = A, model: str = MODEL, **options: Any
) -> None:
    async with db.write(place) as session:
        await cache.store(session, model, vectors, now=NOW, **options)


async def find(
    db: Database, hashes: list[bytes], place: WorkspaceId = A, model: str = MODEL, **options: Any
) -> cache.CacheLookup:
    async with db.read(place) as session:
        return await cache.find(session, model, hashes, **options)


async def damage(db: Database, text_hash: bytes, blob: bytes) -> None:
    async with db.write(A) as session:
        there = (CachedVector.workspace_id == A, CachedVector.model == MODEL, CachedVector.text_hash == text_hash)
        await session.execute(update(CachedVector).where(*there).values(vector=blob))


async def count(db: Database) -> int:
    async with db.read(A) as session:
        rows = select(func.count()).select_from(CachedVector).where(CachedVector.workspace_id == A)
        return (await session.scalars(rows)).one()


async def test_what_was_kept_is_found_as_it_was_in_any_number(workspaces: Database) -> None:
    vectors = some_vectors(1203)
    await keep(workspaces, vectors)
    found = await find(workspaces, [*vectors, digest("never seen")])
    assert found.vectors.keys() == vectors.keys()
    assert all(np.array_equal(found.vectors[each], vectors[each]) for each in vectors)
    assert found.damaged == frozenset()


async def test_nothing_is_found_when_nothing_is_asked_or_kept(workspaces: Database) -> None:
    await keep(workspaces, {})
    assert (await find(workspaces, [])).vectors == {}
    assert (await find(workspaces, [digest("x")])).vectors == {}


async def test_another_model_has_vectors_of_its_own(workspaces: Database) -> None:
    first, second = some_vectors(3), some_vectors(3, 4, seed=2)
    await keep(workspaces, first)
    await keep(workspaces, second, model="local/minilm")
    found = await find(workspaces, list(second), model="local/minilm")
    assert all(np.array_equal(found.vectors[each], second[each]) for each in second)


@pytest.mark.promise("P4")
async def test_a_workspace_never_finds_what_another_has_read(workspaces: Database) -> None:
    vectors = some_vectors(3)
    await keep(workspaces, vectors)
    assert (await find(workspaces, list(vectors), place=B)).vectors == {}
    async with workspaces.read(B) as session:
        assert await cache.dimensions_of(session, MODEL) is None
        with pytest.raises(UnscopedStatement):
            await session.execute(select(CachedVector.vector).where(CachedVector.model == MODEL))


async def test_what_is_there_already_stays(workspaces: Database) -> None:
    first, second = some_vectors(5), some_vectors(8, seed=2)
    await keep(workspaces, first)
    await keep(workspaces, second)
    found = await find(workspaces, list(second))
    assert all(np.array_equal(found.vectors[each], (second | first)[each]) for each in second)


async def test_many_who_keep_the_same_texts_at_once_do_not_stand_in_each_others_way(workspaces: Database) -> None:
    vectors = some_vectors(700)
    backwards = dict(reversed(vectors.items()))
    await asyncio.gather(*(keep(workspaces, each) for each in (vectors, backwards) * 4))
    assert await count(workspaces) == 700


@pytest.mark.parametrize(
    "blob",
    [b"", b"\0" * 32, b"\0\0\xc0\x7f" * 8, b"\0\0\x80\x7f" * 8, to_bytes(nowhere(8))[:-3], to_bytes(nowhere(8))[:-4]],
    ids=["empty", "zeros", "not numbers", "infinite", "cut in a number", "cut between numbers"],
)
async def test_what_is_damaged_counts_as_missing_and_is_replaced(workspaces: Database, blob: bytes) -> None:
    vectors = some_vectors(3)
    broken = next(iter(vectors))
    await keep(workspaces, vectors)
    await damage(workspaces, broken, blob)
    found = await find(workspaces, list(vectors))
    assert found.damaged == {broken}
    assert broken not in found.vectors
    await keep(workspaces, {broken: vectors[broken]}, damaged=found.damaged)
    assert np.array_equal((await find(workspaces, [broken])).vectors[broken], vectors[broken])


async def test_a_vector_of_other_dimensions_counts_as_damaged(workspaces: Database) -> None:
    vectors = some_vectors(2)
    broken = next(iter(vectors))
    await keep(workspaces, vectors)
    await damage(workspaces, broken, to_bytes(nowhere(4)))
    assert (await find(workspaces, list(vectors), dimensions=8)).damaged == {broken}


async def test_the_dimensions_of_a_model_are_known_from_its_first_vector_on(workspaces: Database) -> None:
    vectors = some_vectors(2, 12)
    async with workspaces.read(A) as session:
        assert await cache.dimensions_of(session, MODEL) is None
    await keep(workspaces, vectors)
    await damage(workspaces, min(vectors), b"rubbish!")
    async with workspaces.read(A) as session:
        assert await cache.dimensions_of(session, MODEL) == 12
