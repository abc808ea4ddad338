"""What TAB offers for names and references. It reads what is stored and says nothing when it cannot."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from gaby.app import Gaby
    from gaby.kernel.database import ReadSession
    from gaby.knowledge.models import KnowledgeSource
    from gaby.llm.models import ModelAccount
    from gaby.tickets.models import Desk
    from gaby.tools.models import ConnectorRecord

_MOST = 200
_LATEST = 50

Offers = list[tuple[str, str]]
"""What may be typed, and what a shell that shows it says beside it."""


def tickets(context: typer.Context, incomplete: str) -> Offers:
    return _offers(context, incomplete, _tickets)


def runs(context: typer.Context, incomplete: str) -> Offers:
    """A run may be meant by its ticket, too."""
    return _offers(context, incomplete, _runs, _tickets)


def approvals(context: typer.Context, incomplete: str) -> Offers:
    return _offers(context, incomplete, _approvals)


def desks(context: typer.Context, incomplete: str) -> Offers:
    return _offers(context, incomplete, _desks)


def connectors(context: typer.Context, incomplete: str) -> Offers:
    return _offers(context, incomplete, _connectors)


def sources(context: typer.Context, incomplete: str) -> Offers:
    return _offers(context, incomplete, _sources)


def accounts(context: typer.Context, incomplete: str) -> Offers:
    return _offers(context, incomplete, _accounts)


def workspaces(context: typer.Context, incomplete: str) -> Offers:
    return _offers(context, incomplete, _workspaces)


Read = Callable[["Gaby", "ReadSession"], Awaitable[Sequence[tuple[str, str]]]]


def _offers(context: typer.Context, incomplete: str, *reads: Read) -> Offers:
    try:
        found = asyncio.run(_read(context.params.get("workspace"), reads))
    except Exception:  # noqa: BLE001 - whatever is wrong, a TAB is no place to say it.
        return []
    begun = incomplete.lower()
    return [(name, about) for name, about in found if name.lower().startswith(begun)][:_MOST]


async def _read(workspace: str | None, reads: Sequence[Read]) -> Offers:
    from gaby.app import build, open_configured_database
    from gaby.cli.runtime import choose_workspace
    from gaby.kernel.ids import SYSTEM, WorkspaceId
    from gaby.migrations import inspect_schema
    from gaby.settings import load

    settings = load().settings
    if inspect_schema(open_configured_database(settings)) != "current":
        return []
    gaby = build(settings)
    async with gaby.running(background=False):
        async with gaby.database.read(SYSTEM) as session:
            if reads == (_workspaces,):
                return list(await _workspaces(gaby, session))
            if not await gaby.workspaces.all(session):
                return []
            chosen = WorkspaceId((await choose_workspace(gaby, session, workspace)).id)
        async with gaby.database.read(chosen) as session:
            return [offer for read in reads for offer in await read(gaby, session)]


async def _workspaces(gaby: "Gaby", session: "ReadSession") -> Sequence[tuple[str, str]]:
    return [(each.slug, each.name) for each in await gaby.workspaces.all(session)]


async def _tickets(gaby: "Gaby", session: "ReadSession") -> Sequence[tuple[str, str]]:
    rows = await gaby.ticket_queries.list(session, limit=_LATEST)
    return [(row.reference or str(row.id), _about(row.title)) for row in rows]


async def _runs(gaby: "Gaby", session: "ReadSession") -> Sequence[tuple[str, str]]:
    rows = await gaby.run_queries.list(session, limit=_LATEST)
    return [(row.reference or str(row.id), row.verdict or row.state) for row in rows]


async def _approvals(gaby: "Gaby", session: "ReadSession") -> Sequence[tuple[str, str]]:
    rows = await gaby.stored_approvals.list(session, None, _LATEST)
    return [(row.reference or str(row.id), _about(f"{row.connector}.{row.tool}, {row.state}")) for row in rows]


async def _desks(_gaby: "Gaby", session: "ReadSession") -> Sequence[tuple[str, str]]:
    from gaby.tickets.models import Desk

    return await _named(session, Desk)


async def _connectors(_gaby: "Gaby", session: "ReadSession") -> Sequence[tuple[str, str]]:
    from gaby.tools.models import ConnectorRecord

    return await _named(session, ConnectorRecord)


async def _sources(_gaby: "Gaby", session: "ReadSession") -> Sequence[tuple[str, str]]:
    from gaby.knowledge.models import KnowledgeSource

    return await _named(session, KnowledgeSource)


async def _accounts(_gaby: "Gaby", session: "ReadSession") -> Sequence[tuple[str, str]]:
    from gaby.llm.models import ModelAccount

    return await _named(session, ModelAccount)


async def _named(
    session: "ReadSession", row: "type[Desk | ConnectorRecord | KnowledgeSource | ModelAccount]"
) -> Sequence[tuple[str, str]]:
    from sqlalchemy import select

    query = select(row.name, row.kind).where(row.workspace_id == session.workspace_id).order_by(row.name)
    return [(name, kind) for name, kind in await session.execute(query)]


def _about(text: str) -> str:
    """A shell prints it as it is, so what a stranger wrote must not move its cursor."""
    from gaby.kernel.text import printable

    return printable(text, one_line=True)[:60]
