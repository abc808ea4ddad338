"""Another model for vectors: made beside the old one, which is searched until all is there."""

import pytest
from sqlalchemy import func, select

from gaby.knowledge.models import KnowledgeCorpus, KnowledgeVector
from gaby.llm.setups import parse_ref
from tests.knowledge.scenes import PAGES, KnowledgeScene

pytestmark = pytest.mark.promise("G9", "K3")

OLD, NEW = "local/wordllama", "local/both"
QUESTION = "when is a refund possible?"


async def vectors(docs: KnowledgeScene) -> dict[str, int]:
    async with docs.gaby.database.read(docs.workspace_id) as session:
        query = (
            select(KnowledgeVector.model, func.count())
            .where(KnowledgeVector.workspace_id == docs.workspace_id)
            .group_by(KnowledgeVector.model)
        )
        return {row[0]: row[1] for row in await session.execute(query)}


async def searched(docs: KnowledgeScene) -> str:
    async with docs.gaby.database.read(docs.workspace_id) as session:
        query = select(KnowledgeCorpus.model).where(KnowledgeCorpus.workspace_id == docs.workspace_id)
        return (await session.scalars(query)).one()


async def choose(docs: KnowledgeScene, model: str) -> None:
    async with docs.gaby.database.write(docs.workspace_id) as session:
        await docs.gaby.models.route(session, docs.actor, "embeddings", (parse_ref(model),))


async def test_the_old_model_is_searched_until_the_new_one_is_complete(docs: KnowledgeScene) -> None:
    source = await docs.filled()
    count = (await vectors(docs))[OLD]
    await choose(docs, NEW)
    assert await searched(docs) == OLD
    assert (await docs.matching_uris(QUESTION))[0] == "billing/refunds.md"
    docs.write({"new.md": "# Parking\n\nThe garage opens at seven.\n"})
    await docs.sync(source)
    assert await vectors(docs) == {OLD: count + 1, NEW: 1}, "what comes in between has both"
    assert (await docs.matching_uris("when does the garage open?"))[0] == "new.md"
    await docs.gaby.models.reindex()
    assert await searched(docs) == NEW
    assert await vectors(docs) == {NEW: count + 1}
    assert (await docs.matching_uris(QUESTION))[0] == "billing/refunds.md"
    assert (await docs.matching_uris("when does the garage open?"))[0] == "new.md"
    assert await docs.uris(source.id) == {*PAGES, "new.md"}


async def test_an_empty_corpus_takes_the_new_model_at_once(docs: KnowledgeScene) -> None:
    await choose(docs, NEW)
    await docs.gaby.models.reindex()
    await docs.filled({"page.md": "# Parking\n\nThe garage opens at seven.\n"})
    assert await vectors(docs) == {NEW: 1}
    assert (await docs.matching_uris("when does the garage open?")) == ["page.md"]
