"""Building everything about models out of the settings."""

from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from gaby.app.installed_models import installed_models
from gaby.llm.accounts import Accounts
from gaby.llm.books import Books
from gaby.llm.breaker import Breakers
from gaby.llm.call_trace import TraceStore
from gaby.llm.configured import ConfiguredSetups
from gaby.llm.remote_embedding import RemoteEmbedding
from gaby.llm.runtime import SkillRunner
from gaby.llm.service import Models
from gaby.llm.walk import Road
from gaby.settings import ModelSettings
from gaby.skills import SKILLS
from gaby.tools import Ground

if TYPE_CHECKING:
    from gaby.llm.embeddings.embedder import Matrix, Vector
    from gaby.llm.embeddings.reindex import Reindexer
    from gaby.llm.embeddings.service import Embeddings

_REMEMBERED = 4096
"""Vectors of a kilobyte each."""


def build_models(ground: Ground, books: Books, traces: TraceStore, settings: ModelSettings) -> Models:
    database, clock, ids = ground.database, ground.clock, ground.ids
    accounts = Accounts(clock, ids, ground.vault)
    setups = ConfiguredSetups(database, clock, accounts, books, installed_models(settings))
    database.after_commit(setups.heard)
    breakers = Breakers(clock)
    road = Road(books, breakers, settings.patience, ground.random, traces=traces)

    def vectors() -> tuple["Embeddings", "Reindexer"]:
        from gaby.knowledge.collection import KnowledgeCollection
        from gaby.llm.embeddings.reindex import Reindexer
        from gaby.llm.embeddings.service import Embeddings

        remote = RemoteEmbedding(setups, books, patience=settings.timeout.total_seconds())
        embeddings = Embeddings(database, clock, setups, remote=remote, folder=settings.folder)
        reindexer = Reindexer(database, clock, ids, embeddings)
        reindexer.register(KnowledgeCollection())
        return embeddings, reindexer

    return Models(
        database=database,
        accounts=accounts,
        setups=setups,
        breakers=breakers,
        books=books,
        runner=SkillRunner(setups, road, local_embed(settings.folder), settings.timeout),
        skills=SKILLS,
        vectors=vectors,
        ids=ids,
    )


@cache
def local_embed(folder: Path | None) -> "LocalEmbed":
    """The same one for everybody in the process, so that what the mind learns with it is learned once."""
    return LocalEmbed(folder)


class LocalEmbed:
    """The mind works with the model that is always there, whatever a workspace indexes its knowledge with."""

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder
        self._known: dict[str, Vector] = {}

    def __call__(self, texts: Sequence[str]) -> "Matrix":
        import numpy as np

        from gaby.llm.embeddings.local import DEFAULT, find_embedder

        # Sentences of the same pages are compared with one ticket after the other.
        known = self._known
        new = [text for text in dict.fromkeys(texts) if text not in known]
        vectors = find_embedder(DEFAULT, self._folder).embed(new)
        made = dict(zip(new, vectors, strict=True))
        found = [made[text] if text in made else known[text] for text in texts]
        if len(known) + len(made) > _REMEMBERED:
            # Anew, and not changed: another thread may be reading the old ones.
            self._known = known = {}
        known.update(made)
        return np.stack(found) if found else vectors
