"""Starting: a ticket that came in is put into the queue, in the transaction that stored it."""

from uuid import UUID

from sqlalchemy import select, update

from gaby.agent.models import Investigation
from gaby.kernel.clock import Clock
from gaby.kernel.database import WriteSession, wants_reference
from gaby.kernel.events import Event
from gaby.kernel.ids import IdFactory
from gaby.tickets.canonical_ticket import rank_of
from gaby.tickets.models import Ticket

_DECIDED = {"approval.approved", "approval.refused", "approval.escalated", "approval.expired"}


class RunStarter:
    """Listens inside transactions, so that a ticket is never stored without its place in the queue."""

    def __init__(self, clock: Clock, ids: IdFactory) -> None:
        self._clock = clock
        self._ids = ids

    async def heard(self, session: WriteSession, events: list[Event]) -> None:
        for event in list(events):
            match event.name:
                case "ticket.received" if event.payload["queued"]:
                    self.start(session, UUID(event.payload["ticket_id"]), event.payload["rank"])
                case "ticket.message" if event.payload["author"] == "requester" and not event.payload["automatic"]:
                    await self._written_again(session, UUID(event.payload["ticket_id"]))
                case name if name in _DECIDED:
                    await self._wake(session, UUID(event.payload["run_id"]))
                case _:
                    pass

    def start(self, session: WriteSession, ticket_id: UUID, rank: int) -> Investigation:
        now = self._clock.now()
        run = Investigation(
            workspace_id=session.workspace_id,
            id=self._ids.new(),
            ticket_id=ticket_id,
            state="created",
            rank=rank,
            created_at=now,
            wake_at=now,
        )
        session.add(run)
        wants_reference(session, Investigation, run.id)
        return run

    async def _written_again(self, session: WriteSession, ticket_id: UUID) -> None:
        """A run under way sees the message by itself, at the latest when it ends; after the end a new one begins."""
        mine = (Investigation.workspace_id == session.workspace_id, Investigation.ticket_id == ticket_id)
        # The message has changed its ticket, and so does a run that ends: whichever is second sees what the first did.
        rows = (await session.scalars(select(Investigation.wake_at).where(*mine))).all()
        ticket = await session.get(Ticket, (session.workspace_id, ticket_id))
        if ticket is None or ticket.closed_at is not None or not rows or any(wake is not None for wake in rows):
            return
        ticket.status = "queued"
        self.start(session, ticket_id, rank_of(ticket.priority))

    async def _wake(self, session: WriteSession, run_id: UUID) -> None:
        await session.execute(
            update(Investigation)
            .where(Investigation.workspace_id == session.workspace_id, Investigation.id == run_id)
            .where(Investigation.wake_at.is_not(None))
            .values(wake_at=self._clock.now())
        )
