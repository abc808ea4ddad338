"""Building everything about models out of the settings."""

from typing import TYPE_CHECKING

from gaby.app.installed_models import installed_models
from gaby.app.services import Services
from gaby.llm.accounts import ModelAccounts
from gaby.llm.breaker import Breakers
from gaby.llm.embeddings.local_embed import local_embed
from gaby.llm.fallback import FallbackDependencies
from gaby.llm.remote_embedding import RemoteEmbedding
from gaby.llm.runtime import SkillRunner
from gaby.llm.service import Models
from gaby.llm.workspace_setups import WorkspaceSetups
from gaby.skills import SKILLS

if TYPE_CHECKING:
    from gaby.llm.embeddings.reindex import Reindexer
    from gaby.llm.embeddings.service import Embeddings


def build_models(services: Services) -> Models:
    settings, budget_ledger = services.settings.models, services.budget_ledger
    database, clock, ids = services.database, services.clock, services.ids
    accounts = ModelAccounts(clock, ids, services.vault)
    setups = WorkspaceSetups(database, clock, accounts, budget_ledger, installed_models(settings))
    database.after_commit(setups.heard)
    breakers = Breakers(clock)
    fallback_dependencies = FallbackDependencies(
        budget_ledger, breakers, settings.patience, services.random, traces=services.traces
    )

    def vectors() -> tuple["Embeddings", "Reindexer"]:
        from gaby.knowledge.collection import KnowledgeCollection
        from gaby.llm.embeddings.reindex import Reindexer
        from gaby.llm.embeddings.service import Embeddings

        remote = RemoteEmbedding(setups, budget_ledger, patience=settings.timeout.total_seconds())
        embeddings = Embeddings(database, clock, setups, remote=remote, folder=settings.folder)
        reindexer = Reindexer(database, clock, ids, embeddings)
        reindexer.register(KnowledgeCollection())
        return embeddings, reindexer

    return Models(
        database=database,
        accounts=accounts,
        setups=setups,
        breakers=breakers,
        budget_ledger=budget_ledger,
        runner=SkillRunner(setups, fallback_dependencies, local_embed(settings.folder), settings.timeout),
        skills=SKILLS,
        vectors=vectors,
        ids=ids,
    )
