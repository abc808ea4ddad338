"""Incident grouping: tickets that look alike and come close together are one incident, which is looked into once."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from sqlalchemy import select

from gaby.agent.memory import SimilarTicket
from gaby.agent.models import Investigation
from gaby.agent.run_context import InvestigationContext
from gaby.kernel.clock import Clock
from gaby.kernel.database import Database, ReadSession, WriteSession
from gaby.kernel.database.raw_sql import SqlStatement
from gaby.kernel.ids import IdFactory, RunId, TicketId, WorkspaceId
from gaby.knowledge.learning.similarity import likeness
from gaby.safety import canonical_identity
from gaby.tickets.models import Incident, Ticket

WINDOW = timedelta(hours=24)
BURST = 3
"""So many alike, from as many people, are no coincidence."""
_ALIKE = 0.45
_RELATED = 0.2
_LOOKED_AT = 300
_READ = 4000
_OWN_TROUBLE = {"access", "billing", "account_change", "how_to", "data_request", "feedback", "spam"}
"""Two people who are locked out have two troubles, however alike their words."""


@dataclass(frozen=True)
class RelatedTickets:
    similar: tuple[SimilarTicket, ...]
    incident: Incident | None = None
    lead: RunId | None = None
    """The run that speaks for the incident, when it is not the one that asks."""
    lead_state: str | None = None


class IncidentGrouping:
    def __init__(self, database: Database, clock: Clock, ids: IdFactory) -> None:
        self._database = database
        self._clock = clock
        self._ids = ids

    async def around(self, workspace_id: WorkspaceId, ticket_id: TicketId, intent: str | None) -> RelatedTickets:
        """What came in the last 24 hours and looks like this ticket; linked, when there is much of it."""
        async with self._database.read(workspace_id) as session:
            ticket = await session.get(Ticket, (workspace_id, ticket_id))
            recent: Sequence[Ticket] = () if ticket is None else await self._recent(session, ticket)
        if ticket is None:
            return RelatedTickets(())
        # Comparing with hundreds takes a moment, in which nobody else should have to wait.
        related = await asyncio.to_thread(_ranked, ticket, recent)
        # Of others' tickets a planner sees that they are there, and nothing that somebody else wrote.
        similar = tuple(
            SimilarTicket(
                title=each.title if _same_person(each, ticket) else "A ticket of somebody else", status=each.status
            )
            for each, score in related[:10]
            if score >= _RELATED
        )
        alike = [each.id for each, score in related if score >= _ALIKE]
        people = {ticket.requester_email, *(each.requester_email for each, score in related if score >= _ALIKE)}
        is_known = ticket.incident_id is not None or any(each.incident_id for each, score in related if score >= _ALIKE)
        if intent in _OWN_TROUBLE or (len(people) < BURST and not is_known):
            return RelatedTickets(similar)
        return await self._joined(workspace_id, ticket.id, alike, similar)

    async def _joined(
        self, workspace_id: WorkspaceId, ticket_id: UUID, alike: Sequence[UUID], similar: tuple[SimilarTicket, ...]
    ) -> RelatedTickets:
        async with self._database.write(workspace_id) as session:
            mine = (Ticket.workspace_id == workspace_id, Ticket.id.in_([ticket_id, *alike]))
            # In one order, so that two who link the same tickets wait for each other and do not both open an incident.
            rows = (await session.scalars(select(Ticket).where(*mine).order_by(Ticket.id).with_for_update())).all()
            ticket = next(each for each in rows if each.id == ticket_id)
            incident = await self._linked(session, ticket, [each for each in rows if each.id != ticket_id])
            if incident is None:
                return RelatedTickets(similar)
            lead = await self._lead(session, incident)
            if lead is None or lead.ticket_id == ticket.id or await self._knows_less(session, incident, ticket):
                return RelatedTickets(similar, incident)
            return RelatedTickets(similar, incident, lead.typed_id, lead.state)

    async def _knows_less(self, session: WriteSession, incident: Incident, ticket: Ticket) -> bool:
        """What strangers were told settles nothing for somebody who is known: their ticket is looked into by itself."""
        first = await session.get(Ticket, (session.workspace_id, incident.lead_ticket_id))
        return ticket.requester_verified and (first is None or not first.requester_verified)

    async def _recent(self, session: ReadSession, ticket: Ticket) -> Sequence[Ticket]:
        since = self._clock.now() - WINDOW
        query = (
            select(Ticket)
            .where(Ticket.workspace_id == session.workspace_id, Ticket.received_at > since, Ticket.id != ticket.id)
            .order_by(Ticket.received_at.desc())
            .limit(_LOOKED_AT)
        )
        return (await session.scalars(query)).all()

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


def wake_followers(run: InvestigationContext, now: datetime) -> SqlStatement:
    """Those that wait for what this run finds, if it is the first of an incident."""
    place = run.workspace_id.hex
    return SqlStatement(
        "UPDATE investigations SET wake_at = ? WHERE workspace_id = ? AND state = 'created' AND ticket_id IN "
        "(SELECT id FROM tickets WHERE workspace_id = ? AND incident_id IN "
        "(SELECT id FROM incidents WHERE workspace_id = ? AND lead_ticket_id = ?))",
        (now, place, place, place, run.ticket.id.hex),
    )


def _same_person(one: Ticket, other: Ticket) -> bool:
    mine, theirs = (each.requester_email if each.requester_verified else None for each in (one, other))
    return mine is not None and theirs is not None and canonical_identity(mine) == canonical_identity(theirs)


def _ranked(ticket: Ticket, others: Sequence[Ticket]) -> list[tuple[Ticket, float]]:
    """The most alike first."""
    mine = _text(ticket)
    return sorted(((each, likeness(mine, _text(each))) for each in others), key=lambda pair: -pair[1])


def _text(ticket: Ticket) -> str:
    return f"{ticket.title}\n{ticket.body[:_READ]}"
