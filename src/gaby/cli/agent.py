"""`gaby agent`: how Gaby investigates, and whom it turns to."""

import sys
from typing import Annotated, Any

import typer
from pydantic import ValidationError

from gaby.agent.schemas import PersonaIn, PersonaOut
from gaby.app import Gaby
from gaby.cli.output import AsJson, echo, print_json, print_rows
from gaby.cli.runtime import run
from gaby.cli.workspace_option import InWorkspace, operator_in
from gaby.kernel.errors import BadRequest
from gaby.tickets.escalation import SmtpServer, parse_target

app = typer.Typer(help="How Gaby investigates, and whom it turns to.", no_args_is_help=True)


@app.command()
def show(workspace: InWorkspace = None, as_json: AsJson = False) -> None:
    """Show the limits of an investigation, and where escalations go."""

    async def load_persona(gaby: Gaby) -> PersonaOut:
        actor = await operator_in(gaby, workspace)
        async with gaby.database.read(actor.workspace_id) as session:
            return PersonaOut.from_domain(
                await gaby.agent.personas.load(session), await gaby.agent.escalations.target(session)
            )

    persona = run(load_persona)
    if as_json:
        print_json(persona.model_dump())
        return
    fields = {
        **persona.model_dump(exclude={"bounds"}),
        **{f"bounds.{k}": v for k, v in persona.bounds.model_dump().items()},
    }
    print_rows([{"what": name, "value": value} for name, value in fields.items()], as_json=False, empty="")


@app.command("set")
def change(
    iterations: Annotated[int | None, typer.Option(min=1, max=100, help="Rounds of planning.")] = None,
    seconds: Annotated[int | None, typer.Option(min=10, max=86_400, help="Seconds of work.")] = None,
    wait_seconds: Annotated[
        int | None, typer.Option(min=0, max=86_400, help="Seconds of waiting for limits that pass.")
    ] = None,
    outage_seconds: Annotated[
        int | None, typer.Option(min=0, max=86_400, help="Of these, for connectors that cannot be used.")
    ] = None,
    triage: Annotated[bool | None, typer.Option(help="Put aside what needs no investigation.")] = None,
    passages: Annotated[int | None, typer.Option(min=0, max=40, help="Passages the planner is shown.")] = None,
    workspace: InWorkspace = None,
) -> None:
    """Change how Gaby investigates in this workspace."""
    waits = {"wait_seconds": wait_seconds, "outage_seconds": outage_seconds}
    given = {"iterations": iterations, "seconds": seconds, "triage": triage, **waits}
    changes: dict[str, Any] = {name: value for name, value in given.items() if value is not None}
    if passages is not None:
        changes["bounds"] = {"passages": passages}
    if not changes:
        raise BadRequest("Say what to change; `gaby agent set --help` lists it.")
    persona_changes = PersonaIn.model_validate(changes).changes()

    async def change_persona(gaby: Gaby) -> None:
        actor = await operator_in(gaby, workspace)
        async with gaby.database.write(actor.workspace_id) as session:
            await gaby.agent.personas.change(session, actor, persona_changes)

    run(change_persona)
    echo("Changed, for investigations that are taken up from now on.", err=True)


@app.command()
def escalate(
    target: Annotated[str, typer.Argument(help="slack:https://..., webhook:https://..., email:ADDRESS, or nobody.")],
    secret_stdin: Annotated[
        bool,
        typer.Option("--secret-stdin", help="Read the webhook's secret, or the mail password, from standard input."),
    ] = False,
    smtp: Annotated[str | None, typer.Option(help="For e-mail: HOST:PORT of the server that sends it.")] = None,
    smtp_user: Annotated[str, typer.Option(help="For e-mail: who signs in there.")] = "",
    sender: Annotated[str, typer.Option(help="For e-mail: the address that it comes from.")] = "",
    workspace: InWorkspace = None,
) -> None:
    """Say where to tell that a person has to look."""
    secret = sys.stdin.readline().rstrip("\n") if secret_stdin else ""
    server = None if smtp is None else _server(smtp, smtp_user, secret, sender)
    parsed = None if target == "nobody" else parse_target(target, secret=secret, smtp=server)

    async def set_escalation_target(gaby: Gaby) -> None:
        actor = await operator_in(gaby, workspace)
        async with gaby.database.write(actor.workspace_id) as session:
            await gaby.agent.escalations.set_target(session, actor, parsed)

    run(set_escalation_target)
    echo("Escalations go to nobody." if parsed is None else f"Escalations go to {parsed.kind}.", err=True)


def _server(address: str, user: str, password: str, sender: str) -> SmtpServer:
    host, _, port = address.partition(":")
    try:
        return SmtpServer.model_validate(
            {"host": host, "port": port or 587, "username": user, "password": password, "sender": sender}
        )
    except ValidationError as error:
        wrong = "; ".join(f"{each['loc'][0]}: {each['msg']}" for each in error.errors() if each["loc"])
        raise BadRequest(f"The mail server cannot be used: {wrong}") from None
