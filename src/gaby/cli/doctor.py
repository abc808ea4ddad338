"""`gaby doctor`: one line for each thing Gaby needs, and what to do where something is wrong."""

import asyncio

import typer

from gaby.app.checks import diagnose
from gaby.cli.columns import folded, terminal_width
from gaby.cli.output import AsJson, echo, one_line, print_json, secho
from gaby.cli.progress import busy
from gaby.cli.runtime import read_settings
from gaby.kernel.checks import Check
from gaby.kernel.errors import Misconfigured

_COLOURS = {"ok": "green", "warn": "yellow", "fail": "red"}
_INDENT = 18


def doctor(as_json: AsJson = False) -> None:
    """Check this installation. Exit code 0: all well, 1: warnings, 2: something is broken, 3: settings are wrong."""
    try:
        settings = read_settings()
    except Misconfigured as error:
        _print([Check("settings", "fail", error.message, "Correct the variables named above.")], as_json=as_json)
        raise typer.Exit(3) from None
    with busy("Looking at everything"):
        checks = asyncio.run(diagnose(settings))
    _print(checks, as_json=as_json)
    worst = {check.health for check in checks}
    raise typer.Exit(2 if "fail" in worst else 1 if "warn" in worst else 0)


def _print(checks: list[Check], *, as_json: bool) -> None:
    if as_json:
        print_json([{"name": c.name, "health": c.health, "message": c.message, "fix": c.fix} for c in checks])
        return
    width = terminal_width() - _INDENT
    for check in checks:
        first, *more = folded(one_line(check.message), width)
        secho(f"{check.health:<4}", fg=_COLOURS[check.health], nl=False)
        echo(f" {check.name:<12} {first}")
        for line in more:
            echo(f"{'':{_INDENT}}{line}")
        for line in folded(check.fix, width) if check.fix and check.health != "ok" else ():
            secho(f"{'':{_INDENT}}{line}", dim=True)
