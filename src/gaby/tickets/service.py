"""Tickets as the rest of Gaby sees them."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from sqlalchemy import func, select

from gaby.kernel.actors import Actor, Permission
from gaby.kernel.clock import Clock
from gaby.kernel.database import ReadSession, WriteSession
from gaby.kernel.errors import Conflict, Forbidden, NotFound
from gaby.kernel.events import Event
from gaby.kernel.ids import IdFactory
from gaby.tickets.canonical_ticket import Author, IncomingMessage, IncomingTicket, Voucher
from gaby.tickets.desks import INBOX, Desks
from gaby.tickets.intake import Intake, IntakeResult
from gaby.tickets.models import Desk, Ticket
from gaby.tickets.preparation import PreparedMessage, PreparedTicket
from gaby.tickets.receiver import TicketReceiver


class AtItsDesk(Conflict):
    """This ticket is at another desk. Answer and close it there; Gaby hears of it."""


_AT_ONCE = 400
"""Values of one query."""


@dataclass(frozen=True)
class Tickets:
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

    async def list(self, session: ReadSession, status: str | None = None, limit: int = 100) -> Sequence[Ticket]:
        """The newest first."""
        query = select(Ticket).where(Ticket.workspace_id == session.workspace_id)
        if status is not None:
            query = query.where(Ticket.status == status)
        return (await session.scalars(query.order_by(Ticket.received_at.desc(), Ticket.id.desc()).limit(limit))).all()

    async def named(self, session: ReadSession, external_id: str) -> Ticket:
        """By what its desk calls it, when that is clear."""
        # By way of the desks, since the index of what desks call their tickets begins with them.
        desks = select(Desk.id).where(Desk.workspace_id == session.workspace_id)
        mine = (Ticket.workspace_id == session.workspace_id, Ticket.desk_id.in_(desks))
        query = select(Ticket).where(*mine, Ticket.external_id == external_id)
        rows = (await session.scalars(query.limit(2))).all()
        if len(rows) != 1:
            raise NotFound("There is no such ticket, or several desks have one. `gaby ticket list` shows them.")
        return rows[0]

    async def shared_names(self, session: ReadSession, external_ids: Sequence[str]) -> set[str]:
        """Those of the desks' own ids that more than one desk uses."""
        shared: set[str] = set()
        desks = select(Desk.id).where(Desk.workspace_id == session.workspace_id)
        mine = (Ticket.workspace_id == session.workspace_id, Ticket.desk_id.in_(desks))
        for start in range(0, len(external_ids), _AT_ONCE):
            some = Ticket.external_id.in_(external_ids[start : start + _AT_ONCE])
            query = select(Ticket.external_id).where(*mine, some).group_by(Ticket.external_id)
            shared.update(await session.scalars(query.having(func.count() > 1)))
        return shared

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
