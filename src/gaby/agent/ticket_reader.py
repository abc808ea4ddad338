"""The ticket of a run as it is now: its texts with who wrote them, and what was done on it before."""

import re
from dataclasses import dataclass
from typing import Literal

from sqlalchemy import Select, select

from gaby.agent.ledger_entries import enter_earlier, enter_ticket
from gaby.agent.memory import CallRecord, DialogueRecord, MemoryDelta, TicketView
from gaby.agent.models import Investigation
from gaby.agent.run_context import InvestigationContext
from gaby.agent.run_loader import load
from gaby.kernel.crypto import Vault
from gaby.kernel.database import Database
from gaby.kernel.ids import created_before
from gaby.kernel.mail_addresses import same_address
from gaby.mind.resolved_message import says_solved
from gaby.tickets.authority import authority_of, is_instruction
from gaby.tickets.intake import Intake, OriginalMessage

_SHORT = re.compile(r"[\w.:@/+-]{1,60}")
_EARLIER_RUNS = 5


@dataclass(frozen=True)
class TicketReader:
    database: Database
    vault: Vault
    intake: Intake

    async def view(self, run: InvestigationContext) -> TicketView:
        async with self.database.read(run.workspace_id) as session:
            run.ticket = await self.intake.get(session, run.ticket.id)
            written = await self.intake.written(session, run.ticket)
        authority = authority_of(run.ticket, written.messages)
        if run.instructed and not is_instruction(run.ticket, written.messages):
            run.instructed, run.tools.principals = False, frozenset()
        if not authority.verified and run.tools.principals:
            # Whoever wrote in between may have asked for something in the requester's name.
            run.tools.principals = frozenset()
            run.tools.ledger.revoke_principals()
        view = TicketView(
            title=written.title,
            body=written.body,
            requester=run.ticket.requester_email,
            verified=authority.verified,
            customer=run.ticket.customer,
            priority=run.ticket.priority,
            messages=tuple(each.body for each in written.messages if each.author != "gaby" and not each.private),
            notes=tuple(each.body for each in written.messages if each.author != "gaby" and each.private),
            dialogue=tuple(
                DialogueRecord(author=_author(each, run.ticket.requester_email), text=each.body)
                for each in written.messages
                if not each.private and each.body.strip() and not each.automatic
            ),
            others=any(_is_by_another(each, run.ticket.requester_email) for each in written.messages),
            heard=sum(each.asks for each in written.messages),
        )
        enter_ticket(run, view)
        return view

    async def earlier_changes(self, run: InvestigationContext) -> MemoryDelta:
        """What Gaby changed on this ticket before, so that nothing is done twice and follow-ups are understood. The
        arguments may come from anything that was read then, so whoever may not be told of that is not told of them."""
        async with self.database.read(run.workspace_id) as session:
            earlier = (await session.scalars(self._earlier(run).limit(_EARLIER_RUNS))).all()
            memories = [(row, (await load(session, self.vault, row)).memory) for row in reversed(earlier)]
        lines = tuple(
            f"{row.finished_at:%Y-%m-%d %H:%M}: {call.tool}({run.redact_own(_named_arguments(call))}), {call.outcome}"
            for row, memory in memories
            for call in memory.calls
            if call.access == "write"
        )
        is_open = all(memory.is_open for _, memory in memories if any(call.access == "write" for call in memory.calls))
        enter_earlier(run, lines, is_open=is_open)
        return MemoryDelta(earlier=lines, earlier_is_open=is_open)

    def _earlier(self, run: InvestigationContext) -> Select[Investigation]:
        """Investigations of this ticket that have ended, the latest first."""
        return (
            select(Investigation)
            .where(
                Investigation.workspace_id == run.workspace_id,
                Investigation.ticket_id == run.ticket.id,
                Investigation.finished_at.is_not(None),
            )
            .order_by(Investigation.finished_at.desc())
        )

    async def verdict_before_thanks(self, run: InvestigationContext) -> str | None:
        """How the ticket ended before, when all that the requester wrote since is that it is solved."""
        async with self.database.read(run.workspace_id) as session:
            last = (await session.scalars(self._earlier(run).limit(1))).one_or_none()
            if last is None or last.finished_at is None:
                return None
            written = await self.intake.written(session, run.ticket)
        news = [each.body for each in written.messages if each.asks and created_before(each.id) > last.finished_at]
        return last.verdict if news and all(map(says_solved, news)) else None

    async def changed_view(self, run: InvestigationContext) -> TicketView | None:
        """The ticket as it is now, when something about it has changed since."""
        async with self.database.read(run.workspace_id) as session:
            now = await self.intake.get(session, run.ticket.id)
        if now.changed_at == run.ticket.changed_at:
            return None
        view = await self.view(run)
        return view if view != run.memory.ticket else None


def _author(
    message: OriginalMessage, requester: str | None
) -> Literal["requester", "colleague", "gaby", "somebody else"]:
    match message.author:
        case "gaby":
            return "gaby"
        case "requester":
            return "somebody else" if _is_by_another(message, requester) else "requester"
        case _:
            return "colleague"


def _is_by_another(message: OriginalMessage, requester: str | None) -> bool:
    """Whether a message says that it is neither the requester's own nor a colleague's."""
    author = message.author_email
    if message.author != "requester" or author is None:
        return False
    return requester is None or not same_address(author, requester)


def _named_arguments(call: CallRecord) -> str:
    """Ids and numbers. A longer text may be a stranger's, and stands in the dialogue."""
    shown = {name: str(value) for name, value in call.arguments.items() if _SHORT.fullmatch(str(value))}
    return ", ".join(f"{name}={value}" for name, value in shown.items())
