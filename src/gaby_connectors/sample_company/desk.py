"""Tickets, notes and mail: what customers wrote, and what is written about it."""

from typing import Annotated

from pydantic import BaseModel, Field

from gaby_connectors.sample_company.base import Limit, TicketId, connector, minted, written
from gaby_connectors.sample_company.company import CompanyBackend, done_before
from gaby_connectors.sdk.manifest import Audience, ResultLabel, ToolManifest
from gaby_connectors.sdk.tool import WriteCall

_TICKET = minted("tickets[]", "id", "account_id", "status", "created_at") | written(
    "tickets[]", "requester_email", "subject", "body"
)


class Ticket(BaseModel):
    id: str
    account_id: str | None
    requester_email: str
    subject: str
    body: str
    status: str
    created_at: str


class SampleTicketList(BaseModel):
    tickets: list[Ticket]


class Note(BaseModel):
    author: str
    text: str
    created_at: str


class TicketDetail(BaseModel):
    ticket: Ticket
    notes: list[Note]


class NoteResult(BaseModel):
    ticket_id: str
    note_id: int


class SentMail(BaseModel):
    email_id: int
    to: str


@connector.tool(
    ToolManifest(scope="read", path="tickets/search", results=_TICKET, owner={"tickets[]": "requester_email"}),
    more="Search for a rarer word.",
)
async def search_tickets(
    company: CompanyBackend,
    query: Annotated[str, Field(min_length=2, max_length=200, description="A word of the subject or the text.")],
    limit: Limit = 20,
) -> SampleTicketList:
    """Find tickets of any customer by a word in them: useful to see whether others have the same problem."""
    rows = company.rows(
        "SELECT * FROM tickets WHERE instr(lower(subject || ' ' || body), lower(?1)) ORDER BY created_at DESC LIMIT ?2",
        query.strip(),
        limit,
    )
    return SampleTicketList(tickets=[Ticket(**row) for row in rows])


@connector.tool(
    ToolManifest(
        scope="read",
        path="tickets/{ticket_id}",
        results={path.replace("tickets[]", "ticket"): label for path, label in _TICKET.items()},
        owner={"ticket": "requester_email"},
    )
)
async def get_ticket(company: CompanyBackend, ticket_id: TicketId) -> TicketDetail:
    """Show one ticket with its internal notes."""
    row = company.row("ticket", "SELECT * FROM tickets WHERE id = ?", ticket_id)
    notes = company.rows("SELECT author, text, created_at FROM notes WHERE ticket_id = ? ORDER BY id", ticket_id)
    return TicketDetail(ticket=Ticket(**row), notes=[Note(**note) for note in notes])


@connector.tool(
    ToolManifest(
        scope="write",
        path="tickets/{ticket_id}/notes/add",
        requires_approval_above_autonomy="investigate",
        steering=("ticket_id",),
        content=("text",),
        content_audience=Audience.STAFF,
        supports_dry_run=True,
        idempotent=True,
        results={"note_id": ResultLabel.CREATED},
    ),
    lookup=done_before(NoteResult),
)
async def add_note(
    company: CompanyBackend,
    ticket_id: TicketId,
    text: Annotated[str, Field(min_length=1, max_length=5000, description="What colleagues should know.")],
    call: WriteCall,
) -> NoteResult:
    """Add an internal note to a ticket. Only colleagues see it, never the customer."""
    _ = company.row("ticket", "SELECT id FROM tickets WHERE id = ?", ticket_id)
    number = company.rows("SELECT coalesce(max(id), 0) + 1 AS n FROM notes")[0]["n"]
    return company.effect(
        "add_note",
        call,
        NoteResult(ticket_id=ticket_id, note_id=number),
        ("INSERT INTO notes VALUES (?, ?, 'gaby', ?, ?)", number, ticket_id, text, company.stamp()),
    )


@connector.tool(
    ToolManifest(
        scope="write",
        path="emails/send",
        destinations=("to",),
        content=("subject", "body"),
        supports_dry_run=True,
        idempotent=True,
        results={"email_id": ResultLabel.CREATED},
    ),
    lookup=done_before(SentMail),
)
async def send_email(
    company: CompanyBackend,
    to: Annotated[
        str,
        Field(
            max_length=200,
            pattern=r"^[^@\s]+@[^@\s]+\.[^@\s]+$",
            description="The address to send to.",
            examples=["nora.lindqvist@brightbakery.example"],
        ),
    ],
    subject: Annotated[str, Field(min_length=1, max_length=200, description="The subject line.")],
    body: Annotated[str, Field(min_length=1, max_length=20_000, description="The text of the mail.")],
    call: WriteCall,
) -> SentMail:
    """Send an e-mail in the name of Lanternfish's support. It cannot be taken back."""
    number = company.rows("SELECT coalesce(max(id), 0) + 1 AS n FROM emails")[0]["n"]
    return company.effect(
        "send_email",
        call,
        SentMail(email_id=number, to=to),
        ("INSERT INTO emails VALUES (?, ?, ?, ?, ?)", number, to, subject, body, company.stamp()),
    )
