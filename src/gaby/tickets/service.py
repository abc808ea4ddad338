"""Tickets as the rest of Gaby sees them."""

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import select

from gaby.kernel.actors import Actor, Permission
from gaby.kernel.clock import Clock
from gaby.kernel.database import ReadSession, WriteSession
from gaby.kernel.errors import Conflict, Forbidden, NotFound
from gaby.kernel.events import Event
from gaby.kernel.ids import Ids
from gaby.tickets.canonical import Author, IncomingMessage, IncomingTicket
from gaby.tickets.desks import INBOX, Desks
from gaby.tickets.intake import Intake, Taken
from gaby.tickets.models import Ticket
from gaby.tickets.receiving import Receiver


class AtItsDesk(Conflict):
    """This ticket is at another desk. Answer and close it there; Gaby hears of it."""


@dataclass(frozen=True)
class Tickets:
    clock: Clock
    ids: Ids
    desks: Desks
    intake: Intake
    receiver: Receiver

    async def add(self, session: WriteSession, actor: Actor, incoming: IncomingTicket) -> Taken:
        """To the built-in desk."""
        return await self.intake.take(session, actor, await self.desks.inbox(session, actor), incoming)

    async def add_instruction(self, session: WriteSession, actor: Actor, incoming: IncomingTicket) -> Taken:
        """An operator's own request: what it names, they have chosen. Whoever may not decide may not instruct."""
        if not actor.may(Permission.APPROVALS_DECIDE):
            raise Forbidden("Only those who decide approvals may give instructions. Send it as a ticket instead.")
        taken = await self.add(session, actor, incoming)
        if taken.new:
            (await self.intake.get(session, taken.ticket_id)).operator = actor.id[:200]
        return taken

    async def list(self, session: ReadSession, status: str | None = None, limit: int = 100) -> Sequence[Ticket]:
        """The newest first."""
        query = select(Ticket).where(Ticket.workspace_id == session.workspace_id)
        if status is not None:
            query = query.where(Ticket.status == status)
        return (await session.scalars(query.order_by(Ticket.received_at.desc(), Ticket.id.desc()).limit(limit))).all()

    async def named(self, session: ReadSession, external_id: str) -> Ticket:
        """By what its desk calls it, when that is clear."""
        mine = (Ticket.workspace_id == session.workspace_id, Ticket.external_id == external_id)
        found = (await session.scalars(select(Ticket).where(*mine).limit(2))).all()
        if len(found) != 1:
            raise NotFound("There is no such ticket, or several desks have one. `gaby ticket list` shows them.")
        return found[0]

    async def write_on(self, session: WriteSession, actor: Actor, ticket: Ticket, body: str, author: Author) -> None:
        """A message on a ticket of the built-in desk. By the requester, it sets Gaby to work again."""
        await self._must_be_ours(session, ticket)
        if author == "requester":
            ticket.closed_at = None
        message = IncomingMessage(external_id=f"inbox-{self.ids.new().hex}", author=author, body=body)
        await self.intake.add_message(session, actor, ticket, message)

    async def close(self, session: WriteSession, actor: Actor, ticket: Ticket) -> None:
        """A person is done with a ticket of the built-in desk. Gaby lets it be, until the requester writes again."""
        await self._must_be_ours(session, ticket)
        if ticket.closed_at is None:
            ticket.closed_at = ticket.changed_at = self.clock.now()
            session.emit(Event("ticket.closed", session.workspace_id, actor, {"ticket_id": str(ticket.id)}))

    async def _must_be_ours(self, session: ReadSession, ticket: Ticket) -> None:
        desk = await self.desks.get(session, ticket.desk_id)
        if desk.kind != INBOX:
            raise AtItsDesk(f"This ticket is at the desk {desk.name}. Answer and close it there; Gaby hears of it.")
