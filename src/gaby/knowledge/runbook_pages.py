"""Runbooks among the pages: whole, as they have to be read. A search gives passages, and half a runbook is none."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from uuid import UUID

from sqlalchemy import func, select

from gaby.kernel.database import Database
from gaby.kernel.ids import WorkspaceId
from gaby.knowledge.models import KnowledgeCorpus, KnowledgeDocument, KnowledgeSource
from gaby.knowledge.retrieval.results import citation_of

# The mind is heavy and is loaded where it is used: this stands among what every command loads.
LONGEST = 40_001
"""Characters of a page. One more than a runbook may have, so that its reader sees that it is too long."""
_FRONT_MATTER = 20_000
_MOST = 1000


@dataclass(frozen=True)
class RunbookPage:
    document_id: UUID
    source: str
    uri: str
    title: str
    text: str
    lines: int
    audience: str
    written_by_customers: bool = False
    """Its source holds what customers wrote. It is read, and never followed."""

    @property
    def citation(self) -> str:
        return citation_of(self.source, self.uri, (), 1, self.lines)

    @property
    def declared(self) -> bool:
        from gaby.mind.runbooks.front_matter import read_front_matter

        return read_front_matter(self.text).declared is True


@dataclass(frozen=True)
class ToolMention:
    """A page in which a tool is named."""

    citation: str
    title: str
    text: str


class RunbookPages:
    """What was read is kept in memory until any page of the workspace changes."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._known: dict[WorkspaceId, tuple[int, tuple[RunbookPage, ...]]] = {}
        self._naming: dict[tuple[WorkspaceId, str], tuple[int, list[ToolMention]]] = {}

    async def declared(self, workspace_id: WorkspaceId) -> tuple[RunbookPage, ...]:
        version = await self._version(workspace_id)
        if (known := self._known.get(workspace_id)) is None or known[0] != version:
            begin = func.substr(KnowledgeDocument.text, 1, _FRONT_MATTER)
            pages = await self._pages(workspace_id, begin.like("---%runbook%:%"))
            known = (version, tuple(page for page in pages if page.declared))
            self._known[workspace_id] = known
        return known[1]

    async def undeclared(self, workspace_id: WorkspaceId, tools: frozenset[str]) -> list[RunbookPage]:
        """Pages that say nothing of it and are understood as runbooks, whole."""
        from gaby.mind.runbooks import is_runbook

        pages = await self._pages(workspace_id, KnowledgeDocument.text.like("%`%"))
        return [page for page in pages if not page.declared and is_runbook(page.text, tools)]

    async def select(
        self, workspace_id: WorkspaceId, document_ids: Collection[UUID], ticket: str, tools: frozenset[str]
    ) -> list[RunbookPage]:
        """Of the pages that a search found those that are runbooks, and those that name a symptom of the ticket."""
        from gaby.mind.investigation import says_symptom
        from gaby.mind.runbooks import is_runbook
        from gaby.mind.runbooks.front_matter import read_front_matter

        declared = await self.declared(workspace_id)
        by_symptom = [each for each in declared if says_symptom(ticket, read_front_matter(each.text).symptoms)]
        selected = [each for each in declared if each.document_id in document_ids]
        rest = set(document_ids) - {each.document_id for each in declared}
        if rest:
            pages = await self._pages(workspace_id, KnowledgeDocument.id.in_(rest))
            selected += [page for page in pages if is_runbook(page.text, tools)]
        return list({page.document_id: page for page in (*by_symptom, *selected)}.values())

    async def naming(self, workspace_id: WorkspaceId, name: str) -> list[ToolMention]:
        """Every page of the company that has this name of a tool in it, whole and of whatever kind. There is no ranking
        and no limit: whoever adds pages must not push one of them out of sight."""
        version = await self._version(workspace_id)
        known = self._naming.get((workspace_id, name))
        if known is None or known[0] != version:
            self._naming[workspace_id, name] = known = (version, await self._texts(workspace_id, name))
            while len(self._naming) > _MOST:
                self._naming.pop(next(iter(self._naming)))
        return known[1]

    async def _texts(self, workspace_id: WorkspaceId, name: str) -> list[ToolMention]:
        source, document = KnowledgeSource, KnowledgeDocument
        of_source = (source.workspace_id == document.workspace_id) & (source.id == document.source_id)
        query = (
            select(source.name, document.uri, document.title, document.text, document.lines)
            .join(source, of_source)
            .where(document.workspace_id == workspace_id, source.kind != "tickets")
            .where(document.text.contains(name, autoescape=True))
            .order_by(source.name, document.uri)
        )
        async with self._database.read(workspace_id) as session:
            rows = (await session.execute(query)).all()
        return [ToolMention(citation_of(row[0], row[1], (), 1, row[4]), row[2], row[3]) for row in rows]

    async def _version(self, workspace_id: WorkspaceId) -> int:
        query = select(KnowledgeCorpus.version).where(KnowledgeCorpus.workspace_id == workspace_id)
        async with self._database.read(workspace_id) as session:
            return (await session.scalars(query)).one_or_none() or 0

    async def _pages(self, workspace_id: WorkspaceId, *where: object) -> Sequence[RunbookPage]:
        source, document = KnowledgeSource, KnowledgeDocument
        of_source = (source.workspace_id == document.workspace_id) & (source.id == document.source_id)
        query = (
            select(
                document.id,
                source.name,
                document.uri,
                document.title,
                func.substr(document.text, 1, LONGEST),
                document.lines,
                func.coalesce(document.audience, source.audience),
                source.kind == "tickets",
            )
            .join(source, of_source)
            .where(document.workspace_id == workspace_id, document.kind == "markdown", *where)  # pyright: ignore[reportArgumentType]
            .order_by(source.name, document.uri)
            .limit(_MOST)
        )
        async with self._database.read(workspace_id) as session:
            return [RunbookPage(*row) for row in (await session.execute(query)).all()]
