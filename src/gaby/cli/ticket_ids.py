"""Which ticket or run is meant by an id, by the beginning of one, or by what the desk calls a ticket."""

from collections.abc import Mapping, Sequence
from uuid import UUID

from gaby.agent.models import Investigation
from gaby.app import Gaby
from gaby.kernel.database import ReadSession
from gaby.kernel.database.short_ids import ids_beginning, may_begin_id, short_ids
from gaby.kernel.errors import BadRequest, NotFound
from gaby.tickets.models import Ticket

_LONGEST_EXTERNAL = 16


async def find_ticket(gaby: Gaby, session: ReadSession, which: str) -> Ticket:
    """By its id, by what its desk calls it, or by the beginning of its id."""
    try:
        return await gaby.ticket_queries.get(session, UUID(which))
    except ValueError:
        pass
    try:
        return await gaby.ticket_queries.named(session, which)
    except NotFound:
        found = await ids_beginning(session, which, Ticket)
        if not found:
            raise
    return await gaby.ticket_queries.get(session, _only(found, "tickets", "`gaby ticket list`"))


async def find_run(gaby: Gaby, session: ReadSession, which: str) -> Investigation:
    """By its id or the beginning of it; or the last one of a ticket, by whatever means that ticket."""
    found = await ids_beginning(session, which, Investigation)
    if found:
        return await gaby.run_queries.get(session, _only(found, "runs", "`gaby runs list`"))
    try:
        ticket = await find_ticket(gaby, session, which)
    except NotFound:
        raise NotFound("There is no such investigation. `gaby runs list` shows them.") from None
    latest = await gaby.run_queries.latest_of(session, ticket.id)
    if latest is None:
        raise NotFound("This ticket has not been investigated. `gaby investigate TICKET` begins it.")
    return latest


async def run_id(gaby: Gaby, session: ReadSession, which: str) -> UUID:
    """Whole ids as they are: models are also called in runs that are no investigations."""
    try:
        return UUID(which)
    except ValueError:
        return (await find_run(gaby, session, which)).id


async def ticket_names(gaby: Gaby, session: ReadSession, tickets: Sequence[Ticket]) -> Mapping[UUID, str]:
    """What to call each ticket so that commands find it: its desk's own id where that is short and clear."""
    shared = await gaby.ticket_queries.shared_names(session, [row.external_id for row in tickets])
    short = await short_ids(session, [row.id for row in tickets], Ticket, Investigation)
    return {
        row.id: row.external_id if _is_handy(row.external_id) and row.external_id not in shared else short[row.id]
        for row in tickets
    }


async def run_names(session: ReadSession, runs: Sequence[Investigation]) -> Mapping[UUID, str]:
    return await short_ids(session, [row.id for row in runs], Ticket, Investigation)


def _is_handy(name: str) -> bool:
    """Short, one argument that is no option, and nothing that could be the beginning of another id."""
    if len(name) > _LONGEST_EXTERNAL or name.startswith("-"):
        return False
    return name.isprintable() and " " not in name and not may_begin_id(name)


def _only(found: Sequence[UUID], what: str, shown_by: str) -> UUID:
    if len(found) != 1:
        raise BadRequest(
            f"Several {what} have ids that begin so. Give more characters; {shown_by} shows enough of each."
        )
    return found[0]
