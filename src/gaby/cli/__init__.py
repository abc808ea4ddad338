"""The command line: `gaby`. One file for each command; errors become a sentence on stderr and an exit code."""

import sys

import typer

from gaby import __version__
from gaby.cli import (
    approvals,
    audit,
    bench,
    config,
    connector,
    db,
    doctor,
    encryption,
    key,
    kill_switch,
    model,
    serve,
    skill,
    tools,
    usage,
    user,
    workspace,
)
from gaby.kernel.errors import GabyError

app = typer.Typer(
    name="gaby",
    help="Gaby, a self-hosted AI support engineer.\n\n"
    "Exit codes: 0 done, 1 failed, 2 wrong input or settings, 3 not allowed or not usable, 4 not found, "
    "5 conflict, 6 try again later.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
for name, group in {
    "approvals": approvals.app,
    "audit": audit.app,
    "bench": bench.app,
    "config": config.app,
    "connector": connector.app,
    "db": db.app,
    "encryption": encryption.app,
    "key": key.app,
    "kill-switch": kill_switch.app,
    "model": model.app,
    "skill": skill.app,
    "tools": tools.app,
    "usage": usage.app,
    "user": user.app,
    "workspace": workspace.app,
}.items():
    app.add_typer(group, name=name)
app.command("serve")(serve.serve)
app.command("doctor")(doctor.doctor)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"gaby {__version__}")
        raise typer.Exit


@app.callback()
def gaby(
    version: bool = typer.Option(False, "--version", callback=_version, is_eager=True, help="Show the version."),
) -> None:
    pass


def main() -> None:
    try:
        app()
    except GabyError as error:
        typer.secho(f"gaby: {error.message}", fg="red", err=True)
        sys.exit(error.exit_code)
    except BrokenPipeError:
        # The reader went away, as `head` does. Python would complain again when it flushes at exit.
        sys.stdout = None
        sys.exit(0)
