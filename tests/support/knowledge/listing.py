"""Lists a source to its end, and holds what it said."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from gaby.knowledge.documents import Brought
from gaby.knowledge.sources.source import Failed, Item, Skipped, Source, Total


@dataclass
class Listing:
    items: dict[str, Item] = field(default_factory=dict[str, Item])
    failed: dict[str, Failed] = field(default_factory=dict[str, Failed])
    total: int | None = None
    skipped: Skipped | None = None

    @property
    def uris(self) -> list[str]:
        return sorted(self.items)

    def known(self) -> dict[str, str]:
        """As the index would hold it afterwards."""
        return {uri: item.fingerprint for uri, item in self.items.items()}

    async def bring(self, uri: str) -> Brought:
        return await self.items[uri].fetch()

    async def text(self, uri: str) -> str:
        return (await self.bring(uri)).data.decode()


async def listing(source: Source, known: Mapping[str, str] | None = None, cursor: str | None = None) -> Listing:
    found = Listing()
    async for listed in source.list(known or {}, cursor):
        match listed:
            case Item():
                assert listed.uri not in found.items, f"{listed.uri} was listed twice"
                found.items[listed.uri] = listed
            case Failed():
                found.failed[listed.uri] = listed
            case Total(documents):
                found.total = documents
            case Skipped():
                found.skipped = listed
    return found
