"""What was accepted is a document like any other, until somebody takes it back."""

import pytest

from gaby.kernel.errors import Conflict
from gaby.knowledge.source_service import ComesByItself
from tests.knowledge.learning.resolutions import INVOICE, accept, audited, candidate, unlearn
from tests.knowledge.scenes import KnowledgeScene

pytestmark = pytest.mark.promise("K7")

QUESTION = "the handheld scanner beeps twice and reads nothing"


async def test_what_was_accepted_is_found_with_a_citation_and_what_is_unlearned_leaves_again(
    docs: KnowledgeScene,
) -> None:
    await docs.filled()
    row = await candidate(docs)
    other = await candidate(docs, INVOICE)
    await docs.gaby.knowledge.run_due()
    assert f"{row.id}.md" not in await docs.matching_uris(QUESTION), "staged is not learned"
    await accept(docs, row.id, title="Scanners that beep twice")
    await accept(docs, other.id)
    await docs.gaby.knowledge.run_due()
    hit = (await docs.search(QUESTION)).hits[0]
    assert (hit.uri, hit.title) == (f"{row.id}.md", "Scanners that beep twice")
    assert hit.citation.startswith(f"doc:learned/{row.id}.md#")
    async with docs.gaby.database.read(docs.workspace_id) as session:
        shown = await docs.components.citations.resolve(session, hit.citation)
    assert shown.state == "current"
    assert "ten seconds" in shown.text + hit.text
    answer = await docs.components.answering.answer(docs.actor, QUESTION)
    assert any(hit.citation in claim.citations for claim in answer.claims)

    taken_back = await unlearn(docs, row.id, "The firmware mends it.")
    assert (taken_back.state, taken_back.reason) == ("rejected", "The firmware mends it.")
    await docs.gaby.knowledge.run_due()
    hits = (await docs.search(QUESTION, limit=50, everything=True)).hits
    assert f"{row.id}.md" not in {hit.uri for hit in hits}
    assert f"{other.id}.md" in {hit.uri for hit in hits}, "only this one is gone"
    assert [event for event, _ in await audited(docs)][-1] == "rejected"


@pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
async def test_only_what_was_accepted_can_be_taken_back(docs: KnowledgeScene) -> None:
    row = await candidate(docs)
    with pytest.raises(Conflict, match="accepted"):
        await unlearn(docs, row.id)


@pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
async def test_the_source_of_what_was_learned_cannot_be_added_or_removed(docs: KnowledgeScene) -> None:
    with pytest.raises(ComesByItself):
        await docs.add("mine", "learned")
    await accept(docs, (await candidate(docs)).id)
    async with docs.gaby.database.write(docs.workspace_id) as session:
        learned = await docs.components.sources.named(session, "learned")
        with pytest.raises(ComesByItself):
            await docs.components.sources.remove(session, docs.actor, learned)
