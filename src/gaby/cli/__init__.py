"""The command line: `gaby`. One file for each command; errors become a sentence on stderr and an exit code."""

import gc
import os
import sys
from importlib import import_module

import typer

from gaby import __version__
from gaby.cli.hints import begin
from gaby.cli.output import echo, secho
from gaby.kernel.errors import GabyError

COMMANDS = {
    "agent": "How Gaby investigates, and whom it turns to.",
    "approvals": "What waits for a person.",
    "audit": "Check the log, prove a row, export, follow.",
    "bench": "How good Gaby is, measured here.",
    "config": "What can be set, and what is set.",
    "connector": "The systems that Gaby can look into and act on.",
    "db": "Bring the tables up to date, and check them.",
    "desk": "The help desks that tickets come from and answers go to.",
    "doctor": "Check this installation.",
    "encryption": "Rotate the master key, and shred what was kept about a subject.",
    "eval": "Whole investigations, played and judged.",
    "investigate": "Look into one ticket, here and now, with a live view of its steps.",
    "key": "API keys for programs.",
    "kill-switch": "Stop tools, at once, until somebody lifts the switch.",
    "knowledge": "What Gaby answers from: the company's own documents.",
    "model": "Which models Gaby asks, with whose keys, and what for.",
    "runbook": "Runbooks: checked, listed, tried on a ticket, drafted from pages.",
    "runs": "Investigations, under way and ended.",
    "serve": "Start Gaby.",
    "skill": "What Gaby asks models, and how it answers without one.",
    "ticket": "Tickets: added, listed, shown, answered, closed, rated.",
    "tools": "What Gaby can do, and what would happen if it did.",
    "usage": "What models cost, and what they may cost.",
    "user": "People, from the machine where Gaby runs.",
    "watch": "Follow all investigations.",
    "worker": "Carry investigations on, beside other workers.",
    "workspace": "The customers or departments that share this installation.",
}
"""What `gaby --help` says of each, so that it need not load them: loading all takes longer than most commands."""

_MODULES = {"eval": "evaluate"}
"""Where a command's name is a word of Python's own."""


def build_app(only: str | None = None) -> typer.Typer:
    """With all commands, or with one that works while the others are only named."""
    app = typer.Typer(
        name="gaby",
        help="Gaby, a self-hosted AI support engineer.\n\n"
        "Exit codes: 0 done, 1 failed, 2 wrong input or settings, 3 not allowed or not usable, 4 not found, "
        "5 conflict, 6 try again later.",
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
    )
    app.callback()(_gaby)
    for name, says in COMMANDS.items():
        _add(app, name, says, load=only is None or only == name)
    return app


def _add(app: typer.Typer, name: str, says: str, *, load: bool) -> None:
    if not load:
        app.add_typer(typer.Typer(help=says), name=name)
        return
    module = import_module(f"gaby.cli.{_MODULES.get(name, name.replace('-', '_'))}")
    group = getattr(module, "app", None)
    if isinstance(group, typer.Typer):
        app.add_typer(group, name=name)
    else:
        app.command(name)(getattr(module, name))


def _version(wanted: bool) -> None:
    if wanted:
        echo(f"gaby {__version__}")
        raise typer.Exit


def _gaby(
    version: bool = typer.Option(False, "--version", callback=_version, is_eager=True, help="Show the version."),
) -> None:
    pass


def _typed_words() -> list[str]:
    """What stands on the command line; for a TAB, as the shell tells it, without the word that is not finished."""
    if "_GABY_COMPLETE" not in os.environ:
        return sys.argv[1:]
    words = os.environ.get("COMP_WORDS") or os.environ.get("_TYPER_COMPLETE_ARGS", "")
    typed = words.split()[1:]
    return typed if words.endswith(" ") or "COMP_WORDS" in os.environ else typed[:-1]


def main() -> None:
    wanted = next((each for each in _typed_words() if not each.startswith("-")), "")
    # Modules stay for good, so to look for garbage among them while they load is an eighth of the start for nothing.
    gc.disable()
    app = build_app(wanted)
    begin(build_app)
    gc.freeze()
    gc.enable()
    try:
        app()
    except GabyError as error:
        secho(f"gaby: {error.message}", fg="red", err=True)
        sys.exit(error.exit_code)
    except BrokenPipeError:
        # The reader went away, as `head` does. Python would complain again when it flushes at exit.
        sys.stdout = None
        sys.exit(0)
