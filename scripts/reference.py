"""Writes the pages and pictures of docs that follow from the code. `--check` only compares them."""

import argparse
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import typer

from gaby import cli
from gaby.api import create_app
from gaby.app import build
from gaby.cli.config import reference_page
from gaby.settings import load
from gaby.tickets.adapters.manifest import manifests
from scripts import promises
from scripts.connector_pages import connectors_page, manifest_page
from scripts.diagrams import architecture, decision
from scripts.quality_page import quality_page

FOLDER = Path(__file__).parents[1] / "docs/reference"
IMAGES = FOLDER.with_name("images")


def pages() -> dict[Path, str]:
    return {
        FOLDER / "settings.md": reference_page(),
        FOLDER / "commands.md": commands_page(),
        FOLDER / "openapi.json": openapi(),
        FOLDER / "manifest.md": manifest_page(),
        FOLDER / "connectors.md": connectors_page(),
        FOLDER / "desk-quality.md": quality_page(manifests()),
        IMAGES / "architecture.svg": architecture(),
        IMAGES / "decision.svg": decision(),
    }


def openapi() -> str:
    with TemporaryDirectory() as home:
        gaby = build(load({"GABY_HOME": home}, env_file=None).settings)
        return json.dumps(create_app(gaby.api_dependencies()).openapi(), indent=1, sort_keys=True) + "\n"


def commands_page() -> str:
    root: Any = typer.main.get_command(cli.build_app())
    lines = ["# Commands", "", "Generated from the commands themselves; `gaby COMMAND --help` says the same.", ""]
    lines += [" ".join(str(root.help).split()), ""]
    for path, command in _commands(root, ("gaby",)):
        lines += [f"## {' '.join(path)}", "", " ".join(str(command.help or "").split()), ""]
        rows = [_row(parameter) for parameter in command.params if parameter.name != "help"]
        if rows:
            lines += ["| argument | meaning |", "|---|---|", *rows, ""]
    return "\n".join(lines)


def _commands(command: Any, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], Any]]:
    children: dict[str, Any] = getattr(command, "commands", {})
    if not children:
        yield path, command
    for name, child in sorted(children.items()):
        yield from _commands(child, (*path, name))


def _row(parameter: Any) -> str:
    is_option = parameter.param_type_name == "option"
    name = ", ".join(parameter.opts) if is_option else parameter.name.upper()
    return f"| `{name}` | {_cell(getattr(parameter, 'help', None) or '')} |"


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="fail when a page differs from the code")
    check = parser.parse_args().check
    stale = [path for path, text in pages().items() if not path.exists() or path.read_text() != text]
    if check:
        for path in stale:
            print(f"docs/{path.parent.name}/{path.name} is out of date. Run `make docs`.", file=sys.stderr)
        wrong = list(promises.disagreements(promises.promises(), promises.shown_by()))
        for each in wrong:
            print(each, file=sys.stderr)
        return 1 if stale or wrong else 0
    for path, text in pages().items():
        path.write_text(text)
    print(f"{len(stale)} pages written.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
