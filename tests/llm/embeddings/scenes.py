"""A small collection of notes, a provider in place of a real one, and a local model that a test can hold up."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from threading import Event as ThreadEvent
from typing import Any

import numpy as np
from sqlalchemy import (
    Column,
    LargeBinary,
    MetaData,
    String,
    Table,
    Text,
    Uuid,
    create_engine,
    delete,
    func,
    insert,
    select,
    text,
    update,
)
from sqlalchemy.dialects import postgresql, sqlite

from gaby.kernel.clock import Clock
from gaby.kernel.database import Database, ReadSession, WriteSession
from gaby.kernel.database.postgres import PostgresEngine
from gaby.kernel.ids import IdFactory, WorkspaceId
from gaby.llm.embeddings.embedder import Matrix, Vector
from gaby.llm.embeddings.reindex import Reindexer
from gaby.llm.embeddings.service import Embeddings
from gaby.llm.embeddings.vectors import to_bytes, unit_rows

_metadata = MetaData()  # Of its own: no migration is to know these tables.
NOTES = Table(
    "notes",
    _metadata,
    Column("workspace_id", Uuid, primary_key=True),
    Column("key", String(40), primary_key=True),
    Column("text", Text),
)
NOTE_VECTORS = Table(
    "note_vectors",
    _metadata,
    Column("workspace_id", Uuid, primary_key=True),
    Column("model", String(200), primary_key=True),
    Column("key", String(40), primary_key=True),
    Column("vector", LargeBinary),
)
NOTE_INDEXES = Table(
    "note_indexes", _metadata, Column("workspace_id", Uuid, primary_key=True), Column("model", String(200))
)


def make_tables(database: Database) -> None:
    engine = create_engine(database.engine.migration_url())
    with engine.begin() as connection:
        _metadata.create_all(connection)
        if isinstance(database.engine, PostgresEngine):
            for table in _metadata.sorted_tables:
                connection.execute(text(f"GRANT ALL ON {table.name} TO {database.engine.role}"))
    engine.dispose()


class Notes:
    """The collection as a package would write it."""

    name = "notes"

    async def count(self, session: ReadSession) -> int:
        query = select(func.count()).select_from(NOTES).where(NOTES.c.workspace_id == session.workspace_id)
        return (await session.scalars(query)).one()

    async def batch(self, session: ReadSession, after: str | None, size: int) -> Sequence[tuple[str, str]]:
        query = select(NOTES.c.key, NOTES.c.text).where(
            NOTES.c.workspace_id == session.workspace_id, NOTES.c.key > (after or "")
        )
        return [(key, text) for key, text in await session.execute(query.order_by(NOTES.c.key).limit(size))]

    async def store(self, session: WriteSession, model: str, vectors: Sequence[tuple[str, Vector]]) -> None:
        make = postgresql.insert if session.get_bind().dialect.name == "postgresql" else sqlite.insert
        statement = make(NOTE_VECTORS)
        statement = statement.on_conflict_do_update(
            index_elements=["workspace_id", "model", "key"], set_={"vector": statement.excluded.vector}
        )
        place = {"workspace_id": session.workspace_id, "model": model}
        await session.execute(statement, [{**place, "key": key, "vector": to_bytes(row)} for key, row in vectors])

    def spoken(self, model: str, text: str) -> str:
        return text

    async def swap(self, session: WriteSession, model: str) -> None:
        place = session.workspace_id
        others = delete(NOTE_VECTORS).where(NOTE_VECTORS.c.workspace_id == place, NOTE_VECTORS.c.model != model)
        await session.execute(others)
        await session.execute(delete(NOTE_INDEXES).where(NOTE_INDEXES.c.workspace_id == place))
        await session.execute(insert(NOTE_INDEXES).values(workspace_id=place, model=model))


def new_reindexer(db: Database, clock: Clock, ids: IdFactory, embeddings: Embeddings) -> Reindexer:
    reindexer = Reindexer(db, clock, ids, embeddings, batch=3)
    reindexer.register(Notes())
    return reindexer


async def write_notes(db: Database, place: WorkspaceId, texts: dict[str, str]) -> None:
    async with db.write(place) as session:
        rows = [{"workspace_id": place, "key": key, "text": text} for key, text in texts.items()]
        await session.execute(insert(NOTES), rows)


async def change_note(db: Database, place: WorkspaceId, key: str, text: str) -> None:
    async with db.write(place) as session:
        await session.execute(update(NOTES).where(NOTES.c.workspace_id == place, NOTES.c.key == key).values(text=text))


async def searched_model(db: Database, place: WorkspaceId) -> str | None:
    async with db.read(place) as session:
        query = select(NOTE_INDEXES.c.model).where(NOTE_INDEXES.c.workspace_id == place)
        return (await session.scalars(query)).one_or_none()


async def stored_vectors(db: Database, place: WorkspaceId, model: str) -> dict[str, bytes]:
    async with db.read(place) as session:
        query = select(NOTE_VECTORS.c.key, NOTE_VECTORS.c.vector).where(
            NOTE_VECTORS.c.workspace_id == place, NOTE_VECTORS.c.model == model
        )
        return {row.key: row.vector for row in await session.execute(query)}


@dataclass
class Chosen:
    """The chooser: one model for everybody."""

    model: str

    async def model_of(self, workspace_id: WorkspaceId) -> str:
        return self.model


def vector_of(text: str, dimensions: int = 8) -> list[float]:
    """What the provider below makes of a text: nothing sensible, and always the same."""
    seed = int.from_bytes(text.encode())
    return [float(number) for number in np.random.default_rng(seed).normal(size=dimensions) * 5]


@dataclass
class Provider:
    """Answers as told to, and remembers what it was asked."""

    dimensions: int = 8
    asked: list[list[str]] = field(default_factory=list[list[str]])
    failing: Exception | None = None
    fail_after: int = 0
    """Batches that are answered before."""
    dimensions_later: int | None = None
    """From the sixth batch on."""
    answer: Any = None
    """Instead of the right one."""
    gate: asyncio.Event | None = None
    """When there is one, it answers only once this is set."""
    reached: asyncio.Event = field(default_factory=asyncio.Event)

    async def __call__(self, workspace_id: WorkspaceId, model: str, texts: Sequence[str], /) -> Any:
        self.asked.append(list(texts))
        self.reached.set()
        if self.gate is not None:
            await self.gate.wait()
        if self.failing is not None and len(self.asked) > self.fail_after:
            raise self.failing
        if self.answer is not None:
            return self.answer
        dimensions = self.dimensions_later if self.dimensions_later and len(self.asked) > 5 else self.dimensions
        return [vector_of(text, dimensions) for text in texts]


@dataclass
class Slow:
    """A local model whose every batch waits for the test, and that remembers what it made."""

    name: str = "local/slow"
    dimensions: int = 4
    worth_caching: bool = False
    batch_characters: int = 10
    made: list[list[str]] = field(default_factory=list[list[str]])
    may_go_on: ThreadEvent = field(default_factory=ThreadEvent)
    begun: ThreadEvent = field(default_factory=ThreadEvent)
    failing: Exception | None = None

    def embed(self, texts: Sequence[str]) -> Matrix:
        self.begun.set()
        assert self.may_go_on.wait(30)
        self.made.append(list(texts))
        if self.failing is not None:
            raise self.failing
        return unit_rows(np.array([vector_of(text, self.dimensions) for text in texts]))
