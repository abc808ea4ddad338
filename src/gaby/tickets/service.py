"""Tickets as the rest of Gaby sees them."""

from dataclasses import dataclass, replace

from gaby.kernel.actors import Actor, Permission
from gaby.kernel.clock import Clock
from gaby.kernel.database import ReadSession, WriteSession
from gaby.kernel.errors import Conflict, Forbidden
from gaby.kernel.events import Event
from gaby.kernel.ids import IdFactory
from gaby.tickets.canonical_ticket import Author, IncomingMessage, IncomingTicket, Voucher
from gaby.tickets.desks import INBOX, Desks
from gaby.tickets.intake import Intake, IntakeResult
from gaby.tickets.models import Desk, Ticket
from gaby.tickets.preparation import PreparedMessage, PreparedTicket
from gaby.tickets.receiver import TicketReceiver
from gaby.tickets.ticket_queries import TicketQueries


class AtItsDesk(Conflict):
    """This ticket is at another desk. Answer and close it there; Gaby hears of it."""


@dataclass(frozen=True)
class Tickets(TicketQueries):
    clock: Clock
    ids: IdFactory
    desks: Desks
    intake: Intake
    receiver: TicketReceiver

    async def add(self, session: WriteSession, actor: Actor, incoming: IncomingTicket | PreparedTicket) -> IntakeResult:
        """To the built-in desk."""
        return await self.intake.take(session, actor, await self.desks.inbox(session, actor), incoming)

    async def add_instruction(
        self, session: WriteSession, actor: Actor, incoming: IncomingTicket | PreparedTicket
    ) -> IntakeResult:
        """An operator's own request: what it names, they have chosen. Whoever may not decide may not instruct."""
        if not actor.may(Permission.APPROVALS_DECIDE):
            raise Forbidden("Only those who decide approvals may give instructions. Send it as a ticket instead.")
        intake_result = await self.add(session, actor, incoming)
        if not intake_result.new:
            raise Conflict("There is a ticket with this id already, which somebody else may have written.")
        (await self.intake.get(session, intake_result.ticket_id)).operator = actor.id[:200]
        return intake_result

    async def prepare_message(self, body: str, author: Author) -> PreparedMessage:
        """A message for the built-in desk, before the transaction that stores it is opened."""
        message = IncomingMessage(external_id=f"inbox-{self.ids.new().hex}", author=author, body=body)
        return await self.intake.prepare_message(message)

    async def write_on(
        self,
        session: WriteSession,
        actor: Actor,
        ticket: Ticket,
        body: str | PreparedMessage,
        author: Author,
        *,
        verified: bool = False,
    ) -> None:
        """A message on a ticket of the built-in desk. By the requester, it sets Gaby to work again.

        `verified`: whoever calls vouches that the ticket's requester wrote it."""
        desk = await self._must_be_ours(session, ticket)
        ready = await self.prepare_message(body, author) if isinstance(body, str) else body
        message = replace(ready.message, author=author)
        if author == "requester":
            ticket.closed_at = None
            voucher: Voucher = "desk" if verified and desk.vouched_by == "desk" else "nobody"
            message = replace(message, author_email=ticket.requester_email, verified_by=voucher)
        await self.intake.add_message(session, actor, ticket, replace(ready, message=message))

    async def close(self, session: WriteSession, actor: Actor, ticket: Ticket) -> None:
        """A person is done with a ticket of the built-in desk. Gaby lets it be, until the requester writes again."""
        await self._must_be_ours(session, ticket)
        if ticket.closed_at is None:
            ticket.closed_at = ticket.changed_at = self.clock.now()
            session.emit(Event("ticket.closed", session.workspace_id, actor, {"ticket_id": str(ticket.id)}))

    async def _must_be_ours(self, session: ReadSession, ticket: Ticket) -> Desk:
        desk = await self.desks.get(session, ticket.desk_id)
        if desk.kind != INBOX:
            raise AtItsDesk(f"This ticket is at the desk {desk.name}. Answer and close it there; Gaby hears of it.")
        return desk
