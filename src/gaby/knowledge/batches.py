"""What a source lists, compared with what the library holds, read, and gathered into batches for the index."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Sequence
from dataclasses import dataclass, field

from gaby.knowledge.document_store import StoredDocument
from gaby.knowledge.documents import RawDocument, Unreadable
from gaby.knowledge.preparation import PreparedDocument, prepare
from gaby.knowledge.sources.source import (
    DocumentSource,
    FailedItem,
    Listed,
    SkippedItems,
    SourceItem,
    SourceTotal,
    SourceUnavailable,
)

_DOCUMENTS = 128
_PASSAGES = 512
_TOGETHER = 16
"""Documents that are fetched at the same time."""
_IN_A_THREAD = 4
_LONGEST_URI = 1000
_NOTED = 1000
"""So many documents without news are enough for a word about progress."""


@dataclass(frozen=True)
class UnchangedDocument:
    """A document whose content is what it was; only its fingerprint is another."""

    held: StoredDocument
    fingerprint: str


@dataclass(frozen=True)
class FailedDocument:
    """A document that failed. While its fingerprint stays, there is no use in trying again."""

    failed: FailedItem
    fingerprint: str | None = None


_Fetched = RawDocument | FailedDocument | Callable[[], RawDocument]
"""The last is for what is read in the thread that prepares it."""


@dataclass(frozen=True)
class KnownDocuments:
    """What the library has of this source."""

    held: dict[str, StoredDocument]
    failures: dict[str, str]
    """Fingerprints under which a document could not be read."""

    def fingerprints(self) -> dict[str, str]:
        return self.failures | {uri: held.fingerprint for uri, held in self.held.items()}


@dataclass
class SyncBatch:
    """What is written in one transaction."""

    ready: list[PreparedDocument] = field(default_factory=list[PreparedDocument])
    kept: list[UnchangedDocument] = field(default_factory=list[UnchangedDocument])
    broken: list[FailedDocument] = field(default_factory=list[FailedDocument])
    met: list[StoredDocument] = field(default_factory=list[StoredDocument])
    """Unchanged. Only a source that goes on after a cursor needs to have it written down."""
    passages: int = 0
    """Of those that are ready."""
    done: int = 0
    total: int | None = None
    cursor: str | None = None

    @property
    def full(self) -> bool:
        return len(self.ready) >= _DOCUMENTS or self.passages >= _PASSAGES or self.done >= _NOTED

    @property
    def empty(self) -> bool:
        return not (self.done or self.total is not None)


class SourceReader:
    def __init__(self, source: DocumentSource, known: KnownDocuments, cursor: str | None) -> None:
        self._source = source
        self._known = known
        self._cursor = cursor
        self._batch = SyncBatch()
        self._latest: str | None = None
        """Behind the last document that was listed."""
        self.seen: set[str] = set()
        """Every address that was listed, whatever became of it."""
        self.skipped: SkippedItems | None = None

    async def batches(self) -> AsyncGenerator[SyncBatch]:
        """When the listing breaks off, what was read until then comes before the reason is raised."""
        broke_off: SourceUnavailable | None = None
        waiting: list[SourceItem] = []
        try:
            async for listed in self._source.list(self._known.fingerprints(), self._cursor):
                waiting += self._listed(listed)
                if len(waiting) >= _TOGETHER or self._batch.full:
                    # Whatever is written has the cursor behind it, so nothing listed before may be left unread.
                    await self._read(waiting)
                    waiting = []
                if self._batch.full:
                    yield self._take_batch()
        except SourceUnavailable as error:
            broke_off = error
        await self._read(waiting)
        if not self._batch.empty:
            yield self._take_batch()
        if broke_off is not None:
            raise broke_off

    def _listed(self, listed: Listed) -> Sequence[SourceItem]:
        """What of it has to be read."""
        match listed:
            case SourceTotal(documents):
                self._batch.total = documents
            case SkippedItems():
                self.skipped = listed
            case FailedItem():
                self._take_failed(listed)
            case SourceItem():
                return self._to_read(listed)
        return ()

    def _take_batch(self) -> SyncBatch:
        batch, self._batch = self._batch, SyncBatch()
        batch.cursor = self._latest
        return batch

    def _to_read(self, item: SourceItem) -> Sequence[SourceItem]:
        if len(item.uri.encode(errors="replace")) > _LONGEST_URI:
            self._take_failed(FailedItem(f"{item.uri[:200]}...", "Its address is too long.", cursor=item.cursor))
            return ()
        self.seen.add(item.uri)
        self._latest = item.cursor or self._latest
        held = self._known.held.get(item.uri)
        if held is not None and held.fingerprint == item.fingerprint:
            if item.cursor is not None:
                self._batch.met.append(held)
        elif self._known.failures.get(item.uri) != item.fingerprint:
            return (item,)
        self._batch.done += 1
        return ()

    async def _read(self, items: Sequence[SourceItem]) -> None:
        fetched = await asyncio.gather(*map(_fetched, items))
        # Some in each thread: handing over costs more than a short document, and a slow disk is asked for several.
        pairs = list(zip(items, fetched, strict=True))
        some = [pairs[start : start + _IN_A_THREAD] for start in range(0, len(pairs), _IN_A_THREAD)]
        for prepared in await asyncio.gather(*(asyncio.to_thread(self._prepared_all, each) for each in some)):
            for outcome in prepared:
                self._take(outcome)

    def _take(self, outcome: PreparedDocument | UnchangedDocument | FailedDocument) -> None:
        match outcome:
            case PreparedDocument():
                self._batch.ready.append(outcome)
                self._batch.passages += len(outcome.passages)
            case UnchangedDocument():
                self._batch.kept.append(outcome)
            case FailedDocument():
                self._batch.broken.append(outcome)
        self._batch.done += 1

    def _prepared_all(
        self, items: Sequence[tuple[SourceItem, _Fetched]]
    ) -> list[PreparedDocument | UnchangedDocument | FailedDocument]:
        return [self._prepared(item, fetched) for item, fetched in items]

    def _prepared(self, item: SourceItem, fetched: _Fetched) -> PreparedDocument | UnchangedDocument | FailedDocument:
        if isinstance(fetched, FailedDocument):
            return fetched
        try:
            prepared = prepare(fetched if isinstance(fetched, RawDocument) else fetched(), item.fingerprint)
        except (SourceUnavailable, Unreadable) as error:
            return _broken(item, error)
        held = self._known.held.get(item.uri)
        if held is not None and held.content_hash == prepared.content_hash:
            return UnchangedDocument(held, item.fingerprint)
        return prepared

    def _take_failed(self, failed: FailedItem) -> None:
        self.seen.add(failed.uri)
        self._batch.broken.append(FailedDocument(failed))
        self._latest = failed.cursor or self._latest
        self._batch.done += 1


async def _fetched(item: SourceItem) -> _Fetched:
    if item.read is not None:
        return item.read
    try:
        return await item.fetch()
    except (SourceUnavailable, Unreadable) as error:
        return _broken(item, error)


def _broken(item: SourceItem, error: SourceUnavailable | Unreadable) -> FailedDocument:
    if isinstance(error, SourceUnavailable):
        return FailedDocument(FailedItem(item.uri, error.message, passing=True))
    return FailedDocument(FailedItem(item.uri, error.message), item.fingerprint)
