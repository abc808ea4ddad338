"""A workspace with a folder of documents, and what the tests do with them."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from uuid import UUID

from gaby.app import Gaby
from gaby.kernel.actors import Actor, system_actor
from gaby.kernel.ids import SYSTEM, WorkspaceId
from gaby.knowledge.components import KnowledgeComponents
from gaby.knowledge.models import KnowledgeSource
from gaby.knowledge.new_source import NewSource
from gaby.knowledge.retrieval.results import SearchResults

PAGES = {
    "accounts.md": "# Accounts\n\n## Lock-outs\n\nAfter five failed sign-ins an account is locked for 30 minutes. "
    "An operator unlocks it with unlock_user.\n\n## Deleting\n\nAn account is deleted 14 days after the request.\n",
    "billing/refunds.md": "# Refunds\n\nA refund is possible within 14 days of purchase. Larger refunds than 500 USD "
    "need the approval of the finance team.\n",
    "network.md": "# VPN\n\nThe VPN fails with error E-1042 when the certificate has expired. Renew the certificate in "
    "the portal, then connect again.\n",
    "kitchen.txt": "The kitchen closes at six in the evening. Milk is bought on Mondays.\n",
}


@dataclass
class KnowledgeScene:
    gaby: Gaby
    actor: Actor
    folder: Path

    @property
    def workspace_id(self) -> WorkspaceId:
        return self.actor.workspace_id

    @property
    def components(self) -> KnowledgeComponents:
        return self.gaby.knowledge.components

    def write(self, pages: Mapping[str, str | bytes]) -> None:
        for name, text in pages.items():
            path = self.folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(text.encode() if isinstance(text, str) else text)

    async def add(self, name: str = "docs", kind: str = "folder", location: str | None = None) -> KnowledgeSource:
        async with self.gaby.database.write(self.workspace_id) as session:
            new = NewSource(name, kind, location or str(self.folder))
            return await self.components.sources.add(session, self.actor, new)

    async def sync(self, source: KnowledgeSource) -> KnowledgeSource:
        return await self.components.syncer.sync(self.actor, source.id)

    async def filled(self, pages: Mapping[str, str | bytes] = PAGES) -> KnowledgeSource:
        self.write(pages)
        return await self.sync(await self.add())

    async def search(self, question: str, *, limit: int = 6, everything: bool = False) -> SearchResults:
        return await self.components.searcher.search(self.workspace_id, question, limit=limit, everything=everything)

    async def matching_uris(self, question: str) -> list[str]:
        """Addresses of what fits, the best first."""
        return list(dict.fromkeys(hit.uri for hit in (await self.search(question)).hits))

    async def uris(self, source_id: UUID) -> set[str]:
        async with self.gaby.database.read(self.workspace_id) as session:
            return set(await self.components.library.held(session, source_id))

    async def failures(self, source_id: UUID) -> dict[str, str]:
        async with self.gaby.database.read(self.workspace_id) as session:
            return {row.uri: row.reason for row in await self.components.sources.failures(session, source_id)}


async def knowledge_scene(gaby: Gaby, folder: Path, slug: str = "lanternfish") -> KnowledgeScene:
    async with gaby.database.write(SYSTEM) as session:
        made = await gaby.identity.workspaces.create(session, system_actor("test"), slug=slug, name=slug)
    await asyncio.to_thread(folder.mkdir, parents=True, exist_ok=True)
    return KnowledgeScene(gaby, system_actor("test", WorkspaceId(made.id)), folder)
