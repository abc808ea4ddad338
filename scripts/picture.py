"""Draws docs/images/first-minute.svg from what the commands really print, while the demo runs."""

import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from io import StringIO
from pathlib import Path

from rich.console import Console
from rich.terminal_theme import DIMMED_MONOKAI
from rich.text import Text

TARGET = Path(__file__).parents[1] / "docs/images/first-minute.svg"
FONT = re.compile(r"@font-face \{.*?\}\s*", re.DOTALL)
PATIENCE = 120


def main() -> int:
    console = Console(record=True, width=112, file=StringIO())
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "gaby", "serve", "--demo", "--speed", "30", "--port", "0"]
        environment = {**os.environ, "GABY_HOME": folder}
        server = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            _wait(folder)
            _draw(console, folder)
        finally:
            server.send_signal(signal.SIGTERM)
            server.wait(30)
    picture = console.export_svg(title="gaby", theme=DIMMED_MONOKAI)
    TARGET.parent.mkdir(exist_ok=True)
    # The fonts would be fetched from elsewhere; the reader's own will do.
    TARGET.write_text(FONT.sub("", picture))
    return 0


def _draw(console: Console, folder: str) -> None:
    _type(console, "make demo")
    console.print("  14 tickets of a sample company arrive within a minute ...\n")
    [run] = [
        each
        for each in json.loads(_run(folder, "runs", "list", "--json"))
        if each["verdict"] == "auto_resolved" and "unlock" in each["reason"]
    ]
    _type(console, "gaby runs show 01a1dfc1...      # a customer is locked out")
    console.print(Text.from_ansi(_run(folder, "runs", "show", run["id"])))
    console.print()
    _show(console, folder, "approvals", "list", most=4)
    _show(console, folder, "audit", "verify")


def _wait(folder: str) -> None:
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until:
        time.sleep(2)
        told = _run(folder, "ticket", "list", "--json")
        tickets: list[dict[str, str]] = json.loads(told) if told.startswith("[") else []
        if len(tickets) >= 14 and not any(each["status"] == "queued" for each in tickets):
            return
    raise SystemExit("The demo did not get that far.")


def _type(console: Console, line: str) -> None:
    console.print(Text("$ ", style="green") + Text(line, style="bold"))


def _show(console: Console, folder: str, *arguments: str, most: int = 20) -> None:
    _type(console, f"gaby {' '.join(arguments)}")
    output = _run(folder, *arguments).replace(folder, "var/demo")
    if output:
        console.print(Text.from_ansi("\n".join(output.splitlines()[:most])))
        console.print()


def _run(folder: str, *arguments: str) -> str:
    environment = {**os.environ, "GABY_HOME": folder, "FORCE_COLOR": "1", "COLUMNS": "110"}
    command = [sys.executable, "-m", "gaby", *arguments]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    return done.stdout.rstrip()


if __name__ == "__main__":
    sys.exit(main())
