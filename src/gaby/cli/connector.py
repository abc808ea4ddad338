"""`gaby connector`: the systems that Gaby can look into and act on."""

import subprocess
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from gaby.app import Gaby
from gaby.cli import confirmation
from gaby.cli.confirmation import confirm
from gaby.cli.connector_draft import draft, offer_draft
from gaby.cli.connector_health import connector_health
from gaby.cli.connector_setup import ConnectorName, ConnectorOptions, new_connector
from gaby.cli.connector_sign_in import FromStdin, Settings, sign_in
from gaby.cli.output import AsJson, echo, one_line, print_json, print_rows, secho
from gaby.cli.progress import busy
from gaby.cli.runtime import run
from gaby.cli.workspace_option import InWorkspace, operator_in
from gaby.kernel.actors import Actor
from gaby.kernel.errors import BadRequest, GabyError
from gaby.mcp import ServerDefinitions
from gaby.safety import AccessRules, Scopes
from gaby.tools.connectors import PolicyChange, changes_of
from gaby.tools.manifest_check import check_manifest
from gaby.tools.models import ConnectorRecord
from gaby.tools.schemas import ChangeOut, ConnectorOut, ToolOut
from gaby.tools.tool_rules import ToolRules, rules_of
from gaby_connectors.catalogue import BUNDLED
from gaby_connectors.scaffold import create
from gaby_connectors.sdk.manifest import Autonomy

app = typer.Typer(help="The systems that Gaby can look into and act on.", no_args_is_help=True)

Yes = Annotated[bool, typer.Option("--yes", "-y", help="Accept the tools without asking.")]


@app.command()
def kinds(as_json: AsJson = False) -> None:
    """List the connectors that come with Gaby."""
    rows = [{"kind": name, "title": each.title, "description": each.description} for name, each in BUNDLED.items()]
    print_rows(rows, as_json=as_json, empty="There are none.")


@app.command()
def add(
    name: str,
    what: Annotated[
        list[str] | None, typer.Argument(help="A kind, see `gaby connector kinds`; or, after `--`, a command.")
    ] = None,
    settings: Settings = None,
    stdin: FromStdin = False,
    url: Annotated[str | None, typer.Option(help="A server over Streamable HTTP; settings become headers.")] = None,
    manifest: Annotated[Path | None, typer.Option(help="A YAML file that says what its tools do.")] = None,
    yes: Yes = False,
    workspace: InWorkspace = None,
) -> None:
    """Set up a connector, show its tools, and accept them.

    A server of your own: `gaby connector add NAME -- COMMAND ARGUMENTS`.
    """
    given = ConnectorOptions(name, tuple(what or ()), tuple(settings or ()), url, stdin=stdin, manifest=manifest)
    new = new_connector(given)

    async def add_connector(gaby: Gaby) -> None:
        actor = await operator_in(gaby, workspace)
        async with gaby.database.write(actor.workspace_id) as session:
            await gaby.tools.connectors.add(session, actor, new)
        await _inspect_and_accept(gaby, actor, name, yes=yes)
        await offer_draft(gaby, actor, name, ask=not yes)
        await _tell_health(gaby, actor, name)

    run(add_connector)


@app.command("list")
def list_connectors(workspace: InWorkspace = None, as_json: AsJson = False) -> None:
    """List the connectors of a workspace."""

    async def load_connectors(gaby: Gaby) -> list[ConnectorOut]:
        actor = await operator_in(gaby, workspace)
        async with gaby.database.read(actor.workspace_id) as session:
            return [ConnectorOut.from_domain(row) for row in await gaby.tools.connectors.list(session)]

    rows = [each.model_dump(mode="json") for each in run(load_connectors)]
    shown = ("name", "kind", "state", "autonomy", "tools", "unsafe", "auth_expired_at")
    print_rows(
        rows if as_json else [{key: row[key] for key in shown} for row in rows],
        as_json=as_json,
        empty="No connector yet. `gaby connector kinds` lists what there is, `gaby connector add NAME KIND` adds one.",
    )


@app.command("test")
def try_out(name: ConnectorName, workspace: InWorkspace = None, as_json: AsJson = False) -> None:
    """Start a connector, look at its tools and ask it whether it is well."""

    async def start_connector(gaby: Gaby) -> tuple[ServerDefinitions, str]:
        actor = await operator_in(gaby, workspace)
        shown = await gaby.tools.inspect(actor, name)
        health = await connector_health(gaby, actor, name)
        return shown, health.told if health is not None else "it starts; it has no accepted healthcheck"

    with busy(f"Starting {name}"):
        shown, health = run(start_connector)
    summary = {
        "server": shown.server_name,
        "version": shown.server_version,
        "tools": len(shown.tools),
        "health": health,
    }
    print_rows([summary], as_json=as_json, empty="")


@app.command()
def diff(name: ConnectorName, workspace: InWorkspace = None, as_json: AsJson = False) -> None:
    """Show how a connector's tools differ from those that were accepted."""

    async def load_connector(gaby: Gaby) -> ConnectorRecord:
        actor = await operator_in(gaby, workspace)
        await gaby.tools.inspect(actor, name)
        async with gaby.database.read(actor.workspace_id) as session:
            return await gaby.tools.connectors.get(session, name)

    changes = changes_of(run(load_connector))
    if as_json:
        print_json([ChangeOut.from_domain(change).model_dump() for change in changes])
    elif not changes:
        echo("Its tools are as they were accepted.", err=True)
    for change in changes if not as_json else ():
        echo(str(change))


@app.command()
def accept(name: ConnectorName, yes: Yes = False, workspace: InWorkspace = None) -> None:
    """Look at a connector's tools once more and accept them as they are now."""

    async def accept_definitions(gaby: Gaby) -> None:
        actor = await operator_in(gaby, workspace)
        await _inspect_and_accept(gaby, actor, name, yes=yes)
        await offer_draft(gaby, actor, name, ask=not yes)

    run(accept_definitions)


@app.command("set")
def limit(
    name: ConnectorName,
    autonomy: Annotated[Autonomy | None, typer.Option(help="How much it may do by itself.")] = None,
    allow_read: Annotated[list[str] | None, typer.Option(help="Paths it may read; replaces the list.")] = None,
    deny_read: Annotated[list[str] | None, typer.Option(help="Paths it may not read; replaces the list.")] = None,
    allow_write: Annotated[list[str] | None, typer.Option(help="Paths it may change; replaces the list.")] = None,
    deny_write: Annotated[list[str] | None, typer.Option(help="Paths it may not change; replaces the list.")] = None,
    reads_per_minute: Annotated[
        int | None, typer.Option(min=0, max=100_000, help="How often it may be read from in a minute.")
    ] = None,
    writes_per_minute: Annotated[
        int | None, typer.Option(min=0, max=100_000, help="How many changes it may make in a minute.")
    ] = None,
    workspace: InWorkspace = None,
) -> None:
    """Say what a connector may do: its autonomy, which paths it may read and change, and how often."""

    async def limit_connector(gaby: Gaby) -> ConnectorRecord:
        actor = await operator_in(gaby, workspace)
        async with gaby.database.write(actor.workspace_id) as session:
            row = await gaby.tools.connectors.get(session, name)
            now = Scopes.model_validate(row.scopes)
            scopes = Scopes(
                read=_changed_rules(now.read, allow_read, deny_read),
                write=_changed_rules(now.write, allow_write, deny_write),
            )
            change = PolicyChange(autonomy, scopes, reads_per_minute, writes_per_minute)
            return await gaby.tools.connectors.limit(session, actor, name, change)

    row = run(limit_connector)
    echo(f"{name} is set to {row.autonomy}.", err=True)


@app.command()
def manifest(
    name: ConnectorName,
    file: Annotated[Path | None, typer.Argument(help="A YAML file; without it the manifest is taken back.")] = None,
    workspace: InWorkspace = None,
) -> None:
    """Say what the tools of somebody else's server do. Every error is printed with its line."""
    text = _read(file) if file is not None else None

    async def store_manifest(gaby: Gaby) -> tuple[str, ...]:
        actor = await operator_in(gaby, workspace)
        async with gaby.database.write(actor.workspace_id) as session:
            row = await gaby.tools.connectors.get(session, name)
            known = ServerDefinitions.model_validate(row.accepted) if row.accepted is not None else None
            checked = check_manifest(text, known) if text is not None else None
            manifest = checked.manifest if checked is not None else None
            await gaby.tools.connectors.describe(session, actor, name, manifest)
        if checked is not None and known is None:
            return ("Its tools have not been accepted yet, so the manifest was not compared with them.",)
        return checked.unchecked if checked is not None else ()

    for note in run(store_manifest):
        secho(note, fg="yellow", err=True)
    echo(f"The manifest of {name} is {'stored' if text is not None else 'removed'}.", err=True)


@app.command()
def show(name: ConnectorName, workspace: InWorkspace = None, as_json: AsJson = False) -> None:
    """Show for each tool of a connector what it may do unasked, and who may be told what it returns."""

    async def load_connector(gaby: Gaby) -> tuple[ConnectorOut, list[ToolRules]]:
        actor = await operator_in(gaby, workspace)
        async with gaby.database.read(actor.workspace_id) as session:
            row = ConnectorOut.from_domain(await gaby.tools.connectors.get(session, name))
        snapshot = await gaby.tools.catalogue.snapshot(actor.workspace_id)
        return row, [rules_of(entry) for entry in snapshot.tools.values() if entry.facts.connector == name]

    row, rules = run(load_connector)
    tools = [asdict(each) for each in rules]
    if as_json:
        print_json({**row.model_dump(mode="json"), "rules": tools})
        return
    echo(f"{row.name} ({row.kind}) is {row.state} and set to {row.autonomy}.", err=True)
    print_rows(tools, as_json=False, empty=f"No tool is accepted yet: `gaby connector accept {name}`.")


app.command()(draft)
app.command("sign-in")(sign_in)


@app.command()
def logs(name: ConnectorName, workspace: InWorkspace = None) -> None:
    """Show the end of what a connector wrote to its standard error."""

    async def read_logs(gaby: Gaby) -> str:
        actor = await operator_in(gaby, workspace)
        async with gaby.database.read(actor.workspace_id) as session:
            return gaby.tools.kept_log(await gaby.tools.connectors.get(session, name))

    text = run(read_logs)
    echo(text or "Nothing yet: it has not run, or wrote nothing.", err=not text)


@app.command()
def remove(name: ConnectorName, yes: confirmation.Yes = False, workspace: InWorkspace = None) -> None:
    """Remove a connector and forget its secrets."""
    confirm(f"Remove {name} and forget its secrets?", yes=yes)

    async def remove_connector(gaby: Gaby) -> None:
        actor = await operator_in(gaby, workspace)
        async with gaby.database.write(actor.workspace_id) as session:
            await gaby.tools.connectors.remove(session, actor, name)

    run(remove_connector)
    echo(f"{name} is removed.", err=True)


@app.command()
def check(
    command: Annotated[list[str], typer.Argument(help="After `--`: the command that starts the server, or its URL.")],
    samples: Annotated[Path | None, typer.Option(help="A JSON file with arguments that work.")] = None,
    writes: Annotated[bool, typer.Option("--writes", help="Really call the writes that have samples.")] = False,
    secret: Annotated[
        list[str] | None, typer.Option(help="A variable that holds a secret, which must not leak.")
    ] = None,
    start_within: Annotated[float, typer.Option(help="Seconds that it may take to start.")] = 2.0,
    as_json: AsJson = False,
) -> None:
    """Put any MCP server through the contract checks: `gaby connector check -- COMMAND ARGUMENTS`."""
    options = ["--start-within", str(start_within), *(["--json"] if as_json else []), *(["--writes"] if writes else [])]
    options += ["--samples", str(samples)] if samples is not None else []
    options += [part for name in secret or [] for part in ("--secret", name)]
    # In a process of its own, so that other commands need not load all of MCP.
    program = [sys.executable, "-m", "gaby_connectors.contract", *options, "--", *command]
    raise typer.Exit(subprocess.run(program, check=False).returncode)


@app.command()
def new(name: str, folder: Annotated[Path, typer.Option(help="Where to put it.")] = Path()) -> None:
    """Write a new connector that passes `gaby connector check`, to start from."""
    try:
        files = create(name, folder)
    except (ValueError, FileExistsError) as error:
        raise BadRequest(str(error)) from None
    echo(str(files))
    echo(f"Read {files / 'README.md'} for the next steps.", err=True)


async def _tell_health(gaby: Gaby, actor: Actor, name: str) -> None:
    """A connector starts whether or not the system behind it can be reached, so that is asked for right away."""
    health = await connector_health(gaby, actor, name)
    if health is None:
        return
    if health.well:
        echo(f"{name} reaches its system.", err=True)
    else:
        secho(
            f"{name} is added, but does not reach its system: {one_line(health.told)}\n"
            f"Correct its settings with `gaby connector sign-in {name}`, then `gaby connector test {name}`.",
            fg="yellow",
            err=True,
        )


async def _inspect_and_accept(gaby: Gaby, actor: Actor, name: str, *, yes: bool) -> None:
    shown = await gaby.tools.inspect(actor, name)
    async with gaby.database.read(actor.workspace_id) as session:
        row = await gaby.tools.connectors.get(session, name)
    if row.seen is None:
        echo(f"The tools of {name} are as they were accepted.", err=True)
        return
    for change in changes_of(row):
        echo(str(change), err=True)
    if not yes:
        if not sys.stdin.isatty():
            raise GabyError(f"Look at the tools above, then run `gaby connector accept {name} --yes`.")
        typer.confirm(f"Accept these tools of {name}?", abort=True, err=True)
    async with gaby.database.write(actor.workspace_id) as session:
        await gaby.tools.connectors.accept(session, actor, name, shown.fingerprint)
    snapshot = await gaby.tools.catalogue.snapshot(actor.workspace_id)
    own = [ToolOut.from_domain(entry) for entry in snapshot.tools.values() if entry.facts.connector == name]
    writes = sum(tool.lane == "write" for tool in own)
    echo(f"{name} is accepted: {len(own) - writes} tools read, {writes} change something.", err=True)


def _changed_rules(now: AccessRules, allow: list[str] | None, deny: list[str] | None) -> AccessRules:
    return AccessRules(
        allow=tuple(allow) if allow is not None else now.allow, deny=tuple(deny) if deny is not None else now.deny
    )


def _read(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise BadRequest(f"{file} cannot be read: {error}") from None
