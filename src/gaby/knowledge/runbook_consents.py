"""Consents that pages of the workspace want before a change is made, whoever plans it."""

from collections.abc import Collection, Sequence

from sqlalchemy import select

from gaby.kernel.database import Database
from gaby.kernel.ids import WorkspaceId
from gaby.kernel.text_work import run_text_work
from gaby.knowledge.models import KnowledgeSource
from gaby.knowledge.runbook_pages import RunbookPages
from gaby.mind.runbooks.consents import consents_wanted
from gaby.mind.situations import FoundPassage


async def sources_of_customers(database: Database, workspace_id: WorkspaceId) -> set[str]:
    """Sources whose texts customers wrote: they are read, and never followed."""
    mine = (KnowledgeSource.workspace_id == workspace_id, KnowledgeSource.kind == "tickets")
    async with database.read(workspace_id) as session:
        return set((await session.scalars(select(KnowledgeSource.name).where(*mine))).all())


async def consents_of_pages(
    runbook_pages: RunbookPages,
    workspace_id: WorkspaceId,
    changes: Collection[str],
    tools: Collection[str],
    known: Sequence[FoundPassage],
) -> dict[str, str]:
    """For each tool what a person has to confirm, by `known` pages and by those that name one of the `changes`."""
    pages = list(known)
    for name in sorted(changes):
        named = await runbook_pages.naming(workspace_id, name)
        pages += [FoundPassage(each.citation, each.title, each.text) for each in named]
    return await run_text_work(sum(len(each.text) for each in pages), consents_wanted, pages, tools)
