"""`gaby kill-switch`: stop tools, at once."""

from typing import Annotated

import typer

from gaby.app import Gaby
from gaby.cli.output import AsJson, echo, print_rows
from gaby.cli.runtime import operator, run
from gaby.cli.workspace_option import InWorkspace, operator_in
from gaby.kernel.actors import Actor
from gaby.kernel.database import ReadSession
from gaby.kernel.ids import SYSTEM, ConnectorId
from gaby.tools.models import KillSwitch

app = typer.Typer(help="Stop tools, at once, until somebody lifts the switch.", no_args_is_help=True)

Everything = Annotated[bool, typer.Option("--everything", help="In every workspace.")]
OfConnector = Annotated[str | None, typer.Option("--connector", help="Only this connector.")]


@app.command()
def pull(
    reason: str, connector: OfConnector = None, everything: Everything = False, workspace: InWorkspace = None
) -> None:
    """Stop everything, a workspace or one connector. It takes effect at the next step and survives restarts."""

    async def pull_switch(gaby: Gaby) -> None:
        actor = await _actor(gaby, workspace, everything=everything)
        async with gaby.database.write(actor.workspace_id) as session:
            target = await _connector(gaby, session, connector)
            await gaby.tools.kill_switches.pull(session, actor, reason, target)

    run(pull_switch)
    echo("Stopped.", err=True)


@app.command()
def lift(connector: OfConnector = None, everything: Everything = False, workspace: InWorkspace = None) -> None:
    """Let tools run again."""

    async def lift_switch(gaby: Gaby) -> None:
        actor = await _actor(gaby, workspace, everything=everything)
        async with gaby.database.write(actor.workspace_id) as session:
            await gaby.tools.kill_switches.lift(session, actor, await _connector(gaby, session, connector))

    run(lift_switch)
    echo("Tools may run again.", err=True)


@app.command("list")
def list_switches(workspace: InWorkspace = None, as_json: AsJson = False) -> None:
    """List what is stopped."""

    async def load_switches(gaby: Gaby) -> list[tuple[str, KillSwitch]]:
        actor = await operator_in(gaby, workspace)
        async with gaby.database.read(SYSTEM) as session:
            switches = [("everything", row) for row in await gaby.tools.kill_switches.list(session)]
        async with gaby.database.read(actor.workspace_id) as session:
            names = {row.id: row.name for row in await gaby.tools.connectors.list(session)}
            for row in await gaby.tools.kill_switches.list(session):
                what = "workspace" if row.connector_id is None else names.get(row.connector_id, "?")
                switches.append((what, row))
        return switches

    rows = [
        {"what": what, "reason": row.reason, "pulled_by": row.pulled_by, "pulled_at": row.pulled_at}
        for what, row in run(load_switches)
    ]
    print_rows(rows, as_json=as_json, empty="Nothing is stopped.")


async def _actor(gaby: Gaby, workspace: str | None, *, everything: bool) -> Actor:
    return operator(SYSTEM) if everything else await operator_in(gaby, workspace)


async def _connector(gaby: Gaby, session: ReadSession, name: str | None) -> ConnectorId | None:
    return ConnectorId((await gaby.tools.connectors.get(session, name)).id) if name is not None else None
