"""Draws docs/images/first-minute.svg and recording.svg from what the commands really print, while the demo runs.

The recording shows what `gaby watch` prints of two tickets, line by line, in an SVG that is animated by CSS: it needs
no player, and where nothing is animated all lines are there.
"""

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

IMAGES = Path(__file__).parents[1] / "docs/images"
FONT = re.compile(r"@font-face \{.*?\}\s*", re.DOTALL)
PATIENCE = 300
WATCHED = ("Locked out again", "Charged twice")
RECORDED = 40
"""Lines of the recording, at most."""
LINE_SECONDS, LAST_SECONDS = 0.45, 5.0


def main() -> int:
    picture, recording = (Console(record=True, width=112, file=StringIO()) for _ in range(2))
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "gaby", "serve", "--demo", "--speed", "30", "--port", "0"]
        environment = {**os.environ, "GABY_HOME": folder}
        server = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            _wait(folder)
            _draw(picture, folder)
            _record(recording, folder)
        finally:
            server.send_signal(signal.SIGTERM)
            server.wait(30)
    (IMAGES / "first-minute.svg").write_text(_svg(picture))
    (IMAGES / "recording.svg").write_text(_animated(_svg(recording)))
    return 0


def _svg(console: Console) -> str:
    # The fonts would be fetched from elsewhere; the reader's own will do.
    return FONT.sub("", console.export_svg(title="gaby", theme=DIMMED_MONOKAI))


def _record(console: Console, folder: str) -> None:
    """The lines of two tickets: one that is resolved, and one that comes to wait for a person."""
    _type(console, "gaby watch")
    lines = _run(folder, "watch", "--all", "--once", columns=400).splitlines()
    shown = [Text.from_ansi(line) for line in lines if any(title in line for title in WATCHED)]
    for line in shown[:RECORDED]:
        line.truncate(110, overflow="ellipsis")
        console.print(line)


def _animated(svg: str) -> str:
    """Each line after the first appears when it is its turn; after the last one it begins anew."""
    lines = sorted({int(number) for number in re.findall(r'clip-path="url\(#[\w-]+-line-(\d+)\)"', svg)})
    whole = len(lines) * LINE_SECONDS + LAST_SECONDS
    rules: list[str] = []
    for turn, line in enumerate(lines[1:], 1):
        shown = turn * LINE_SECONDS / whole * 100
        rules.append(f"@keyframes line{line} {{ 0% {{ opacity: 0 }} {shown:.2f}% {{ opacity: 1 }} }}")
        rules.append(f'[clip-path$="-line-{line})"] {{ animation: line{line} {whole:g}s step-end infinite }}')
    return svg.replace("</style>", "\n".join([*rules, "</style>"]), 1)


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


def _run(folder: str, *arguments: str, columns: int = 110) -> str:
    environment = {**os.environ, "GABY_HOME": folder, "FORCE_COLOR": "1", "COLUMNS": str(columns)}
    command = [sys.executable, "-m", "gaby", *arguments]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    return done.stdout.rstrip()


if __name__ == "__main__":
    sys.exit(main())
