"""Search: what fits, why, for how long it is remembered, and nothing when nothing fits."""

import asyncio
from datetime import timedelta

import pytest

from gaby.kernel.clock import ManualClock
from tests.knowledge.scenes import KnowledgeScene

pytestmark = pytest.mark.promise("K4")

TICKET = """Hello support team,

I hope this finds you well. We had a long weekend and nothing worked since. On Friday my colleague could still work from
home. Today the VPN does not start; the window only shows E-1042 and then closes. I restarted the laptop twice.

By the way, I also bought the larger plan by mistake last week. Can that be refunded?

Kind regards,
Ada from Lanternfish
"""


async def test_a_long_ticket_is_several_questions_at_once(docs: KnowledgeScene) -> None:
    await docs.filled()
    results = await docs.search(TICKET)
    assert len(results.queries) > 2
    assert {"network.md", "billing/refunds.md"} <= {hit.uri for hit in results.hits}


async def test_every_score_is_explained(docs: KnowledgeScene) -> None:
    await docs.filled()
    results = await docs.search("unlock a locked account")
    assert results.hits[0].uri == "accounts.md"
    for hit in results.hits:
        assert hit.score == pytest.approx(sum(reason.contribution for reason in hit.reasons))
        assert 0 <= hit.confidence <= 1
        assert hit.confidence <= results.best
    assert [hit.score for hit in results.hits] == sorted((hit.score for hit in results.hits), reverse=True)


async def test_nothing_is_found_when_nothing_fits(docs: KnowledgeScene) -> None:
    await docs.filled()
    results = await docs.search("Which vaccinations does my dog need before a journey to Iceland?")
    assert list(results.hits) == []
    assert results.best < results.threshold
    anyway = await docs.search("Which vaccinations does my dog need before a journey to Iceland?", everything=True)
    assert anyway.hits


STRANGE = (
    "",
    " \n\t ",
    "🦑🦑🦑",
    "\0",
    "a" * 100_000,
    "the of and",
    '"; DROP TABLE x; --',
    "*:NEAR(",
    "'a' & !b | c:*",
)


async def test_strange_questions_are_answered_or_not_but_never_break(docs: KnowledgeScene) -> None:
    await docs.filled()
    for question in STRANGE:
        assert (await docs.search(question)).passages > 0, question[:20]


async def test_an_empty_workspace_finds_nothing(docs: KnowledgeScene) -> None:
    results = await docs.search("anything")
    assert (list(results.hits), results.passages) == ([], 0)


@pytest.mark.promise("K6")
async def test_an_answer_is_remembered_for_ten_minutes_or_until_something_changes(
    docs: KnowledgeScene, clock: ManualClock
) -> None:
    source = await docs.filled()
    question = "unlock a locked account"
    first = await docs.search(question)
    clock.advance(timedelta(minutes=9, seconds=59))
    assert await docs.search(question) is first
    clock.advance(timedelta(seconds=1))
    second = await docs.search(question)
    assert second is not first
    docs.write({"unlocking.md": "# Unlocking\n\nUnlock a locked account by asking the desk.\n"})
    await docs.sync(source)
    third = await docs.search(question)
    assert "unlocking.md" in {hit.uri for hit in third.hits}


async def test_many_questions_at_once_are_all_answered_after_a_change(docs: KnowledgeScene) -> None:
    await docs.filled()
    asked = [f"when was account number {number} locked?" for number in range(12)]
    found = await asyncio.gather(*(docs.search(question, everything=True) for question in asked))
    assert all(each.hits[0].uri == "accounts.md" for each in found), "no session was left for the vectors"


async def test_a_hit_comes_with_what_stands_around_it(docs: KnowledgeScene) -> None:
    sections = [f"## Part {number}\n\n" + f"Words about matter {number} and more. " * 40 for number in range(5)]
    await docs.filled({"long.md": "# Long\n\n" + "\n\n".join(sections) + "\n"})
    best = (await docs.search("matter 2")).hits[0]
    assert best.headings[-1] == "Part 2"
    assert "matter 1" in best.before
    assert "matter 3" in best.after
