"""Building everything about models out of the settings."""

from gaby.app.installed_models import installed_models
from gaby.llm.accounts import Accounts
from gaby.llm.books import Books
from gaby.llm.breaker import Breakers
from gaby.llm.configured import ConfiguredSetups
from gaby.llm.embeddings.local import DEFAULT
from gaby.llm.embeddings.reindex import Reindexer
from gaby.llm.embeddings.service import Embeddings
from gaby.llm.remote_embedding import RemoteEmbedding
from gaby.llm.runtime import SkillRunner
from gaby.llm.service import Models
from gaby.llm.walk import Road
from gaby.settings import ModelSettings
from gaby.skills import SKILLS
from gaby.tools import Ground


def build_models(ground: Ground, books: Books, settings: ModelSettings) -> Models:
    database, clock, ids = ground.database, ground.clock, ground.ids
    accounts = Accounts(clock, ids, ground.vault)
    setups = ConfiguredSetups(database, clock, accounts, books, installed_models(settings))
    database.after_commit(setups.heard)
    remote = RemoteEmbedding(setups, books, ids, patience=settings.timeout.total_seconds())
    embeddings = Embeddings(database, clock, setups, remote=remote, folder=settings.folder)
    breakers = Breakers(clock)
    road = Road(books, breakers, settings.patience, ground.random)
    return Models(
        accounts=accounts,
        setups=setups,
        breakers=breakers,
        books=books,
        # The mind works with the model that is always there, whatever a workspace indexes its knowledge with.
        runner=SkillRunner(setups, road, embeddings.local(DEFAULT), settings.timeout),
        skills=SKILLS,
        embeddings=embeddings,
        reindexer=Reindexer(database, clock, ids, embeddings),
        ids=ids,
    )
