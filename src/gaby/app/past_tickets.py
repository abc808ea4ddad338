"""Past tickets as a source of knowledge: those that people solved at the workspace's own desks."""

from collections.abc import AsyncIterator

from gaby.kernel.database import Database
from gaby.kernel.ids import WorkspaceId
from gaby.knowledge.sources.ticket_export import ExportedTicket
from gaby.tickets.archive import SolvedTicket, solved

_PAGE = 200


class PastTickets:
    def __init__(self, database: Database, workspace_id: WorkspaceId) -> None:
        self._database = database
        self._workspace_id = workspace_id

    async def resolved(self) -> AsyncIterator[ExportedTicket]:
        after = None
        while True:
            async with self._database.read(self._workspace_id) as session:
                page = await solved(session, after, _PAGE)
            for each in page:
                yield _resolved(each)
            if len(page) < _PAGE:
                return
            after = page[-1].ticket.id


def _resolved(each: SolvedTicket) -> ExportedTicket:
    ticket = each.ticket
    return ExportedTicket(
        id=str(ticket.id),
        subject=ticket.title,
        resolution=each.solution,
        messages=each.said,
        resolved_at=f"{ticket.closed_at:%Y-%m-%d}" if ticket.closed_at is not None else None,
    )
