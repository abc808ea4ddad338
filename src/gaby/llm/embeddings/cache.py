"""Vectors that were made before: by workspace, model and text, for ever."""

from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from datetime import datetime
from typing import TypeVar

from sqlalchemy import select
from sqlalchemy.dialects import postgresql, sqlite

from gaby.kernel.database import ReadSession, WriteSession
from gaby.llm.embeddings.embedder import Vector
from gaby.llm.embeddings.models import CachedVector
from gaby.llm.embeddings.vectors import from_bytes, to_bytes

T = TypeVar("T")

_AT_ONCE = 500
"""SQLite takes so many values in a statement wherever it was built."""
_KEY = ["workspace_id", "model", "text_hash"]


@dataclass(frozen=True)
class CacheLookup:
    vectors: Mapping[bytes, Vector]
    damaged: frozenset[bytes]
    """What stands there is no vector of this model. It counts as missing, and the next one replaces it."""


async def find(
    session: ReadSession, model: str, hashes: Sequence[bytes], *, dimensions: int | None = None
) -> CacheLookup:
    """What is there, and has so many dimensions. Without knowing how many, the first that is found tells."""
    vectors: dict[bytes, Vector] = {}
    damaged: set[bytes] = set()
    for some in _parts(hashes):
        query = select(CachedVector.text_hash, CachedVector.vector).where(
            CachedVector.workspace_id == session.workspace_id,
            CachedVector.model == model,
            CachedVector.text_hash.in_(some),
        )
        for text_hash, blob in await session.execute(query):
            vector = from_bytes(blob)
            if vector is not None and len(vector) == (dimensions or len(vector)):
                dimensions = len(vector)
                vectors[text_hash] = vector
            else:
                damaged.add(text_hash)
    return CacheLookup(vectors, frozenset(damaged))


async def dimensions_of(session: ReadSession, model: str) -> int | None:
    """How long this model's vectors were until now."""
    query = select(CachedVector.vector).where(
        CachedVector.workspace_id == session.workspace_id, CachedVector.model == model
    )
    kept = map(from_bytes, (await session.scalars(query.limit(5))).all())
    return next((len(vector) for vector in kept if vector is not None), None)


async def store(
    session: WriteSession,
    model: str,
    vectors: Mapping[bytes, Vector],
    *,
    now: datetime,
    damaged: AbstractSet[bytes] = frozenset(),
) -> None:
    """What somebody else has kept meanwhile stays, unless it is damaged."""
    rows = [
        {
            "workspace_id": session.workspace_id,
            "model": model,
            "text_hash": text_hash,
            "vector": to_bytes(vectors[text_hash]),
            "created_at": now,
        }
        for text_hash in sorted(vectors)  # In one order for all, so that no two can wait for each other.
    ]
    insert = postgresql.insert if session.get_bind().dialect.name == "postgresql" else sqlite.insert
    new = insert(CachedVector).on_conflict_do_nothing(index_elements=_KEY)
    again = insert(CachedVector)
    again = again.on_conflict_do_update(index_elements=_KEY, set_={"vector": again.excluded.vector})
    for some in _parts(rows):
        await session.execute(new, some)
    replaced = [row for row in rows if row["text_hash"] in damaged]
    for some in _parts(replaced):
        await session.execute(again, some)


def _parts(things: Sequence[T]) -> Iterator[Sequence[T]]:
    return (things[start : start + _AT_ONCE] for start in range(0, len(things), _AT_ONCE))
