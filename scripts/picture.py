"""Draws docs/images/first-minute.svg from what the commands really print."""

import os
import re
import subprocess
import sys
import tempfile
from io import StringIO
from pathlib import Path

from rich.console import Console
from rich.terminal_theme import DIMMED_MONOKAI
from rich.text import Text

TARGET = Path(__file__).parents[1] / "docs/images/first-minute.svg"
FONT = re.compile(r"@font-face \{.*?\}\s*", re.DOTALL)


def main() -> int:
    console = Console(record=True, width=92, file=StringIO())
    with tempfile.TemporaryDirectory() as folder:
        _type(console, "make demo")
        console.print(
            "\n  Create the first admin within 15 minutes:\n  http://127.0.0.1:8080/setup?token=bszl6rng5zg5...\n"
        )
        _run(folder, "db", "upgrade")
        _run(folder, "workspace", "create", "acme")
        for name in ("help desk", "collector"):
            _run(folder, "key", "create", name, "--scope", "audit:read")
        _run(folder, "audit", "checkpoint")
        _show(console, folder, "doctor")
        _show(console, folder, "audit", "export", "--all", "--output", "log.jsonl")
        _show(console, folder, "audit", "verify", "log.jsonl")
        log = Path(folder) / "log.jsonl"
        log.write_text(log.read_text().replace("collector", "c0llector").replace("key.created", "key.revoked", 1))
        _type(console, "sed -i 's/key.created/key.revoked/' log.jsonl")
        _show(console, folder, "audit", "verify", "log.jsonl")
    picture = console.export_svg(title="gaby", theme=DIMMED_MONOKAI)
    TARGET.parent.mkdir(exist_ok=True)
    # The fonts would be fetched from elsewhere; the reader's own will do.
    TARGET.write_text(FONT.sub("", picture))
    return 0


def _type(console: Console, line: str) -> None:
    console.print(Text("$ ", style="green") + Text(line, style="bold"))


def _show(console: Console, folder: str, *arguments: str) -> None:
    _type(console, f"gaby {' '.join(arguments)}")
    output = _run(folder, *arguments).replace(folder, "var/demo")
    if output:
        console.print(Text.from_ansi(output))


def _run(folder: str, *arguments: str) -> str:
    environment = {**os.environ, "GABY_HOME": folder, "FORCE_COLOR": "1", "COLUMNS": "90"}
    command = [sys.executable, "-m", "gaby", *arguments]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    return done.stdout.rstrip()


if __name__ == "__main__":
    sys.exit(main())
