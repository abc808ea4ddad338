"""The index: exact, of one workspace alone, and whole again after damage."""

import json
from collections import Counter
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pytest
from sqlalchemy import delete, func, select, text, update

from gaby.app import Gaby, build
from gaby.kernel.clock import ManualClock
from gaby.kernel.database import AllWorkspaces
from gaby.knowledge.collection import passage_texts
from gaby.knowledge.index.index import CorpusVersion
from gaby.knowledge.index.pgvector import from_text, to_text
from gaby.knowledge.index.postgres import PostgresIndex
from gaby.knowledge.index.store import VectorStores
from gaby.knowledge.models import KnowledgeCorpus, KnowledgePassage, KnowledgeTerm, KnowledgeVector
from gaby.knowledge.retrieval.results import SearchResults
from gaby.knowledge.search_text import searchable
from gaby.knowledge.terms import terms
from gaby.llm.embeddings.embedder import Matrix
from gaby.llm.embeddings.vectors import unit_rows
from gaby.settings import load
from tests.knowledge.scenes import KnowledgeScene, knowledge_scene

pytestmark = pytest.mark.promise("K3")

QUESTIONS = (
    "the VPN says E-1042",
    "when is a refund possible?",
    "My account is locked since this morning. I tried the sign-in five times. Can somebody unlock it? Also: until when "
    "can I ask for a refund of 20 USD?",
)
OTHER = {f"{number}.md": f"# VPN {number}\n\nThe VPN, refunds and E-1042, case {number}.\n" for number in range(40)}


@asynccontextmanager
async def installation(url: str, home: Path) -> AsyncGenerator[Gaby]:
    settings = load({"GABY_DATABASE_URL": url, "GABY_HOME": str(home)}, env_file=None).settings
    built = build(settings, clock=ManualClock(datetime(2030, 1, 2, 3, 4, 5, tzinfo=UTC)))
    async with built.running(background=False):
        yield built


def stable_results(results: SearchResults) -> str:
    """All that a search says, without the documents' ids, which are made by chance, and the path of the test."""
    return json.dumps(
        [{**asdict(hit), "document_id": None, "link": None} for hit in results.hits]
        + [results.best, results.threshold, results.corpus_version, results.passages]
    )


@pytest.mark.promise("P4")
async def test_another_workspace_changes_no_byte_of_what_is_found(
    database_url: str, second_url: str, tmp_path: Path
) -> None:
    answers: list[list[str]] = []
    for url, busy in ((database_url, False), (second_url, True)):
        async with installation(url, tmp_path / f"home-{busy}") as gaby:
            docs = await knowledge_scene(gaby, tmp_path / f"docs-{busy}")
            other = await knowledge_scene(gaby, tmp_path / f"other-{busy}", "globex")
            if busy:
                await other.filled(OTHER)
            await docs.filled()
            if busy:
                other.write({"0.md": "# Changed\n\nThe VPN again.\n"})
                await other.sync(await other.add("more"))
            found = [await docs.search(question, everything=True) for question in QUESTIONS]
            answers.append([stable_results(each) for each in found])
            assert all(each.hits for each in found)
    assert answers[0] == answers[1]


async def test_more_passages_than_are_read_at_once_are_all_compared(docs: KnowledgeScene, gaby: Gaby) -> None:
    sections = "\n\n".join(f"## Shelf {number}\n\n" + f"Box {number} is red. " * 30 for number in range(1_100))
    await docs.filled({"shelves.md": f"# Shelves\n\n{sections}\n"})
    async with gaby.database.read(docs.workspace_id) as session:
        stored = set(
            await session.scalars(select(KnowledgePassage.id).where(KnowledgePassage.workspace_id == docs.workspace_id))
        )
    assert len(stored) >= 1_100
    asked = await gaby.models.embeddings.embed(docs.workspace_id, ["the red box", "a shelf"])
    near = await docs.components.index.nearest(docs.workspace_id, CorpusVersion("local/wordllama"), asked, len(stored))
    assert [set(hits) for hits in near] == [stored, stored]


async def test_passages_of_another_workspace_are_never_found(docs: KnowledgeScene, gaby: Gaby, tmp_path: Path) -> None:
    other = await knowledge_scene(gaby, tmp_path / "other", "globex")
    await other.filled({"secret.md": "# Zebra\n\nThe zebra project starts in May.\n"})
    await docs.filled()
    hits = (await docs.search("when does the zebra project start?", limit=50, everything=True)).hits
    assert all("zebra" not in hit.text.lower() for hit in hits)
    assert (await other.matching_uris("when does the zebra project start?")) == ["secret.md"]


@pytest.mark.promise("K6")
@pytest.mark.parametrize("damage", ["missing", "cut short", "no numbers", "words"])
async def test_what_is_lost_is_noticed_told_and_made_anew(docs: KnowledgeScene, damage: str) -> None:
    await docs.filled()
    before = [stable_results(await docs.search(question, everything=True)) for question in QUESTIONS]
    assert await docs.components.mender.check(docs.workspace_id) == 0
    await hurt(docs, damage)
    await docs.gaby.knowledge.check_indexes()
    metrics = docs.gaby.metrics.render()[0].decode()
    assert f'gaby_knowledge_damage{{workspace="{docs.workspace_id}"}} 1.0' in metrics
    await docs.gaby.knowledge.run_due()
    assert await docs.components.mender.check(docs.workspace_id) == 0
    after = [await docs.search(question, everything=True) for question in QUESTIONS]
    assert [same_scores(stable_results(each)) for each in after] == [same_scores(each) for each in before]
    assert f'gaby_knowledge_damage{{workspace="{docs.workspace_id}"}} 0.0' in docs.gaby.metrics.render()[0].decode()


@pytest.mark.promise("K6")
async def test_a_search_that_finds_words_and_no_meaning_raises_the_alarm(docs: KnowledgeScene) -> None:
    await docs.filled()
    async with docs.gaby.database.write(docs.workspace_id) as session:
        await session.execute(delete(KnowledgeVector).where(KnowledgeVector.workspace_id == docs.workspace_id))
        await session.execute(
            update(KnowledgeCorpus)
            .where(KnowledgeCorpus.workspace_id == docs.workspace_id)
            .values(version=KnowledgeCorpus.version + 1)
        )
    assert (await docs.matching_uris("the VPN says E-1042"))[0] == "network.md", "words are enough for an answer"
    async with docs.gaby.database.read(docs.workspace_id) as session:
        corpus = await session.get(KnowledgeCorpus, docs.workspace_id)
    assert corpus is not None
    assert corpus.damaged_at is not None
    await docs.gaby.knowledge.run_due()
    assert await docs.components.mender.check(docs.workspace_id) == 0


async def hurt(docs: KnowledgeScene, damage: str) -> None:
    place = docs.workspace_id
    mine = KnowledgeVector.workspace_id == place
    async with docs.gaby.database.write(place) as session:
        first = (await session.scalars(select(func.min(KnowledgeVector.passage_id)).where(mine))).one()
        one = (mine, KnowledgeVector.passage_id == first)
        if damage == "missing":
            await session.execute(delete(KnowledgeVector).where(*one))
        elif damage == "words" and docs.gaby.database.dialect == "sqlite":
            await session.execute(text(f"DROP TABLE passages_of_{place.hex}"))
        elif damage == "words":
            passages = (KnowledgePassage.workspace_id == place, KnowledgePassage.id == first)
            await session.execute(update(KnowledgePassage).where(*passages).values(words=None))
            await session.execute(delete(KnowledgeTerm).where(KnowledgeTerm.workspace_id == place))
        else:
            blob = np.zeros(3 if damage == "cut short" else 256, "<f4").tobytes()
            await session.execute(update(KnowledgeVector).where(*one).values(vector=blob))


def same_scores(answer: str) -> str:
    """The corpus has another version after it was mended."""
    return json.dumps([each for each in json.loads(answer) if not isinstance(each, int) or isinstance(each, bool)])


async def test_the_mapped_vectors_follow_the_database_step_by_step(docs: KnowledgeScene, tmp_path: Path) -> None:
    source = await docs.filled()
    model = "local/wordllama"
    stores = VectorStores(docs.gaby.database, tmp_path / "mapped")
    for change in range(6):
        docs.write({f"more-{change}.md": f"# More {change}\n\nWords about matter {change}.\n"})
        if change % 2:
            docs.write({"accounts.md": f"# Accounts\n\nNew text number {change}.\n"})
        if change == 4:
            for name in ("network.md", "kitchen.txt", "more-0.md", "more-1.md"):
                (docs.folder / name).unlink()
        await docs.sync(source)
        followed = await stores.snapshot(docs.workspace_id, model)
        fresh = await VectorStores(docs.gaby.database, tmp_path / "fresh").snapshot(docs.workspace_id, model)
        assert followed.ids[followed.live].tolist() == fresh.ids[fresh.live].tolist()
        assert np.array_equal(followed.rows[followed.live], fresh.rows[fresh.live])
        query = fresh.rows[:2].copy()
        assert list(await followed.nearest(query, 5)) == list(await fresh.nearest(query, 5))


async def test_the_nearest_are_exactly_the_nearest(docs: KnowledgeScene, tmp_path: Path) -> None:
    dice = np.random.default_rng(5)
    rows = unit_rows(dice.normal(size=(500, 64)))
    await planted(docs, rows)
    queries = unit_rows(dice.normal(size=(3, 64)))
    found = await docs.components.index.nearest(docs.workspace_id, CorpusVersion("test/dice"), queries, 20)
    exact = queries.astype(np.float64) @ rows.astype(np.float64).T
    for row, hits in zip(exact, found, strict=True):
        assert list(hits) == (np.argsort(-row)[:20] + 1).tolist()
        assert np.allclose(list(hits.values()), np.sort(row)[::-1][:20], atol=1e-5)


async def planted(docs: KnowledgeScene, rows: Matrix) -> None:
    """Passages that only have a vector."""
    await docs.filled({"page.md": "# Page\n\nText.\n"})
    place = docs.workspace_id
    async with docs.gaby.database.write(place) as session:
        [passage] = (
            await session.scalars(select(KnowledgePassage).where(KnowledgePassage.workspace_id == place))
        ).all()
        for number in range(2, len(rows) + 1):
            session.add(
                KnowledgePassage(
                    workspace_id=place,
                    id=number,
                    document_id=passage.document_id,
                    ordinal=number,
                    start_at=0,
                    end_at=1,
                    first_line=1,
                    last_line=1,
                    headings=[],
                    content_hash="",
                )
            )
        await session.flush()
        for number, row in enumerate(rows, 1):
            blob = row.astype("<f4").tobytes()
            session.add(KnowledgeVector(workspace_id=place, model="test/dice", passage_id=number, vector=blob))
        corpus = await session.get(KnowledgeCorpus, place)
        assert corpus is not None
        corpus.model, corpus.passages, corpus.version = "test/dice", len(rows), corpus.version + 1


@pytest.mark.parametrize("database_url", ["postgresql"], indirect=True)
async def test_a_large_workspace_on_postgres_has_a_graph_of_its_own(docs: KnowledgeScene) -> None:
    dice = np.random.default_rng(7)
    rows = unit_rows(dice.normal(size=(1500, 32)))
    await planted(docs, rows)
    index = PostgresIndex(docs.gaby.database, exact_up_to=1000)
    await index.tend(docs.workspace_id)
    await index.tend(docs.workspace_id)
    async with docs.gaby.database.read(AllWorkspaces("the names of indexes")) as session:
        query = text("SELECT indexdef FROM pg_indexes WHERE indexname LIKE 'knowledge_graph_%'")
        [made] = (await session.scalars(query)).all()
    assert "hnsw" in made
    assert str(docs.workspace_id) in made
    queries = unit_rows(dice.normal(size=(20, 32)))
    found = await index.nearest(docs.workspace_id, CorpusVersion("test/dice"), queries, 10)
    exact = queries @ rows.T
    kept = [len(set(hits) & set((np.argsort(-row)[:10] + 1).tolist())) for row, hits in zip(exact, found, strict=True)]
    assert sum(kept) >= 190, "at least 95 of 100 of the nearest"
    async with docs.gaby.database.read(docs.workspace_id) as session:
        await session.execute(text("SET LOCAL enable_seqscan = off"))
        plan = text(
            "EXPLAIN SELECT passage_id FROM knowledge_vectors "
            "WHERE workspace_id = :workspace_id AND model = 'test/dice' "
            "ORDER BY vector::vector(32) <=> CAST(:given AS vector)::vector(32), passage_id LIMIT 10"
        )
        given = to_text(queries[0].astype("<f4").tobytes())
        steps = (await session.scalars(plan, {"workspace_id": docs.workspace_id, "given": given})).all()
    assert any("knowledge_graph_" in step for step in steps), steps


async def test_the_counts_of_terms_are_those_of_the_passages_that_are_there(docs: KnowledgeScene) -> None:
    source = await docs.filled()
    docs.write({"accounts.md": "# Accounts\n\nOnly this.\n"})
    (docs.folder / "network.md").unlink()
    await docs.sync(source)
    place = docs.workspace_id
    async with docs.gaby.database.read(place) as session:
        query = select(KnowledgeTerm.term, KnowledgeTerm.passages).where(KnowledgeTerm.workspace_id == place)
        kept = {row.term: row.passages for row in await session.execute(query)}
        ids = select(KnowledgePassage.id).where(KnowledgePassage.workspace_id == place)
        told = await passage_texts(session, (await session.scalars(ids)).all())
        corpus = await session.get(KnowledgeCorpus, place)
    texts = {each: searchable(*what) for each, what in told.items()}
    there = Counter(term for text in texts.values() for term in set(terms(text)))
    assert kept == there
    assert corpus is not None
    assert (corpus.passages, corpus.terms) == (len(texts), sum(len(terms(text)) for text in texts.values()))


def test_pgvector_gives_back_what_it_was_given() -> None:
    row = np.random.default_rng(1).normal(size=40).astype("<f4").tobytes()
    assert from_text(to_text(row)) == row
