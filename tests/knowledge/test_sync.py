"""Syncs: what changed is read, what is gone leaves at once, what fails is listed, and nothing is done twice."""

import os
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import aclosing
from dataclasses import dataclass, field
from datetime import timedelta
from functools import partial
from uuid import uuid4

import pytest

from gaby.kernel.clock import ManualClock
from gaby.kernel.database import ReadSession
from gaby.kernel.errors import Invalid, NotFound
from gaby.knowledge.batches import KnownDocuments, SourceReader
from gaby.knowledge.document_store import StoredDocument
from gaby.knowledge.documents import RawDocument
from gaby.knowledge.models import KnowledgeSource
from gaby.knowledge.source_service import SourceService
from gaby.knowledge.sources.source import DocumentSource, FailedItem, Listed, SourceItem, SourceUnavailable
from gaby.knowledge.sync import AlreadySyncing, LostLease, Syncer, SyncProgress
from tests.knowledge.scenes import PAGES, KnowledgeScene

pytestmark = pytest.mark.promise("K1")


async def test_a_folder_is_read_and_found(docs: KnowledgeScene) -> None:
    source = await docs.filled()
    assert (source.state, source.added, source.done, source.error) == ("done", 4, 4, None)
    assert source.fresh_at is not None
    assert (await docs.matching_uris("the VPN says E-1042"))[0] == "network.md"
    assert (await docs.matching_uris("how many days until a refund is too late?"))[0] == "billing/refunds.md"


async def test_what_did_not_change_is_not_read_again(docs: KnowledgeScene) -> None:
    row = await docs.add()
    wiki = Scripted({name: f"# {name}\n\nText of {name}.\n" for name in ("a.md", "b.md", "c.md")})
    syncer = syncing(docs, wiki)
    await syncer.sync(docs.actor, row.id)
    version = await corpus_version(docs)
    wiki.fetched = []
    wiki.pages["b.md"] = "# B\n\nAnother text.\n"
    await syncer.sync(docs.actor, row.id)
    assert wiki.fetched == ["b.md"]
    wiki.fetched = []
    again = await syncer.sync(docs.actor, row.id)
    assert wiki.fetched == []
    assert (again.added, again.changed, again.removed) == (0, 0, 0)
    assert await corpus_version(docs) == version + 1


async def test_a_file_that_was_only_touched_keeps_its_passages(docs: KnowledgeScene) -> None:
    source = await docs.filled()
    version = await corpus_version(docs)
    os.utime(docs.folder / "network.md", (1, 1))
    again = await docs.sync(source)
    assert (again.added, again.changed) == (0, 0)
    assert await corpus_version(docs) == version


async def test_a_document_that_shrinks_leaves_nothing_behind(docs: KnowledgeScene) -> None:
    source = await docs.filled()
    before = await docs.search("account deleted after the request", everything=True)
    assert any("14 days after the request" in hit.text for hit in before.hits)
    docs.write({"accounts.md": "# Accounts\n\n## Lock-outs\n\nAn operator unlocks an account with unlock_user.\n"})
    again = await docs.sync(source)
    assert again.changed == 1
    after = await docs.search("account deleted after the request", limit=50, everything=True)
    assert not any("14 days after the request" in hit.text for hit in after.hits)
    assert any("unlock_user" in hit.text for hit in after.hits)


@pytest.mark.promise("K6")
async def test_a_document_that_vanishes_is_found_nowhere_not_even_in_the_cache(docs: KnowledgeScene) -> None:
    source = await docs.filled()
    question = "when does the kitchen close?"
    assert (await docs.matching_uris(question))[0] == "kitchen.txt"
    (docs.folder / "kitchen.txt").unlink()
    again = await docs.sync(source)
    assert again.removed == 1
    assert "kitchen.txt" not in await docs.uris(source.id)
    hits = (await docs.search(question, limit=50, everything=True)).hits
    assert "kitchen.txt" not in {hit.uri for hit in hits}
    assert all("kitchen" not in hit.text.lower() for hit in hits)
    with pytest.raises(NotFound):
        async with docs.gaby.database.read(docs.workspace_id) as session:
            await docs.components.citations.resolve(session, "doc:docs/kitchen.txt#L1")


async def test_a_failing_document_is_listed_with_its_reason_and_stops_nothing(docs: KnowledgeScene) -> None:
    docs.write(
        {
            "empty.md": b"",
            "picture.md": b"\x89PNG\r\n\x1a\n" + bytes(200),
            "broken.pdf": b"%PDF-1.7\nno pdf at all",
            "fine.md": "# Fine\n\nThis one can be read.\n",
        }
    )
    source = await docs.sync(await docs.add())
    assert source.state == "done"
    assert await docs.uris(source.id) == {"fine.md"}
    failures = await docs.failures(source.id)
    assert set(failures) == {"empty.md", "picture.md", "broken.pdf"}
    assert all(reason.endswith(".") and len(reason) > 8 for reason in failures.values())
    docs.write({"empty.md": "# Full\n\nNow there is something in it.\n"})
    (docs.folder / "broken.pdf").unlink()
    await docs.sync(source)
    assert set(await docs.failures(source.id)) == {"picture.md"}
    assert await docs.uris(source.id) == {"fine.md", "empty.md"}


async def test_a_document_that_becomes_unreadable_leaves_the_index(docs: KnowledgeScene) -> None:
    source = await docs.filled()
    docs.write({"network.md": bytes(range(256)) * 10})
    await docs.sync(source)
    assert "network.md" not in await docs.uris(source.id)
    assert set(await docs.failures(source.id)) == {"network.md"}


async def test_progress_is_told_and_written_down(docs: KnowledgeScene) -> None:
    docs.write({f"{number}.md": f"# Page {number}\n\nText of page {number}.\n" for number in range(300)})
    progress: list[SyncProgress] = []
    source = await docs.add()
    done = await docs.components.syncer.sync(docs.actor, source.id, progress.append)
    assert [each.done for each in progress] == sorted(each.done for each in progress)
    assert len(progress) > 2
    assert (progress[-1].done, progress[-1].total, progress[-1].added) == (300, 300, 300)
    assert (done.done, done.total) == (300, 300)


@dataclass
class Scripted:
    """A source that cannot be listed cheaply: it goes on after a cursor, and breaks off where it is told to."""

    pages: dict[str, str]
    breaks_after: int | None = None
    listed: list[str] = field(default_factory=list[str])
    fetched: list[str] = field(default_factory=list[str])
    passing: set[str] = field(default_factory=set[str])

    async def list(self, known: Mapping[str, str], cursor: str | None) -> AsyncIterator[Listed]:
        names = sorted(self.pages)
        rest = names[names.index(cursor) + 1 :] if cursor is not None else names
        for number, name in enumerate(rest):
            if number == self.breaks_after:
                raise SourceUnavailable("The wiki does not answer.")
            self.listed.append(name)
            if name in self.passing:
                yield FailedItem(name, "Busy.", passing=True, cursor=name)
            else:
                yield SourceItem(name, self.pages[name], partial(self._fetch, name), cursor=name)

    async def close(self) -> None:
        pass

    async def _fetch(self, name: str) -> RawDocument:
        self.fetched.append(name)
        return RawDocument(name, self.pages[name].encode())


class OneSourceService(SourceService):
    """Opens what the test scripted instead of the folder that was added."""

    def __init__(self, sources: SourceService, source: DocumentSource) -> None:
        self.__dict__.update(sources.__dict__)
        self._source = source

    async def open(self, session: ReadSession, source_id: object) -> DocumentSource:
        return self._source


def syncing(docs: KnowledgeScene, source: DocumentSource) -> Syncer:
    syncer = Syncer.__new__(Syncer)
    syncer.__dict__.update(docs.components.syncer.__dict__, _sources=OneSourceService(docs.components.sources, source))
    return syncer


async def test_a_source_that_breaks_off_loses_nothing_and_goes_on_from_there(docs: KnowledgeScene) -> None:
    row = await docs.add()
    wiki = Scripted({f"{number:02}.md": f"# Page {number}\n\nAbout topic {number}.\n" for number in range(10)})
    syncer = syncing(docs, wiki)
    await syncer.sync(docs.actor, row.id)
    assert len(await docs.uris(row.id)) == 10
    wiki.pages.pop("09.md")
    wiki.pages["00.md"] = "# Page 0\n\nAbout something else.\n"
    wiki.breaks_after = 4
    with pytest.raises(SourceUnavailable, match="does not answer"):
        await syncer.sync(docs.actor, row.id)
    failed = await state(docs, row)
    assert (failed.state, failed.error) == ("failed", "The wiki does not answer.")
    assert failed.cursor == "03.md"
    assert len(await docs.uris(row.id)) == 10, "what was not listed is not known to be gone"
    wiki.breaks_after, wiki.listed = None, []
    await syncer.sync(docs.actor, row.id)
    assert wiki.listed == ["04.md", "05.md", "06.md", "07.md", "08.md"], "it went on where it had stopped"
    assert await docs.uris(row.id) == set(wiki.pages), "what the first half met is still there, and the rest is gone"
    assert (await state(docs, row)).state == "done"


async def test_a_cursor_is_never_ahead_of_what_was_read() -> None:
    pages = {f"{number:05}.md": f"# Page {number}\n\nText.\n" for number in range(1500)}
    held = {name: StoredDocument(uuid4(), text, "", (1, 1)) for name, text in pages.items() if name != "00007.md"}
    reading = SourceReader(Scripted(pages), KnownDocuments(held, {}), None)
    async with aclosing(reading.batches()) as batches:
        first = await anext(batches)
    assert first.cursor is not None
    assert first.cursor > "00007.md"
    assert [document.uri for document in first.ready] == ["00007.md"], "a crash now would lose it for ever"


async def test_what_is_only_busy_at_the_moment_stays(docs: KnowledgeScene) -> None:
    row = await docs.add()
    wiki = Scripted({"a.md": "# A\n\nOne.\n", "b.md": "# B\n\nTwo.\n"})
    syncer = syncing(docs, wiki)
    await syncer.sync(docs.actor, row.id)
    wiki.passing = {"a.md"}
    await syncer.sync(docs.actor, row.id)
    assert await docs.uris(row.id) == {"a.md", "b.md"}
    assert await docs.failures(row.id) == {"a.md": "Busy."}


async def test_failures_of_what_is_gone_are_forgotten(docs: KnowledgeScene) -> None:
    row = await docs.add()
    wiki = Scripted({"a.md": "# A\n\nOne.\n", "b.md": "# B\n\nTwo.\n"}, passing={"a.md"})
    syncer = syncing(docs, wiki)
    await syncer.sync(docs.actor, row.id)
    assert set(await docs.failures(row.id)) == {"a.md"}
    wiki.pages.pop("a.md")
    await syncer.sync(docs.actor, row.id)
    assert await docs.failures(row.id) == {}


@dataclass
class Slow:
    """A source in whose middle something else happens."""

    meanwhile: Callable[[], Awaitable[None]]

    async def list(self, known: Mapping[str, str], cursor: str | None) -> AsyncIterator[Listed]:
        await self.meanwhile()
        yield SourceItem("late.md", "1", _late)

    async def close(self) -> None:
        pass


async def _late() -> RawDocument:
    return RawDocument("late.md", b"# Late\n\nToo late.\n")


async def test_two_processes_do_not_sync_the_same_source(docs: KnowledgeScene) -> None:
    docs.write(PAGES)
    row = await docs.add()
    refused: list[bool] = []

    async def meanwhile() -> None:
        with pytest.raises(AlreadySyncing):
            await docs.sync(row)
        refused.append(True)

    await syncing(docs, Slow(meanwhile)).sync(docs.actor, row.id)
    assert refused == [True]


async def test_a_sync_that_is_asked_for_while_one_runs_comes_after_it(docs: KnowledgeScene, clock: ManualClock) -> None:
    docs.write(PAGES)
    row = await docs.add()

    async def meanwhile() -> None:
        async with docs.gaby.database.write(docs.workspace_id) as session:
            await docs.components.sources.ask_for_sync(session, docs.actor, row.id)

    await syncing(docs, Slow(meanwhile)).sync(docs.actor, row.id)
    assert await docs.uris(row.id) == {"late.md"}
    await docs.gaby.knowledge.run_due()
    assert await docs.uris(row.id) == set(PAGES)
    assert (await state(docs, row)).due_at is None


async def test_a_process_that_was_silent_for_too_long_writes_nothing(docs: KnowledgeScene, clock: ManualClock) -> None:
    docs.write(PAGES)
    row = await docs.add()

    async def meanwhile() -> None:
        clock.advance(timedelta(minutes=10))
        await docs.sync(row)

    with pytest.raises(LostLease):
        await syncing(docs, Slow(meanwhile)).sync(docs.actor, row.id)
    assert await docs.uris(row.id) == set(PAGES)
    assert (await state(docs, row)).state == "done"


async def test_scheduled_sources_are_synced_when_they_are_due(docs: KnowledgeScene, clock: ManualClock) -> None:
    docs.write(PAGES)
    row = await docs.add()
    async with docs.gaby.database.write(docs.workspace_id) as session:
        source = await docs.components.sources.get(session, row.id)
        await docs.components.sources.reschedule(session, docs.actor, source, timedelta(hours=1))
    await docs.gaby.knowledge.run_due()
    assert await docs.uris(row.id) == set()
    clock.advance(timedelta(hours=1))
    await docs.gaby.knowledge.run_due()
    assert await docs.uris(row.id) == set(PAGES)
    assert (await state(docs, row)).due_at == clock.now() + timedelta(hours=1)


async def test_a_shorter_schedule_of_an_old_source_is_due_at_once_and_not_in_the_past(
    docs: KnowledgeScene, clock: ManualClock
) -> None:
    source = await docs.filled()
    clock.advance(timedelta(days=3))
    async with docs.gaby.database.write(docs.workspace_id) as session:
        row = await docs.components.sources.get(session, source.id)
        changed = await docs.components.sources.reschedule(session, docs.actor, row, timedelta(hours=1))
    assert changed.due_at == clock.now()


async def test_a_removed_source_takes_everything_with_it(docs: KnowledgeScene) -> None:
    source = await docs.filled()
    async with docs.gaby.database.write(docs.workspace_id) as session:
        row = await docs.components.sources.get(session, source.id)
        assert await docs.components.sources.remove(session, docs.actor, row) == 4
    results = await docs.search("VPN E-1042", everything=True)
    assert (list(results.hits), results.passages) == ([], 0)


async def test_an_unwritable_name_is_refused_with_what_to_do(docs: KnowledgeScene) -> None:
    for name in ("", "Has Blanks", "../up", "learned", "x" * 60):
        with pytest.raises(Invalid, match="name has small letters"):
            await docs.add(name)


async def corpus_version(docs: KnowledgeScene) -> int:
    return (await docs.search("anything", everything=True)).corpus_version


async def state(docs: KnowledgeScene, row: KnowledgeSource) -> KnowledgeSource:
    async with docs.gaby.database.read(docs.workspace_id) as session:
        return await docs.components.sources.get(session, row.id)
