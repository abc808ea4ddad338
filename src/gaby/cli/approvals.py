"""`gaby approvals`: what waits for a person."""

import json
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Annotated, Any, cast

import typer
from rich.cells import cell_len

from gaby.app import Gaby
from gaby.cli import completion
from gaby.cli.columns import cut, in_columns, terminal_width
from gaby.cli.output import AsJson, echo, one_line, one_line_json, print_json, secho
from gaby.cli.runtime import run
from gaby.cli.workspace_option import InWorkspace, operator_in
from gaby.kernel.errors import BadRequest
from gaby.kernel.ids import ApprovalId
from gaby.kernel.mixed_scripts import mixed_words
from gaby.tools.approval_ids import approval_names, find_approval
from gaby.tools.approval_schemas import ApprovalDetailOut, ApprovalOut

app = typer.Typer(help="What waits for a person.", no_args_is_help=True)


ApprovalArgument = Annotated[
    str,
    typer.Argument(
        help="Its reference, such as A-3; its id, or the beginning of it.",
        autocompletion=completion.approvals,
    ),
]
_COLUMN_SHARE = 0.35
"""Of the width. A longer requester is not cut, since the end says whose it is; it only moves what stands behind it."""
_TICKET_SHARE = 0.16
_UNITS = (("d", 86_400), ("h", 3600), ("m", 60))


class DecisionChoice(StrEnum):
    APPROVE = "approve"
    REFUSE = "refuse"
    ESCALATE = "escalate"


_NEXT = {
    DecisionChoice.APPROVE: "Run {run} makes the call next, as soon as a server or worker takes it up.",
    DecisionChoice.REFUSE: "Run {run} goes on without this call.",
    DecisionChoice.ESCALATE: "Run {run} hands the ticket to a person.",
}


class ApprovalStateChoice(StrEnum):
    WAITING = "waiting"
    APPROVED = "approved"
    REFUSED = "refused"
    ESCALATED = "escalated"
    EXPIRED = "expired"
    USED = "used"
    ALL = "all"


@app.command("list")
def list_approvals(
    state: Annotated[ApprovalStateChoice, typer.Option(help="Only those in this state.")] = ApprovalStateChoice.WAITING,
    workspace: InWorkspace = None,
    as_json: AsJson = False,
) -> None:
    """List approvals, newest first."""

    async def load_approvals(gaby: Gaby) -> tuple[list[ApprovalOut], Mapping[ApprovalId, str], datetime]:
        actor = await operator_in(gaby, workspace)
        async with gaby.database.read(actor.workspace_id) as session:
            wanted = None if state is ApprovalStateChoice.ALL else state.value
            rows = await gaby.stored_approvals.list(session, wanted)
            names = await approval_names(session, rows)
            return [ApprovalOut.from_domain(row) for row in rows], names, gaby.clock.now()

    approvals, names, now = run(load_approvals)
    if as_json:
        print_json([row.model_dump(mode="json") for row in approvals])
    elif not approvals:
        echo("Nothing waits for you.", err=True)
    else:
        print_approvals(approvals, names, now=now, with_state=state is not ApprovalStateChoice.WAITING)


@app.command()
def show(approval_id: ApprovalArgument, workspace: InWorkspace = None, as_json: AsJson = False) -> None:
    """Show exactly what would be sent, and why Gaby asks."""

    async def load_approval(gaby: Gaby) -> ApprovalDetailOut:
        actor = await operator_in(gaby, workspace)
        async with gaby.database.read(actor.workspace_id) as session:
            row = await gaby.stored_approvals.get(session, await find_approval(session, approval_id))
            sealed = await gaby.stored_approvals.call_of(session, row)
            return ApprovalDetailOut(**ApprovalOut.from_domain(row).model_dump(), real_arguments=sealed.arguments)

    approval = run(load_approval)
    if as_json:
        print_json(approval.model_dump(mode="json"))
        return
    print_approval(approval)


@app.command()
def decide(
    approval_id: ApprovalArgument,
    decision: DecisionChoice,
    reason: Annotated[str, typer.Option(help="Needed to refuse or escalate.")] = "",
    arguments: Annotated[str | None, typer.Option(help="Approve these arguments instead, as a JSON object.")] = None,
    text: Annotated[
        typer.FileText | None,
        typer.Option("--text", help="Send the words of this file instead of a draft's; `-` reads standard input."),
    ] = None,
    whole_step: Annotated[
        bool, typer.Option("--whole-step", help="The same answer for every call of the step that waits.")
    ] = False,
    workspace: InWorkspace = None,
    as_json: AsJson = False,
) -> None:
    """Approve, refuse or escalate. The first answer counts."""
    from gaby.tools.approvals import ApprovalDecision

    if text is not None and arguments is not None:
        raise BadRequest("Give either --text or --arguments.")
    changed = {"body": text.read()} if text is not None else _object(arguments)
    answer = ApprovalDecision(decision.value, reason, changed, whole_step=whole_step)

    async def record_decision(gaby: Gaby) -> tuple[ApprovalOut, str | None]:
        actor = await operator_in(gaby, workspace)
        async with gaby.database.write(actor.workspace_id) as session:
            chosen = await find_approval(session, approval_id)
            decided = await gaby.tools.decide_approval(session, actor, chosen, answer)
            run = await gaby.run_queries.find(session, decided.run_id)
            return ApprovalOut.from_domain(decided), None if run is None else run.reference or str(run.id)

    decided, of_run = run(record_decision)
    if as_json:
        print_json(decided.model_dump(mode="json"))
        return
    # Who is named once more, so that an answer for the wrong person is noticed at once.
    behalf = f" for {one_line(decided.requester)}" if decided.requester else ""
    ticket = f" (ticket {one_line(decided.ticket)})" if decided.ticket else ""
    echo(f"{one_line(decided.tool)}{behalf}{ticket} is {decided.state}.", err=True)
    if of_run is not None:
        echo(f"{_NEXT[decision].format(run=of_run)} `gaby runs show {of_run}` shows how it goes on.", err=True)
    elif decided.state == "approved":
        name = decided.reference or decided.id
        echo(f"Carry it out with `gaby tools call --approval {name}`.", err=True)


def print_approvals(
    approvals: Sequence[ApprovalOut], names: Mapping[ApprovalId, str], *, now: datetime, with_state: bool
) -> None:
    """One line of short values for each, and below it why a person is asked, cut to the width of the terminal."""
    width = terminal_width()
    headings = ["approval", "ticket", "requester", "tool", "age", *(["state"] if with_state else [])]
    rows = [
        [
            names[row.id],
            cut(one_line(row.ticket) or "-", int(width * _TICKET_SHARE)),
            one_line(row.requester) or "-",
            one_line(row.tool),
            _age(now - row.requested_at),
            *([row.state] if with_state else []),
        ]
        for row in approvals
    ]
    columns = zip(headings, *rows, strict=True)
    widths = [min(int(width * _COLUMN_SHARE), max(map(cell_len, column))) for column in columns]
    secho(in_columns(headings, widths), bold=True)
    for row, cells in zip(approvals, rows, strict=True):
        echo(in_columns(cells, widths))
        doubt = "The requester is not verified. " if row.requester and not row.requester_verified else ""
        echo(f"  {cut(one_line(f'{doubt}{_first(row)}'), width - 2)}")


def print_approval(approval: ApprovalDetailOut) -> None:
    """Every value whole, with nothing in it that a terminal would obey."""
    name = f"{approval.reference}  " if approval.reference else ""
    secho(
        f"{name}{one_line(approval.tool)}  ({approval.state}{', dangerous' if approval.dangerous else ''})", bold=True
    )
    # What a person has to know first: to what effect, for whom, and who stands behind each choice.
    if approval.effect:
        echo(f"What will happen: {one_line(approval.effect)}")
    if approval.ticket:
        echo(f"Ticket: {one_line(approval.ticket)}")
    if approval.requester:
        verified = "verified" if approval.requester_verified else "not verified"
        echo(f"Requester: {one_line(approval.requester)} ({verified})")
        _warn_of_mixed_scripts("the requester", approval.requester)
    for each in approval.owners:
        behind = " ".join(one_line(str(each.get(name, ""))) for name in ("argument", "value"))
        echo(f"  {behind}: {one_line(str(each.get('behind', '')))}")
    for name, value in approval.real_arguments.items():
        _print_argument(name, value)
        _warn_of_mixed_scripts("the name of this argument", name)
        _warn_of_mixed_scripts(one_line(name), value)
    for concern in approval.concerns:
        where = f"{one_line(concern.argument)}: " if concern.argument else ""
        echo(f"- {where}{one_line(concern.reason)}")
        for quote in concern.quotes:
            echo(f"    {one_line(quote.source)}: “{one_line(quote.excerpt)}”")
    if approval.preview is not None:
        echo(f"It would: {one_line_json(approval.preview)}")
    asked = one_line(approval.requested_by)
    echo(f"Asked by {asked} at {_minute(approval.requested_at)}; until {_minute(approval.expires_at)}.")
    if approval.decided_by is not None:
        echo(f"{one_line(approval.decided_by)} decided{f': {one_line(approval.answer)}' if approval.answer else '.'}")


def _print_argument(name: str, value: object) -> None:
    """A text of several lines stands below its name, each line behind a bar, so that none can pass for ours."""
    if not isinstance(value, str) or "\n" not in value:
        echo(f"  {one_line(name)} = {one_line_json(value)}")
        return
    echo(f"  {one_line(name)}:")
    for line in value.splitlines():
        echo(f"    | {one_line(line)}")


def _warn_of_mixed_scripts(where: str, value: object) -> None:
    """The first word is enough to look closely."""
    if (mixed := next(mixed_words(value), None)) is not None:
        warning = f"“{one_line(mixed.text)}” mixes scripts: “{mixed.character}” in it is {mixed.script}"
        secho(f"  Careful, look-alike letters in {where}: {warning}.", fg="yellow")


def _age(span: timedelta) -> str:
    seconds = max(0, int(span.total_seconds()))
    return next((f"{seconds // size}{unit}" for unit, size in _UNITS if seconds >= size), f"{seconds}s")


def _minute(moment: datetime) -> str:
    return f"{moment:%Y-%m-%d %H:%M}"


def _first(row: ApprovalOut) -> str:
    return row.concerns[0].reason if row.concerns else row.why


def _object(text: str | None) -> dict[str, Any] | None:
    if text is None:
        return None
    try:
        parsed = json.loads(text)
    except ValueError:
        parsed = None
    if not isinstance(parsed, dict):
        raise BadRequest('Arguments are a JSON object, such as {"user_id": "u-7"}.')
    return cast("dict[str, Any]", parsed)
