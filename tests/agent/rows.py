"""Runs that stand in the queue without a story: rows, for tests of the queue itself."""

from dataclasses import dataclass
from datetime import timedelta
from itertools import count
from typing import Any

from sqlalchemy import insert

from gaby.agent.models import Investigation
from gaby.agent.transitions import Lease, Transition
from gaby.app import Gaby
from gaby.kernel.actors import system_actor
from gaby.kernel.ids import SYSTEM, RunId, TicketId, WorkspaceId
from gaby.tickets.canonical_ticket import IncomingTicket


@dataclass
class Line:
    """A workspace with one ticket that no run was begun for."""

    gaby: Gaby
    workspace_id: WorkspaceId
    ticket_id: TicketId

    async def stand(self, number: int = 1, **values: Any) -> list[RunId]:
        """So many runs, each a second younger than the one before, due now."""
        now = self.gaby.clock.now()
        made = count()
        rows: list[dict[str, Any]] = [
            {
                "workspace_id": self.workspace_id,
                "id": self.gaby.ids.new(),
                "ticket_id": self.ticket_id,
                "state": "created",
                "rank": 2,
                "created_at": now + timedelta(seconds=next(made)),
                "wake_at": now,
                **values,
            }
            for _ in range(number)
        ]
        async with self.gaby.database.write(self.workspace_id) as session:
            await session.execute(insert(Investigation), rows)
        return [RunId(row["id"]) for row in rows]


async def line_up(gaby: Gaby, slug: str) -> Line:
    async with gaby.database.write(SYSTEM) as session:
        made = await gaby.identity.workspaces.create(session, system_actor("test"), slug=slug, name=slug)
    place = WorkspaceId(made.id)
    incoming_ticket = IncomingTicket(external_id="T-1", title="Newsletter", body="News", metadata={"automatic": True})
    async with gaby.database.write(place) as session:
        taken = await gaby.tickets.add(session, system_actor("test", place), incoming_ticket)
    return Line(gaby, place, taken.ticket_id)


def edge_of(gaby: Gaby, lease: Lease, n: int = 1, state: str = "planning") -> Transition:
    """The next edge of a run, with nothing in it."""
    now = gaby.clock.now()
    return Transition(lease, n, state, b"", now, now + timedelta(minutes=1), now, ())
