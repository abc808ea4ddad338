"""`gaby investigate`: look into one ticket, here and now."""

import asyncio
import json
import sys
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import Annotated

import typer

from gaby.agent.queue import ClaimedRun
from gaby.agent.run_schemas import RunDetailOut, StepOut
from gaby.app import Gaby
from gaby.cli.console import SafeConsole
from gaby.cli.output import AsJson, echo, print_json
from gaby.cli.runtime import run
from gaby.cli.ticket_ids import find_ticket
from gaby.cli.timeline import print_step
from gaby.cli.workspace_option import InWorkspace, operator_in
from gaby.kernel.actors import Actor
from gaby.kernel.errors import BadRequest, Conflict, GabyError
from gaby.kernel.ids import RunId
from gaby.tickets.schemas import TicketIn
from gaby.worker.runner import keep_lease


def investigate(
    what: Annotated[str, typer.Argument(help="A JSON file with title and body, or a ticket, such as T-12.")],
    workspace: InWorkspace = None,
    instruct: Annotated[
        bool,
        typer.Option(
            "--instruct",
            help="The text is your own instruction: what it names, you have chosen, and nobody is asked about that.",
        ),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Look into one ticket, here and now, with a live view of its steps."""
    console = SafeConsole(stderr=as_json)
    given = _read(what)

    async def run_investigation(gaby: Gaby) -> RunDetailOut:
        actor = await operator_in(gaby, workspace)
        run_id = await _queued(gaby, actor, given, instruct=instruct)
        await _carry_on(gaby, actor, run_id, console)
        async with gaby.database.read(actor.workspace_id) as session:
            row = await gaby.agent.get(session, run_id)
            return RunDetailOut.with_steps(row, await gaby.agent.steps(session, run_id))

    ended = run(run_investigation)
    if as_json:
        print_json(ended.model_dump())
        return
    console.print(f"\n[bold]{ended.verdict or ended.state}[/bold]  {ended.reason or ''}", highlight=False)
    if ended.summary:
        console.print(f"\n{ended.summary}", highlight=False, markup=False)
    if ended.state == "waiting_approval":
        echo("Somebody has to agree first: `gaby approvals list`.", err=True)
    echo(f"\n`gaby runs show {ended.reference or ended.id}` shows it again.", err=True)


async def _queued(gaby: Gaby, actor: Actor, given: TicketIn | str, *, instruct: bool) -> RunId:
    if instruct and not isinstance(given, TicketIn):
        raise BadRequest("An instruction is your own text: give a file with it. A ticket is what somebody else wrote.")
    async with gaby.database.write(actor.workspace_id) as session:
        if isinstance(given, TicketIn):
            add = gaby.tickets.add_instruction if instruct else gaby.tickets.add
            received = await add(session, actor, given.incoming(f"inbox-{gaby.ids.new().hex}"))
            ticket_id = received.ticket_id
        else:
            row = await find_ticket(gaby, session, given)
            ticket_id = row.typed_id
            latest = await gaby.agent.latest_of(session, ticket_id)
            if latest is None or latest.wake_at is None:
                await gaby.agent.start(session, actor, row)
    async with gaby.database.read(actor.workspace_id) as session:
        run = await gaby.agent.latest_of(session, ticket_id)
    if run is None:
        raise Conflict("This ticket was put aside as automatic or closed, so there is nothing to look into.")
    return run.typed_id


def _read(what: str) -> TicketIn | str:
    """A ticket in a file or on standard input, or the name of one."""
    path = Path(what)
    if what != "-" and not path.suffix and not path.is_file():
        return what
    try:
        text = sys.stdin.read() if what == "-" else path.read_text(encoding="utf-8")
        return TicketIn.model_validate(json.loads(text))
    except (OSError, ValueError) as error:
        raise BadRequest(f'{what} is not a ticket: JSON with "title" and "body" is. ({error})') from None


async def _carry_on(gaby: Gaby, actor: Actor, run_id: RunId, console: SafeConsole) -> None:
    """To its end, or until a person has to answer. It is waited for limits that pass."""
    while True:
        await _until_it_rests(gaby, actor, run_id, console)
        async with gaby.database.read(actor.workspace_id) as session:
            row = await gaby.agent.get(session, run_id)
        if row.wake_at is None or row.state != "acting":
            return
        await asyncio.sleep(max(0.0, (row.wake_at - gaby.clock.now()).total_seconds()))


async def _until_it_rests(gaby: Gaby, actor: Actor, run_id: RunId, console: SafeConsole) -> None:
    claimed = await _claimed(gaby, actor, run_id)
    # Beside a model that takes its time, as a worker does; one that dies is found out by those who look.
    working = asyncio.create_task(_moves(gaby, actor, claimed, console))
    keeping = asyncio.create_task(keep_lease(gaby.agent.queue, claimed, working))
    try:
        await asyncio.wait({working})
    finally:
        working.cancel()
        keeping.cancel()
        await asyncio.gather(working, keeping, return_exceptions=True)
        with suppress(GabyError):
            await gaby.agent.queue.give_back(claimed.lease)
    if working.cancelled():
        raise Conflict("Another worker has taken it over. `gaby watch` shows what it does.")
    working.result()


async def _claimed(gaby: Gaby, actor: Actor, run_id: RunId) -> ClaimedRun:
    """What somebody holds is watched for the time of a lease: if it dies away, its holder is dead."""
    queue, seconds = gaby.agent.queue, gaby.agent.queue.lease.total_seconds()
    seen: set[tuple[int, datetime | None]] = set()
    until = gaby.clock.monotonic() + seconds + 2
    while (claimed := await queue.claim_one("command line", actor.workspace_id, run_id)) is None:
        async with gaby.database.read(actor.workspace_id) as session:
            row = await gaby.agent.get(session, run_id)
        if not seen:
            echo(f"Somebody has it in hand. Looking for {seconds:.0f} s whether they are alive ...", err=True)
        seen.add((row.lease_token, row.lease_until))
        if row.wake_at is None or len(seen) > 1 or gaby.clock.monotonic() > until:
            raise Conflict("A worker has it in hand already. `gaby watch` shows what it does.")
        await queue.release_dead()
        await asyncio.sleep(min(1.0, seconds / 4))
    return claimed


async def _moves(gaby: Gaby, actor: Actor, claimed: ClaimedRun, console: SafeConsole) -> None:
    loop, run_id = gaby.agent.loop, claimed.lease.run_id
    context = await loop.resume(claimed)
    context.on_token = lambda text: console.print(
        "\n(anew)" if text is None else text, end="", markup=False, style="dim"
    )
    while True:
        before = context.edges
        goes_on = await loop.step(context)
        async with gaby.database.read(actor.workspace_id) as session:
            for step in await gaby.agent.steps(session, run_id, before):
                print_step(console, StepOut.from_domain(step))
        if not goes_on:
            return
