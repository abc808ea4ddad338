"""Two workspaces on each engine, and the local models."""

from collections.abc import AsyncGenerator

import pytest

from gaby.kernel.clock import ManualClock
from gaby.kernel.database import Database
from gaby.kernel.events import Event
from gaby.kernel.ids import IdFactory
from gaby.llm.embeddings.reindex import Reindexer
from gaby.llm.embeddings.service import Embeddings
from tests.kernel.database.stories import A, add_workspaces
from tests.llm.embeddings.reindex_scenes import NOTES, OLD, start
from tests.llm.embeddings.scenes import Chosen, Provider, make_tables, new_reindexer, write_notes


@pytest.fixture
def provider() -> Provider:
    return Provider()


@pytest.fixture
async def embeddings(workspaces: Database, clock: ManualClock, provider: Provider) -> AsyncGenerator[Embeddings]:
    """With the provider's model for everybody."""
    service = Embeddings(workspaces, clock, Chosen("acme/vectors"), remote=provider)
    yield service
    await service.close()


@pytest.fixture
async def workspaces(db: Database) -> Database:
    """A and B."""
    await add_workspaces(db)
    return db


@pytest.fixture
def reindexer(workspaces: Database, clock: ManualClock, ids: IdFactory, embeddings: Embeddings) -> Reindexer:
    """Of a collection of notes, three in a batch."""
    make_tables(workspaces)
    return new_reindexer(workspaces, clock, ids, embeddings)


@pytest.fixture
async def events(workspaces: Database) -> list[Event]:
    told: list[Event] = []

    async def hear(event: Event) -> None:
        told.append(event)

    workspaces.after_commit(hear)
    return told


@pytest.fixture
async def indexed(workspaces: Database, reindexer: Reindexer, events: list[Event]) -> Database:
    """Eight notes, searched by the old model."""
    await write_notes(workspaces, A, NOTES)
    await start(workspaces, reindexer, OLD)
    await reindexer.run()
    events.clear()
    return workspaces
