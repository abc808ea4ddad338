"""`gaby approvals`: what waits for a person."""

import json
from datetime import datetime
from enum import StrEnum
from typing import Annotated, Any, cast
from uuid import UUID

import typer

from gaby.app import Gaby
from gaby.cli.opening import run
from gaby.cli.places import operator_in
from gaby.cli.printing import AsJson, echo, one_line, one_line_json, print_json, print_rows, secho
from gaby.cli.user import InWorkspace
from gaby.kernel.errors import BadRequest
from gaby.kernel.ids import ApprovalId
from gaby.tools.approvals import Answer
from gaby.tools.schemas import ApprovalDetailOut, ApprovalOut

app = typer.Typer(help="What waits for a person.", no_args_is_help=True)


class Choice(StrEnum):
    APPROVE = "approve"
    REFUSE = "refuse"
    ESCALATE = "escalate"


class State(StrEnum):
    WAITING = "waiting"
    APPROVED = "approved"
    REFUSED = "refused"
    ESCALATED = "escalated"
    EXPIRED = "expired"
    USED = "used"
    ALL = "all"


@app.command("list")
def list_approvals(
    state: Annotated[State, typer.Option(help="Only those in this state.")] = State.WAITING,
    workspace: InWorkspace = None,
    as_json: AsJson = False,
) -> None:
    """List approvals, newest first."""

    async def work(gaby: Gaby) -> list[ApprovalOut]:
        actor = await operator_in(gaby, workspace)
        async with gaby.database.read(actor.workspace_id) as session:
            wanted = None if state is State.ALL else state.value
            return [ApprovalOut.of(row) for row in await gaby.tools.approvals.list(session, wanted)]

    found = run(work)
    rows = [
        {
            "id": row.id,
            "tool": one_line(row.tool),
            "state": row.state,
            "asked": row.requested_at,
            "why": one_line(_first(row)),
        }
        for row in found
    ]
    full = [row.model_dump(mode="json") for row in found]
    print_rows(full if as_json else rows, as_json=as_json, empty="Nothing waits for you.")


@app.command()
def show(approval_id: str, workspace: InWorkspace = None, as_json: AsJson = False) -> None:
    """Show exactly what would be sent, and why Gaby asks."""
    chosen = approval_id_of(approval_id)

    async def work(gaby: Gaby) -> ApprovalDetailOut:
        actor = await operator_in(gaby, workspace)
        async with gaby.database.read(actor.workspace_id) as session:
            row = await gaby.tools.approvals.get(session, chosen)
            sealed = await gaby.tools.approvals.call_of(session, row)
            return ApprovalDetailOut(**ApprovalOut.of(row).model_dump(), real_arguments=sealed.arguments)

    found = run(work)
    if as_json:
        print_json(found.model_dump(mode="json"))
        return
    print_approval(found)


@app.command()
def decide(
    approval_id: str,
    decision: Choice,
    reason: Annotated[str, typer.Option(help="Needed to refuse or escalate.")] = "",
    arguments: Annotated[str | None, typer.Option(help="Approve these arguments instead, as a JSON object.")] = None,
    whole_step: Annotated[
        bool, typer.Option("--whole-step", help="The same answer for every call of the step that waits.")
    ] = False,
    workspace: InWorkspace = None,
    as_json: AsJson = False,
) -> None:
    """Approve, refuse or escalate. The first answer counts."""
    chosen = approval_id_of(approval_id)
    answer = Answer(decision.value, reason, _object(arguments), whole_step=whole_step)

    async def work(gaby: Gaby) -> ApprovalOut:
        actor = await operator_in(gaby, workspace)
        async with gaby.database.write(actor.workspace_id) as session:
            return ApprovalOut.of(await gaby.tools.decide_approval(session, actor, chosen, answer))

    decided = run(work)
    if as_json:
        print_json(decided.model_dump(mode="json"))
        return
    echo(f"It is {decided.state}.", err=True)
    if decided.state == "approved" and decided.ticket:
        echo("The investigation goes on by itself.", err=True)
    elif decided.state == "approved":
        echo(f"Carry it out with `gaby tools call --approval {decided.id}`.", err=True)


def print_approval(found: ApprovalDetailOut) -> None:
    """Every value in one line each, whole, with nothing in it that a terminal would obey."""
    secho(f"{one_line(found.tool)}  ({found.state}{', dangerous' if found.dangerous else ''})", bold=True)
    # What a person has to know first: to what effect, for whom, and who stands behind each choice.
    if found.effect:
        echo(f"What will happen: {one_line(found.effect)}")
    if found.ticket:
        echo(f"Ticket: {one_line(found.ticket)}")
    if found.requester:
        verified = "verified" if found.requester_verified else "not verified"
        echo(f"Requester: {one_line(found.requester)} ({verified})")
    for each in found.owners:
        behind = " ".join(one_line(str(each.get(name, ""))) for name in ("argument", "value"))
        echo(f"  {behind}: {one_line(str(each.get('behind', '')))}")
    for name, value in found.real_arguments.items():
        echo(f"  {one_line(name)} = {one_line_json(value)}")
    for concern in found.concerns:
        where = f"{one_line(concern.argument)}: " if concern.argument else ""
        echo(f"- {where}{one_line(concern.reason)}")
        for quote in concern.quotes:
            echo(f"    {one_line(quote.source)}: “{one_line(quote.excerpt)}”")
    if found.preview is not None:
        echo(f"It would: {one_line_json(found.preview)}")
    asked = one_line(found.requested_by)
    echo(f"Asked by {asked} at {_minute(found.requested_at)}; until {_minute(found.expires_at)}.")
    if found.decided_by is not None:
        echo(f"{one_line(found.decided_by)} decided{f': {one_line(found.answer)}' if found.answer else '.'}")


def _minute(moment: datetime) -> str:
    return f"{moment:%Y-%m-%d %H:%M}"


def _first(row: ApprovalOut) -> str:
    return row.concerns[0].reason if row.concerns else row.why


def approval_id_of(text: str) -> ApprovalId:
    try:
        return ApprovalId(UUID(text))
    except ValueError:
        raise BadRequest("That is not an approval's id. `gaby approvals list` shows the ids.") from None


def _object(text: str | None) -> dict[str, Any] | None:
    if text is None:
        return None
    try:
        found = json.loads(text)
    except ValueError:
        found = None
    if not isinstance(found, dict):
        raise BadRequest('Arguments are a JSON object, such as {"user_id": "u-7"}.')
    return cast("dict[str, Any]", found)
