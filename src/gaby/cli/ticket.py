"""`gaby ticket`: tickets, from the machine where Gaby runs."""

import sys
from dataclasses import dataclass
from typing import Annotated

import typer

from gaby.agent.run_schemas import RatingOut
from gaby.app import Gaby
from gaby.cli import completion
from gaby.cli.columns import cut_beginning, print_lines, terminal_width
from gaby.cli.output import AsJson, echo, one_line, print_json
from gaby.cli.runtime import run
from gaby.cli.ticket_ids import find_ticket, ticket_names
from gaby.cli.workspace_option import InWorkspace, operator_in
from gaby.kernel.actors import Actor
from gaby.kernel.database import assign_references
from gaby.kernel.errors import BadRequest
from gaby.tickets.canonical_ticket import IncomingTicket, Priority, TicketStatus
from gaby.tickets.schemas import OriginalOut, TicketDetailOut, TicketOut

app = typer.Typer(help="Tickets: added, listed, shown, answered, closed, rated.", no_args_is_help=True)

Which = Annotated[
    str,
    typer.Argument(
        help="Its reference, such as T-12; its id; or what its desk calls it.",
        autocompletion=completion.tickets,
    ),
]
_REQUESTER_SHARE = 0.32
"""Of the width: the title, which says most, gets what is left."""


@app.command()
def add(
    title: Annotated[str, typer.Argument(help="In a few words.")],
    body: Annotated[str, typer.Argument(help="The text; - reads it from standard input.")] = "",
    requester: Annotated[str | None, typer.Option(help="The e-mail address of whoever asks.")] = None,
    verified: Annotated[bool, typer.Option(help="You vouch that the requester is who they say.")] = False,
    customer: Annotated[str, typer.Option(help="Their company.")] = "",
    priority: Annotated[Priority, typer.Option(help="How urgent it is.")] = "medium",
    external_id: Annotated[str | None, typer.Option("--id", help="Your own id for it.")] = None,
    workspace: InWorkspace = None,
    as_json: AsJson = False,
) -> None:
    """Add a ticket to the built-in desk."""
    text = sys.stdin.read() if body == "-" else body

    async def add_ticket(gaby: Gaby) -> TicketOut:
        actor = await operator_in(gaby, workspace)
        incoming = IncomingTicket(
            external_id=external_id or f"inbox-{gaby.ids.new().hex}",
            title=title,
            body=text,
            requester_email=requester,
            requester_verified=verified,
            customer=customer,
            priority=priority,
        )
        async with gaby.database.write(actor.workspace_id) as session:
            received = await gaby.tickets.add(session, actor, incoming)
            await assign_references(session)
            return TicketOut.from_domain(await gaby.tickets.intake.get(session, received.ticket_id))

    added = run(add_ticket)
    if as_json:
        print_json(added.model_dump())
    else:
        echo(f"{added.reference}  {added.status}  {added.id}")


@app.command("list")
def list_tickets(
    status: Annotated[TicketStatus | None, typer.Option(help="Only those with this status.")] = None,
    limit: Annotated[int, typer.Option(min=1, max=10_000, help="At most so many.")] = 50,
    workspace: InWorkspace = None,
    as_json: AsJson = False,
) -> None:
    """List tickets, the newest first."""

    async def load_tickets(gaby: Gaby) -> list[_TicketRow]:
        actor = await operator_in(gaby, workspace)
        async with gaby.database.read(actor.workspace_id) as session:
            rows = await gaby.ticket_queries.list(session, status, limit)
            verdicts = await gaby.run_queries.latest_verdicts(session, [row.id for row in rows])
            names = await ticket_names(session, rows)
            return [_TicketRow(TicketOut.from_domain(row), names[row.id], verdicts.get(row.id)) for row in rows]

    tickets = run(load_tickets)
    if as_json:
        print_json([each.ticket.model_dump() | {"verdict": each.verdict} for each in tickets])
    elif not tickets:
        echo("No tickets. `gaby ticket add TITLE TEXT`.", err=True)
    else:
        print_lines(("ticket", "requester", "state", "verdict", "title"), [_cells(each) for each in tickets])


@app.command()
def show(
    ticket: Which,
    real: Annotated[bool, typer.Option(help="What was really written, with names and addresses.")] = False,
    workspace: InWorkspace = None,
    as_json: AsJson = False,
) -> None:
    """Show a ticket with what was written on it."""

    async def load_ticket(gaby: Gaby) -> tuple[TicketDetailOut, OriginalOut | None]:
        actor = await operator_in(gaby, workspace)
        async with gaby.database.read(actor.workspace_id) as session:
            row = await find_ticket(gaby, session, ticket)
            detail = TicketDetailOut.with_messages(row, await gaby.ticket_queries.messages(session, row.id))
            return detail, OriginalOut.from_domain(await gaby.tickets.intake.written(session, row)) if real else None

    detail, original = run(load_ticket)
    if as_json:
        print_json(detail.model_dump() | (original.model_dump() if original is not None else {}))
        return
    from rich.markup import escape

    from gaby.cli.console import SafeConsole

    shown_ticket = original or detail
    console = SafeConsole()
    name = detail.reference or str(detail.id)
    console.print(
        f"[bold]{name}  {escape(shown_ticket.title)}[/bold]   {detail.status}, {detail.priority}", highlight=False
    )
    console.print(f"{detail.requester_email or 'nobody'}, {detail.received_at:%Y-%m-%d %H:%M}", style="dim")
    console.print(f"\n{escape(shown_ticket.body)}\n", highlight=False)
    for each in shown_ticket.messages:
        console.print(f"{each.author}, {each.at:%Y-%m-%d %H:%M}{' (private)' if each.private else ''}", style="dim")
        console.print(f"{escape(each.body)}\n", highlight=False)


@app.command()
def reply(
    ticket: Which,
    body: Annotated[str, typer.Argument(help="The text; - reads it from standard input.")],
    as_requester: Annotated[bool, typer.Option(help="In the requester's name: Gaby goes on with it.")] = False,
    verified: Annotated[bool, typer.Option(help="You vouch that the requester wrote it.")] = False,
    done: Annotated[bool, typer.Option("--close", help="This solves it: close the ticket too.")] = False,
    workspace: InWorkspace = None,
) -> None:
    """Write on a ticket of the built-in desk."""
    text = sys.stdin.read() if body == "-" else body
    if not text.strip():
        raise BadRequest("There is nothing to write.")

    async def post_reply(gaby: Gaby) -> None:
        actor: Actor = await operator_in(gaby, workspace)
        async with gaby.database.write(actor.workspace_id) as session:
            row = await find_ticket(gaby, session, ticket)
            author = "requester" if as_requester else "agent"
            await gaby.tickets.write_on(session, actor, row, text, author, verified=verified)
            if done:
                await gaby.tickets.close(session, actor, row)

    run(post_reply)
    echo("Written and closed." if done else "Written.", err=True)


@app.command()
def close(ticket: Which, workspace: InWorkspace = None) -> None:
    """Close a ticket of the built-in desk: Gaby lets it be, until the requester writes again."""

    async def close_ticket(gaby: Gaby) -> None:
        actor = await operator_in(gaby, workspace)
        async with gaby.database.write(actor.workspace_id) as session:
            await gaby.tickets.close(session, actor, await find_ticket(gaby, session, ticket))

    run(close_ticket)
    echo("Closed.", err=True)


@app.command()
def rate(
    ticket: Which,
    rating: Annotated[int, typer.Argument(min=1, max=5, help="5: just what was needed. 1: of no use.")],
    workspace: InWorkspace = None,
    as_json: AsJson = False,
) -> None:
    """Say what you think of how it ended. From 4 on, a resolution waits for a person as something to learn."""

    async def rate_ticket(gaby: Gaby) -> RatingOut:
        actor = await operator_in(gaby, workspace)
        async with gaby.database.write(actor.workspace_id) as session:
            row = await find_ticket(gaby, session, ticket)
            return RatingOut.from_domain(await gaby.agent.rate(session, actor, row, rating))

    rated = run(rate_ticket)
    if as_json:
        print_json(rated.model_dump())
    elif rated.staged:
        echo("Rated. It waits as something to learn: `gaby knowledge learned`.", err=True)
    else:
        echo(f"Rated. Nothing is learned from it: {rated.why}", err=True)


@dataclass(frozen=True)
class _TicketRow:
    ticket: TicketOut
    name: str
    """By which commands find it."""
    verdict: str | None
    """Of its last investigation."""


def _cells(listed: _TicketRow) -> list[str]:
    ticket = listed.ticket
    requester = cut_beginning(one_line(ticket.requester_email or "-"), int(terminal_width() * _REQUESTER_SHARE))
    return [one_line(listed.name), requester, ticket.status, listed.verdict or "-", one_line(ticket.title)]
