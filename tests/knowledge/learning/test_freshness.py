"""Freshness: what was neither changed nor cited for 180 days is stale, to the moment."""

from collections.abc import Sequence
from datetime import timedelta

import pytest

from gaby.kernel.clock import ManualClock
from gaby.knowledge.freshness import STALE, DocumentListing, documents
from tests.knowledge.scenes import PAGES, KnowledgeScene

pytestmark = [pytest.mark.promise("K8"), pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)]

TICK = timedelta(microseconds=1)


async def lines(
    docs: KnowledgeScene, clock: ManualClock, source: str | None = None, *, stale: bool = False, limit: int = 200
) -> Sequence[DocumentListing]:
    async with docs.gaby.database.read(docs.workspace_id) as session:
        return await documents(session, now=clock.now(), source=source, stale=stale, limit=limit)


async def stale(docs: KnowledgeScene, clock: ManualClock) -> set[str]:
    """Both ways of asking give the same."""
    listed = {line.uri for line in await lines(docs, clock, stale=True)}
    assert {line.uri for line in await lines(docs, clock) if line.stale} == listed
    return listed


async def test_a_page_is_stale_after_half_a_year_unused(docs: KnowledgeScene, clock: ManualClock) -> None:
    await docs.filled()
    assert timedelta(days=180) == STALE
    clock.advance(STALE - TICK)
    assert await stale(docs, clock) == set()
    clock.advance(TICK)
    assert await stale(docs, clock) == set(PAGES)


async def test_being_cited_keeps_a_page_fresh(docs: KnowledgeScene, clock: ManualClock) -> None:
    await docs.filled()
    clock.advance(timedelta(days=100))
    await docs.components.answering.answer(docs.actor, "the VPN says E-1042, what can I do?")
    clock.advance(timedelta(days=80))
    old = await stale(docs, clock)
    assert "network.md" not in old
    assert {"kitchen.txt", "billing/refunds.md"} <= old
    clock.advance(timedelta(days=100) - TICK)
    assert "network.md" not in await stale(docs, clock)
    clock.advance(TICK)
    assert "network.md" in await stale(docs, clock)


async def test_being_changed_keeps_a_page_fresh_although_it_was_cited_long_ago(
    docs: KnowledgeScene, clock: ManualClock
) -> None:
    source = await docs.filled()
    await docs.components.answering.answer(docs.actor, "the VPN says E-1042, what can I do?")
    clock.advance(timedelta(days=170))
    docs.write({"network.md": "# VPN\n\nE-1042 is a thing of the past.\n"})
    await docs.sync(source)
    clock.advance(timedelta(days=180) - TICK)
    assert await stale(docs, clock) == set(PAGES) - {"network.md"}
    clock.advance(TICK)
    assert "network.md" in await stale(docs, clock)


async def test_a_sync_that_finds_nothing_new_does_not_make_a_page_fresh(
    docs: KnowledgeScene, clock: ManualClock
) -> None:
    source = await docs.filled()
    clock.advance(STALE)
    await docs.sync(source)
    assert await stale(docs, clock) == set(PAGES)


async def test_documents_are_listed_by_source_and_place(docs: KnowledgeScene, clock: ManualClock) -> None:
    await docs.filled()
    more = await docs.add("again")
    await docs.sync(more)
    every = await lines(docs, clock)
    assert [(line.source, line.uri) for line in every] == sorted(
        (name, uri) for name in ("again", "docs") for uri in PAGES
    )
    assert {line.source for line in await lines(docs, clock, "docs")} == {"docs"}
    assert await lines(docs, clock, "nobody") == []
    assert len(await lines(docs, clock, limit=3)) == 3
    assert all(line.passages > 0 and line.lines > 0 and line.uses == 0 and line.used_at is None for line in every)
