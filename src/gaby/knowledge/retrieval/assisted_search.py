"""Search with the help of a model, where the installation wants it: to rewrite the question and judge what is found."""

from dataclasses import replace

from gaby.knowledge.retrieval.results import SearchResults
from gaby.knowledge.retrieval.search import TOP, Searcher
from gaby.llm.results import SkillContext
from gaby.llm.service import Models
from gaby.skills.rank_passages import RankingInput
from gaby.skills.rank_passages import skill as rank_passages
from gaby.skills.search_queries import QueryInput
from gaby.skills.search_queries import skill as search_queries

_JUDGED = 20
_READ = 2000
"""Characters of a passage that are enough to judge it."""


class AssistedSearch:
    """Without a model, or when it fails, the results are those of the search alone."""

    def __init__(self, searcher: Searcher, models: Models, *, ask_model: bool) -> None:
        self._searcher = searcher
        self._models = models
        self._ask_model = ask_model

    async def search(self, occasion: SkillContext, question: str) -> SearchResults:
        if not self._ask_model:
            return await self._searcher.search(occasion.workspace_id, question)
        runner = self._models.runner
        rewritten = await runner.run(search_queries, QueryInput(text=question), occasion)
        rewrites = () if rewritten.offline else tuple(rewritten.value.queries)
        results = await self._searcher.search(occasion.workspace_id, question, limit=_JUDGED, rewrites=rewrites)
        if rewritten.offline or not results.hits:
            return replace(results, hits=results.hits[:TOP])
        given = RankingInput(question=question, passages=[hit.read_aloud[:_READ] for hit in results.hits])
        ranking = await runner.run(rank_passages, given, occasion)
        if ranking.offline:
            return replace(results, hits=results.hits[:TOP])
        return replace(results, hits=tuple(results.hits[place] for place in ranking.value.helpful[:TOP]))
