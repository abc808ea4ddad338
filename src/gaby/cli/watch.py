"""`gaby watch`: follow all investigations."""

import asyncio
from datetime import datetime
from typing import Annotated

import typer
from sqlalchemy import select

from gaby.agent.models import Investigation, InvestigationStep
from gaby.agent.run_schemas import StepOut
from gaby.app import Gaby
from gaby.cli.console import SafeConsole
from gaby.cli.output import echo, print_json
from gaby.cli.runtime import run
from gaby.cli.timeline import print_step
from gaby.cli.workspace_option import InWorkspace, operator_in
from gaby.kernel.ids import WorkspaceId
from gaby.tickets.models import Ticket

_LOOK_EVERY = 0.5
_TITLE = 28


def watch(
    since_start: Annotated[bool, typer.Option("--all", help="From the first line on, not only what is new.")] = False,
    once: Annotated[bool, typer.Option(help="Print what is there, then stop.")] = False,
    workspace: InWorkspace = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print a JSON object for each line.")] = False,
) -> None:
    """Follow all investigations. Ctrl-C ends it."""
    console = SafeConsole()

    async def follow_runs(gaby: Gaby) -> None:
        actor = await operator_in(gaby, workspace)
        seen: set[tuple[str, int, int]] = set()
        moment = None if since_start or once else gaby.clock.now()
        echo("Following all investigations; Ctrl-C ends it.", err=True)
        while True:
            for step, title in await _new(gaby, actor.workspace_id, moment):
                key = (str(step.run_id), step.n, step.place)
                if key not in seen:
                    seen.add(key)
                    _print(console, step, title, as_json=as_json)
                    moment = step.at
            if once:
                return
            await asyncio.sleep(_LOOK_EVERY)

    try:
        run(follow_runs)
    except KeyboardInterrupt:
        raise typer.Exit from None


async def _new(gaby: Gaby, workspace_id: WorkspaceId, since: datetime | None) -> list[tuple[InvestigationStep, str]]:
    """Lines of the same moment may come in any order, so those of the last moment are read again."""
    step = InvestigationStep
    query = (
        select(step, Ticket.title)
        .join(Investigation, (Investigation.workspace_id == step.workspace_id) & (Investigation.id == step.run_id))
        .join(Ticket, (Ticket.workspace_id == step.workspace_id) & (Ticket.id == Investigation.ticket_id))
        .where(
            step.workspace_id == workspace_id,
            Investigation.workspace_id == workspace_id,
            Ticket.workspace_id == workspace_id,
        )
        .order_by(step.at, step.run_id, step.n, step.place)
    )
    if since is not None:
        query = query.where(step.at >= since)
    async with gaby.database.read(workspace_id) as session:
        return [(row[0], row[1]) for row in (await session.execute(query.limit(2000))).all()]


def _print(console: SafeConsole, step: InvestigationStep, title: str, *, as_json: bool) -> None:
    shown = StepOut.from_domain(step)
    if as_json:
        print_json({"run_id": step.run_id, "ticket": title, **shown.model_dump()})
        return
    label = title if len(title) <= _TITLE else f"{title[: _TITLE - 1]}…"
    print_step(console, shown, label=f"{label:<{_TITLE}}  ")
