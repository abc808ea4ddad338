"""`gaby tools`: what Gaby can do, and what would happen if it did."""

import json
from dataclasses import asdict
from typing import Annotated, Any

import typer

from gaby.app import Gaby
from gaby.cli.output import AsJson, echo, one_line, print_json, print_rows, secho
from gaby.cli.runtime import run
from gaby.cli.workspace_option import InWorkspace, operator_in
from gaby.kernel.errors import BadRequest
from gaby.kernel.ids import RunId
from gaby.safety import Label, Origin, Verdict, leaves
from gaby.tools import Asked, Denied, Done, Failed, RetryLater, Run, Simulated, ToolCall, ToolOutcome
from gaby.tools.approval_ids import find_approval
from gaby.tools.schemas import ToolOut, VerdictOut

app = typer.Typer(help="What Gaby can do, and what would happen if it did.", no_args_is_help=True)

Arguments = Annotated[list[str] | None, typer.Option("--arg", "-a", help="NAME=VALUE; a value may be JSON.")]
Rehearse = Annotated[bool, typer.Option("--rehearse", help="Show what would happen, changing nothing.")]


@app.command("list")
def list_tools(workspace: InWorkspace = None, as_json: AsJson = False) -> None:
    """List every tool of a workspace."""

    async def load_tools(gaby: Gaby) -> list[ToolOut]:
        actor = await operator_in(gaby, workspace)
        snapshot = await gaby.tools.catalogue.snapshot(actor.workspace_id)
        return [ToolOut.from_domain(entry) for _, entry in sorted(snapshot.tools.items())]

    rows = [each.model_dump(by_alias=True) for each in run(load_tools)]
    shown = ("name", "lane", "dangerous", "description")
    print_rows(
        rows if as_json else [{key: row[key] for key in shown} for row in rows],
        as_json=as_json,
        empty="No tools yet. `gaby connector add` brings some.",
    )


@app.command()
def explain(
    tool: str,
    arg: Arguments = None,
    from_outside: Annotated[
        bool, typer.Option("--from-outside", help="As if the values came from a ticket, not from you.")
    ] = False,
    rehearse: Rehearse = False,
    workspace: InWorkspace = None,
    as_json: AsJson = False,
) -> None:
    """Say whether a call would be allowed, asked about, simulated or denied, and by which rule. Nothing is called."""
    arguments = _arguments(arg)

    async def explain_call(gaby: Gaby) -> Verdict:
        actor = await operator_in(gaby, workspace)
        inside = gaby.tools.run(actor)
        if not from_outside:
            _hear(inside, arguments)
        return await gaby.tools.invoker.explain(ToolCall(tool, arguments, gaby.ids.new(), rehearse=rehearse), inside)

    verdict = run(explain_call)
    if as_json:
        print_json(VerdictOut.from_domain(verdict).model_dump())
    else:
        _print_verdict(verdict)


@app.command()
def call(
    tool: Annotated[str | None, typer.Argument(help="With its connector: directory.find_user")] = None,
    arg: Arguments = None,
    approval: Annotated[str | None, typer.Option(help="Carry out what was approved, instead of a new call.")] = None,
    why: Annotated[str, typer.Option(help="Your reason, for the log.")] = "",
    rehearse: Rehearse = False,
    workspace: InWorkspace = None,
    as_json: AsJson = False,
) -> None:
    """Use a tool yourself, on the same path as everybody: decided, recorded, carried out, recorded."""
    if (tool is None) == (approval is None):
        raise BadRequest("Give a tool, or --approval with the id of an approval.")
    arguments = _arguments(arg)

    async def call_tool(gaby: Gaby) -> ToolOutcome:
        actor = await operator_in(gaby, workspace)
        run_id = approval_id = None
        if approval is not None:
            async with gaby.database.read(actor.workspace_id) as session:
                approval_id = await find_approval(session, approval)
                run_id = RunId((await gaby.tools.approvals.get(session, approval_id)).run_id)
        inside = gaby.tools.run(actor, run_id=run_id)
        _hear(inside, arguments)
        wanted = ToolCall(tool or "", arguments, gaby.ids.new(), why=why, rehearse=rehearse, approval_id=approval_id)
        return await gaby.tools.invoker.invoke(wanted, inside)

    _print_outcome(run(call_tool), as_json=as_json)


def _hear(inside: Run, arguments: dict[str, Any]) -> None:
    """What the operator typed are the operator's words."""
    typed = Origin(Label.OPERATOR, "the command line")
    for name, value in arguments.items():
        inside.ledger.learn_all((leaf.value for leaf in leaves(name, value)), typed)


def _arguments(given: list[str] | None) -> dict[str, Any]:
    arguments: dict[str, Any] = {}
    for each in given or []:
        name, separator, value = each.partition("=")
        if not separator:
            raise BadRequest("An argument is written NAME=VALUE.")
        arguments[name] = _value(value)
    return arguments


def _value(text: str) -> Any:
    """JSON if it is a list, an object, a number, true, false or null; else the text itself."""
    try:
        return json.loads(text)
    except ValueError:
        return text


def _print_outcome(outcome: ToolOutcome, *, as_json: bool) -> None:
    kind = type(outcome).__name__.lower()
    if as_json:
        print_json({"outcome": kind, **_plain(outcome)})
    else:
        match outcome:
            case Done(structured=structured, text=text) | Simulated(structured=structured, shown=text):
                if isinstance(outcome, Simulated):
                    echo("Rehearsed; nothing was changed.", err=True)
                print_json(structured if structured is not None else text)
            case Asked(verdict=verdict, approval_id=approval_id):
                _print_verdict(verdict)
                echo(f"It waits: `gaby approvals decide {approval_id} approve`", err=True)
            case Denied(verdict=verdict):
                _print_verdict(verdict)
            case RetryLater(message=message):
                secho(one_line(message), fg="yellow", err=True)
            case Failed(kind=failure, message=message):
                secho(f"{failure}: {one_line(message)}", fg="red", err=True)
            case _:
                secho(f"Unknown: {outcome.reason}", fg="red", err=True)
    if not isinstance(outcome, Done | Simulated | Asked):
        raise typer.Exit(3 if isinstance(outcome, Denied) else 6 if isinstance(outcome, RetryLater) else 1)


def _plain(outcome: ToolOutcome) -> dict[str, Any]:
    fields = asdict(outcome)
    # The redacted copy is for models; whoever sits here may see the result itself.
    fields.pop("shown", None)
    return fields


def _print_verdict(verdict: Verdict) -> None:
    colour = {"allow": "green", "ask": "yellow", "simulate": "blue", "wait": "yellow", "deny": "red"}[verdict.outcome]
    secho(f"{verdict.outcome} ({verdict.rule})", fg=colour, bold=True)
    for concern in verdict.concerns:
        where = f"{concern.argument}: " if concern.argument else ""
        echo(f"  - {one_line(where)}{one_line(concern.reason)}")
        for quote in concern.quotes:
            echo(f"      {one_line(quote.source)}: “{one_line(quote.excerpt)}”")
    if not verdict.concerns:
        echo(f"  {one_line(verdict.reason)}")
