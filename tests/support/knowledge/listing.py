"""Lists a source to its end, and holds what it said."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from gaby.knowledge.documents import RawDocument
from gaby.knowledge.sources.source import DocumentSource, FailedItem, SkippedItems, SourceItem, SourceTotal


@dataclass
class Listing:
    items: dict[str, SourceItem] = field(default_factory=dict[str, SourceItem])
    failed: dict[str, FailedItem] = field(default_factory=dict[str, FailedItem])
    total: int | None = None
    skipped: SkippedItems | None = None

    @property
    def uris(self) -> list[str]:
        return sorted(self.items)

    def known(self) -> dict[str, str]:
        """As the index would hold it afterwards."""
        return {uri: item.fingerprint for uri, item in self.items.items()}

    async def bring(self, uri: str) -> RawDocument:
        return await self.items[uri].fetch()

    async def text(self, uri: str) -> str:
        return (await self.bring(uri)).data.decode()


async def listing(source: DocumentSource, known: Mapping[str, str] | None = None, cursor: str | None = None) -> Listing:
    found = Listing()
    async for listed in source.list(known or {}, cursor):
        match listed:
            case SourceItem():
                assert listed.uri not in found.items, f"{listed.uri} was listed twice"
                found.items[listed.uri] = listed
            case FailedItem():
                found.failed[listed.uri] = listed
            case SourceTotal(documents):
                found.total = documents
            case SkippedItems():
                found.skipped = listed
    return found
