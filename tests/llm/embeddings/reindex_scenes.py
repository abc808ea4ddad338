"""A change of the model from beginning to end, in a few words."""

import numpy as np

from gaby.kernel.actors import system_actor
from gaby.kernel.database import Database
from gaby.kernel.ids import WorkspaceId
from gaby.llm.embeddings.local import find_embedder
from gaby.llm.embeddings.models import ReindexState
from gaby.llm.embeddings.reindex import Reindexer
from gaby.llm.embeddings.vectors import to_bytes, unit_rows
from tests.kernel.database.stories import A
from tests.llm.embeddings.scenes import vector_of

NOTES = {f"n{number:02}": f"note number {number}" for number in range(8)}
OLD, NEW = "local/wordllama", "acme/vectors"


async def start(db: Database, reindexer: Reindexer, model: str, place: WorkspaceId = A) -> None:
    async with db.write(place) as session:
        await reindexer.start(session, system_actor("test", place), place, model)


async def progress(db: Database, reindexer: Reindexer, place: WorkspaceId = A) -> ReindexState:
    async with db.read(place) as session:
        (row,) = await reindexer.progress(session)
        return row


def expected(model: str, notes: dict[str, str] = NOTES) -> dict[str, bytes]:
    if model == OLD:
        rows = find_embedder(OLD).embed(list(notes.values()))
    else:
        rows = unit_rows(np.array([vector_of(text) for text in notes.values()]))
    return {key: to_bytes(row) for key, row in zip(notes, rows, strict=True)}
