"""`gaby doctor`: one line for each thing Gaby needs, and what to do where something is wrong."""

import asyncio

import typer
from rich.markup import escape

from gaby.app.checks import diagnose
from gaby.cli.console import SafeConsole
from gaby.cli.output import AsJson, print_json
from gaby.cli.runtime import read_settings
from gaby.kernel.checks import Check
from gaby.kernel.errors import Misconfigured

_MARK = {"ok": "[green]ok  [/green]", "warn": "[yellow]warn[/yellow]", "fail": "[red]fail[/red]"}


def doctor(as_json: AsJson = False) -> None:
    """Check this installation. Exit code 0: all well, 1: warnings, 2: something is broken, 3: settings are wrong."""
    try:
        settings = read_settings()
    except Misconfigured as error:
        _print([Check("settings", "fail", error.message, "Correct the variables named above.")], as_json=as_json)
        raise typer.Exit(3) from None
    checks = asyncio.run(diagnose(settings))
    _print(checks, as_json=as_json)
    worst = {check.health for check in checks}
    raise typer.Exit(2 if "fail" in worst else 1 if "warn" in worst else 0)


def _print(checks: list[Check], *, as_json: bool) -> None:
    if as_json:
        print_json([{"name": c.name, "health": c.health, "message": c.message, "fix": c.fix} for c in checks])
        return
    console = SafeConsole(highlight=False)
    for check in checks:
        console.print(f"{_MARK[check.health]} {check.name:<12} {escape(check.message)}")
        if check.fix and check.health != "ok":
            console.print(f"     {'':<12} [dim]{escape(check.fix)}[/dim]")
