"""Bursts: tickets that look alike and come close together are one incident, which is looked into once."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta

from sqlalchemy import select

from gaby.agent.memory import SimilarTicket
from gaby.agent.models import Investigation
from gaby.kernel.clock import Clock
from gaby.kernel.database import Database, WriteSession
from gaby.kernel.ids import Ids, RunId, TicketId, WorkspaceId
from gaby.knowledge.learning.alike import likeness
from gaby.tickets.models import Incident, Ticket

WINDOW = timedelta(hours=24)
BURST = 3
"""So many alike, from as many people, are no coincidence."""
_ALIKE = 0.45
_RELATED = 0.2
_LOOKED_AT = 300
_OWN_TROUBLE = {"access", "billing", "account_change", "how_to", "data_request", "feedback", "spam"}
"""Two people who are locked out have two troubles, however alike their words."""


@dataclass(frozen=True)
class Neighbours:
    similar: tuple[SimilarTicket, ...]
    incident: Incident | None = None
    lead: RunId | None = None
    """The run that speaks for the incident, when it is not the one that asks."""
    lead_state: str | None = None


class Bursts:
    def __init__(self, database: Database, clock: Clock, ids: Ids) -> None:
        self._database = database
        self._clock = clock
        self._ids = ids

    async def around(self, workspace_id: WorkspaceId, ticket_id: TicketId, intent: str | None) -> Neighbours:
        """What came in the last 24 hours and looks like this ticket; linked, when there is much of it."""
        async with self._database.write(workspace_id) as session:
            ticket = await session.get(Ticket, (workspace_id, ticket_id))
            if ticket is None:
                return Neighbours(())
            found = await self._recent(session, ticket)
            similar = tuple(
                SimilarTicket(title=each.title, status=each.status) for each, score in found[:10] if score >= _RELATED
            )
            if intent in _OWN_TROUBLE:
                return Neighbours(similar)
            alike = [each for each, score in found if score >= _ALIKE]
            incident = await self._linked(session, ticket, alike)
            if incident is None:
                return Neighbours(similar)
            lead = await self._lead(session, incident)
            if lead is None or lead.ticket_id == ticket.id:
                return Neighbours(similar, incident)
            return Neighbours(similar, incident, lead.typed_id, lead.state)

    async def _recent(self, session: WriteSession, ticket: Ticket) -> list[tuple[Ticket, float]]:
        since = self._clock.now() - WINDOW
        query = (
            select(Ticket)
            .where(Ticket.workspace_id == session.workspace_id, Ticket.received_at > since, Ticket.id != ticket.id)
            .order_by(Ticket.received_at.desc())
            .limit(_LOOKED_AT)
        )
        mine = f"{ticket.title}\n{ticket.body[:4000]}"
        scored = [
            (each, likeness(mine, f"{each.title}\n{each.body[:4000]}")) for each in (await session.scalars(query)).all()
        ]
        return sorted(scored, key=lambda pair: -pair[1])

    async def _linked(self, session: WriteSession, ticket: Ticket, alike: Sequence[Ticket]) -> Incident | None:
        known = next((each.incident_id for each in alike if each.incident_id is not None), ticket.incident_id)
        now = self._clock.now()
        if known is not None:
            incident = await session.get(Incident, (session.workspace_id, known), with_for_update=True)
            if incident is not None:
                ticket.incident_id = incident.id
                incident.last_at = now
            return incident
        people = {each.requester_email for each in (ticket, *alike)}
        if len(people) < BURST:
            return None
        first = min((ticket, *alike), key=lambda each: (each.received_at, each.id))
        incident = Incident(
            workspace_id=session.workspace_id,
            id=self._ids.new(),
            title=first.title,
            lead_ticket_id=first.id,
            opened_at=now,
            last_at=now,
        )
        session.add(incident)
        for each in (ticket, *alike):
            each.incident_id = incident.id
        return incident

    async def _lead(self, session: WriteSession, incident: Incident) -> Investigation | None:
        query = (
            select(Investigation)
            .where(
                Investigation.workspace_id == session.workspace_id, Investigation.ticket_id == incident.lead_ticket_id
            )
            .order_by(Investigation.created_at.desc())
            .limit(1)
        )
        return (await session.scalars(query)).one_or_none()
