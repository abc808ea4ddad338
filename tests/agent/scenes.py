"""A workspace with the sample company behind it, and tickets that are really looked into."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import UUID

import orjson
from sqlalchemy import select

from gaby.agent.models import Investigation, InvestigationStep
from gaby.app import Gaby
from gaby.app.sample import connect_sample
from gaby.audit.models import AuditRowRecord
from gaby.kernel.actors import Actor, system_actor
from gaby.kernel.ids import SYSTEM, ApprovalId, TicketId, WorkspaceId
from gaby.tickets.canonical_ticket import IncomingTicket
from gaby.tickets.models import Posting, Ticket, TicketMessage
from gaby.tools.approvals import ApprovalDecision, Decision
from gaby.tools.models import Approval

LOCKED_OUT = IncomingTicket(
    external_id="T-1",
    title="Locked out again",
    body="I changed my password this morning as your mail asked. It worked on the laptop, and now I am locked out.",
    requester_email="nora.lindqvist@brightbakery.example",
    requester_verified=True,
)
CHARGED_TWICE = IncomingTicket(
    external_id="T-2",
    title="Charged twice",
    body="Our card statement shows 249.00 USD from you twice on the same day. We only have one subscription.",
    requester_email="dolores.vega@cactuscycles.example",
    requester_verified=True,
)


@dataclass
class Office:
    gaby: Gaby
    workspace_id: WorkspaceId
    folder: Path

    @property
    def actor(self) -> Actor:
        return system_actor("operator", self.workspace_id)

    async def receive(self, ticket: IncomingTicket) -> TicketId:
        async with self.gaby.database.write(self.workspace_id) as session:
            return (await self.gaby.tickets.add(session, self.actor, ticket)).ticket_id

    async def work(self) -> None:
        """Everything that is due."""
        while await self.gaby.runner.run_one():
            pass

    async def ticket(self, ticket_id: TicketId) -> Ticket:
        async with self.gaby.database.read(self.workspace_id) as session:
            return await self.gaby.tickets.intake.get(session, ticket_id)

    async def messages(self, ticket_id: TicketId) -> Sequence[TicketMessage]:
        """Without the first reply that says no more than that a colleague takes over."""
        async with self.gaby.database.read(self.workspace_id) as session:
            acknowledged = select(Posting.external_id).where(
                Posting.workspace_id == self.workspace_id, Posting.ticket_id == ticket_id, Posting.kind == "ack"
            )
            apart = set((await session.scalars(acknowledged)).all())
            written = await self.gaby.tickets.intake.messages(session, ticket_id)
        return [each for each in written if each.external_id not in apart]

    async def run_of(self, ticket_id: TicketId) -> Investigation:
        async with self.gaby.database.read(self.workspace_id) as session:
            investigation = await self.gaby.agent.latest_of(session, ticket_id)
        assert investigation is not None
        return investigation

    async def steps(self, run_id: UUID) -> Sequence[InvestigationStep]:
        async with self.gaby.database.read(self.workspace_id) as session:
            return await self.gaby.agent.steps(session, run_id)

    async def waiting(self) -> list[Approval]:
        async with self.gaby.database.read(self.workspace_id) as session:
            return list(await self.gaby.tools.approvals.list(session))

    async def answer(self, approval: Approval, decision: Decision, reason: str = "") -> None:
        async with self.gaby.database.write(self.workspace_id) as session:
            given = ApprovalDecision(decision, reason)
            await self.gaby.tools.decide_approval(session, self.actor, ApprovalId(approval.id), given)

    async def audit(self, event: str) -> list[dict[str, Any]]:
        """The payloads of all rows of an event, oldest first."""
        query = (
            select(AuditRowRecord.payload)
            .where(AuditRowRecord.workspace_id == self.workspace_id, AuditRowRecord.event == event)
            .order_by(AuditRowRecord.seq)
        )
        async with self.gaby.database.read(self.workspace_id) as session:
            return [orjson.loads(payload) for payload in (await session.scalars(query)).all()]


async def open_office(gaby: Gaby, folder: Path, slug: str = "lanternfish", *, sample: bool = True) -> Office:
    async with gaby.database.write(SYSTEM) as session:
        made = await gaby.identity.workspaces.create(session, system_actor("test"), slug=slug, name=slug.title())
    office = Office(gaby, WorkspaceId(made.id), folder)
    if sample:
        await connect_sample(gaby, office.actor, folder, now=gaby.clock.now())
    return office
