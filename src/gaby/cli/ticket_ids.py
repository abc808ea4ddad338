"""Which ticket or run is meant by a reference, an id, the beginning of one, or by what the desk calls a ticket."""

from collections.abc import Mapping, Sequence
from uuid import UUID

from gaby.agent.models import Investigation
from gaby.app import Gaby
from gaby.kernel.database import ReadSession
from gaby.kernel.database.references import find_reference
from gaby.kernel.database.short_ids import ids_beginning, short_ids
from gaby.kernel.errors import BadRequest, NotFound
from gaby.tickets.models import Ticket


async def find_ticket(gaby: Gaby, session: ReadSession, which: str) -> Ticket:
    """By its reference, its id, what its desk calls it, or the beginning of its id."""
    try:
        return await gaby.ticket_queries.get(session, UUID(which))
    except ValueError:
        pass
    numbered = await find_reference(session, which, Ticket)
    try:
        named = await gaby.ticket_queries.named(session, which)
    except NotFound:
        ids = [numbered] if numbered is not None else await ids_beginning(session, which, Ticket)
        if not ids:
            raise
    else:
        if numbered not in {None, named.id}:
            raise BadRequest(f"{which} is one ticket here, and what its desk calls another. Give the whole id.")
        return named
    return await gaby.ticket_queries.get(session, _only(ids, "tickets", "`gaby ticket list`"))


async def find_run(gaby: Gaby, session: ReadSession, which: str) -> Investigation:
    """By its reference, its id or the beginning of it; or the last one of a ticket, by whatever means it."""
    numbered = await find_reference(session, which, Investigation)
    ids = [numbered] if numbered is not None else await ids_beginning(session, which, Investigation)
    if ids:
        return await gaby.run_queries.get(session, _only(ids, "runs", "`gaby runs list`"))
    try:
        ticket = await find_ticket(gaby, session, which)
    except NotFound:
        raise NotFound(f"There is no run and no ticket {which}. `gaby runs list` shows the runs.") from None
    latest = await gaby.run_queries.latest_of(session, ticket.id)
    if latest is None:
        name = ticket.reference or ticket.id
        raise NotFound(f"This ticket has not been investigated. `gaby investigate {name}` begins it.")
    return latest


async def run_id(gaby: Gaby, session: ReadSession, which: str) -> UUID:
    """Whole ids as they are: models are also called in runs that are no investigations."""
    try:
        return UUID(which)
    except ValueError:
        return (await find_run(gaby, session, which)).id


async def ticket_names(session: ReadSession, tickets: Sequence[Ticket]) -> Mapping[UUID, str]:
    """What to call each ticket so that commands find it: its reference."""
    return await _names(session, tickets)


async def run_names(session: ReadSession, runs: Sequence[Investigation]) -> Mapping[UUID, str]:
    return await _names(session, runs)


async def _names(session: ReadSession, rows: Sequence[Ticket] | Sequence[Investigation]) -> Mapping[UUID, str]:
    """Rows that an older version has written since the upgrade have no reference, but a short id."""
    short = await short_ids(session, [row.id for row in rows if row.reference is None], Ticket, Investigation)
    return {row.id: row.reference or short[row.id] for row in rows}


def _only(ids: Sequence[UUID], what: str, shown_by: str) -> UUID:
    if len(ids) != 1:
        raise BadRequest(
            f"Several {what} have ids that begin so. Give more characters; {shown_by} shows enough of each."
        )
    return ids[0]
