"""`gaby runs`: investigations, under way and ended."""

from dataclasses import dataclass
from typing import Annotated

import typer

from gaby.agent.run_schemas import RunDetailOut, RunOut, RunState
from gaby.app import Gaby
from gaby.cli import completion
from gaby.cli.columns import print_lines
from gaby.cli.output import AsJson, echo, one_line, print_json, print_rows
from gaby.cli.runtime import run
from gaby.cli.ticket_ids import find_run, run_id, run_names
from gaby.cli.workspace_option import InWorkspace, operator_in

app = typer.Typer(help="Investigations, under way and ended.", no_args_is_help=True)

Which = Annotated[
    str,
    typer.Argument(
        help="A run by its reference, such as R-7, or its id; or its ticket, such as T-12.",
        autocompletion=completion.runs,
    ),
]


@dataclass(frozen=True)
class _RunRow:
    run: RunOut
    name: str
    title: str
    ticket: str | None
    """The reference of its ticket."""


@app.command("list")
def list_runs(
    state: Annotated[RunState | None, typer.Option(help="Only those in this state; open: not ended.")] = None,
    limit: Annotated[int, typer.Option(min=1, max=10_000, help="At most so many.")] = 50,
    workspace: InWorkspace = None,
    as_json: AsJson = False,
) -> None:
    """List investigations, the newest first."""

    async def load_runs(gaby: Gaby) -> list[_RunRow]:
        actor = await operator_in(gaby, workspace)
        async with gaby.database.read(actor.workspace_id) as session:
            rows = await gaby.run_queries.list(session, state, limit)
            names, titles = await run_names(session, rows), await gaby.run_queries.titles(session, rows)
            return [_RunRow(RunOut.from_domain(row), names[row.id], *titles[row.ticket_id]) for row in rows]

    runs = run(load_runs)
    if as_json:
        print_json([each.run.model_dump() | {"ticket": each.ticket, "title": each.title} for each in runs])
    elif not runs:
        echo("None yet. `gaby ticket add TITLE TEXT`.", err=True)
    else:
        print_lines(
            ("run", "ticket", "outcome", "began", "title"),
            [
                (
                    each.name,
                    each.ticket or "-",
                    each.run.verdict or each.run.state,
                    f"{each.run.created_at:%m-%d %H:%M}",
                    one_line(each.title),
                )
                for each in runs
            ],
        )


@app.command()
def show(which: Which, workspace: InWorkspace = None, as_json: AsJson = False) -> None:
    """Show a run with its timeline and its summary."""

    async def load_run(gaby: Gaby) -> RunDetailOut:
        actor = await operator_in(gaby, workspace)
        async with gaby.database.read(actor.workspace_id) as session:
            row = await find_run(gaby, session, which)
            return RunDetailOut.with_steps(row, await gaby.run_queries.steps(session, row.id))

    detail = run(load_run)
    if as_json:
        print_json(detail.model_dump())
        return
    from rich.markup import escape

    from gaby.cli.console import SafeConsole
    from gaby.cli.timeline import print_step

    console = SafeConsole()
    for step in detail.steps:
        print_step(console, step)
    console.print(f"\n[bold]{detail.verdict or detail.state}[/bold]  {escape(detail.reason or '')}", highlight=False)
    if detail.summary:
        console.print(f"\n{escape(detail.summary)}", highlight=False)


@app.command()
def halt(
    which: Which,
    reason: Annotated[str, typer.Argument(help="Why, for those who read it later.")],
    workspace: InWorkspace = None,
) -> None:
    """Stop a run at its next step."""

    async def halt_run(gaby: Gaby) -> None:
        actor = await operator_in(gaby, workspace)
        async with gaby.database.write(actor.workspace_id) as session:
            await gaby.agent.halt(session, actor, (await find_run(gaby, session, which)).id, reason)

    run(halt_run)
    echo("It stops at its next step.", err=True)


@app.command()
def resume(which: Which, workspace: InWorkspace = None) -> None:
    """Take up at once what would have waited for its time."""

    async def resume_run(gaby: Gaby) -> None:
        actor = await operator_in(gaby, workspace)
        async with gaby.database.write(actor.workspace_id) as session:
            await gaby.agent.resume(session, actor, (await find_run(gaby, session, which)).id)

    run(resume_run)
    echo("A worker takes it up.", err=True)


@app.command()
def replay(
    which: Which,
    pause: Annotated[bool, typer.Option(help="Wait for Enter after each step.")] = False,
    workspace: InWorkspace = None,
    as_json: AsJson = False,
) -> None:
    """Step through a run again: each state, and what it added to the memory."""

    async def replay_run(gaby: Gaby) -> list[dict[str, object]]:
        actor = await operator_in(gaby, workspace)
        async with gaby.database.read(actor.workspace_id) as session:
            row = await find_run(gaby, session, which)
            return [
                {
                    "n": edge.n,
                    "at": edge.at.isoformat(),
                    "state": edge.state.model_dump(mode="json"),
                    "added": edge.delta.model_dump(mode="json", exclude_unset=True, exclude={"placeholders"}),
                }
                async for edge in gaby.agent.replay(session, row)
            ]

    edges = run(replay_run)
    if as_json:
        print_json(edges)
        return
    from gaby.cli.console import SafeConsole

    console = SafeConsole()
    for edge in edges:
        state = edge["state"]
        console.rule(f"{edge['n']}  {state['name'] if isinstance(state, dict) else state}  {edge['at']}", align="left")
        console.print(edge["added"], highlight=False)
        if pause:
            typer.prompt("Enter for the next", default="", show_default=False, err=True)


@app.command()
def trace(
    which: Which,
    call: Annotated[
        int | None, typer.Option("--call", min=1, help="The number of a call: show its whole prompt and answer.")
    ] = None,
    workspace: InWorkspace = None,
    as_json: AsJson = False,
) -> None:
    """List the model calls of a run, or show what a model was asked and what it answered."""
    from gaby.cli.model_calls import call_row, print_trace
    from gaby.usage.trace_schemas import CallTraceOut, RunCallOut

    async def list_calls(gaby: Gaby) -> list[RunCallOut]:
        actor = await operator_in(gaby, workspace)
        async with gaby.database.read(actor.workspace_id) as session:
            calls = await gaby.usage.traces.of_run(session, await run_id(gaby, session, which))
            return [RunCallOut.of_run(each) for each in calls]

    async def read_call(gaby: Gaby) -> CallTraceOut:
        actor = await operator_in(gaby, workspace)
        async with gaby.database.read(actor.workspace_id) as session:
            model_call = await gaby.usage.traces.call_of_run(session, await run_id(gaby, session, which), call or 0)
            return CallTraceOut.from_domain(model_call, await gaby.usage.traces.content(session, model_call))

    if call is None:
        calls = run(list_calls)
        rows = [each.model_dump() if as_json else call_row(each) for each in calls]
        print_rows(rows, as_json=as_json, empty="No model was asked in this run, or there is no such run.")
        return
    content = run(read_call)
    if as_json:
        print_json(content.model_dump())
    else:
        print_trace(content)
