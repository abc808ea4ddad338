"""`gaby connector draft`: a manifest proposed from what a server says of itself, for a person to accept."""

import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.markup import escape
from rich.table import Table

from gaby.app import Gaby
from gaby.cli.connector_setup import ConnectorName
from gaby.cli.console import SafeConsole
from gaby.cli.output import AsJson, echo, print_json
from gaby.cli.runtime import run
from gaby.cli.workspace_option import InWorkspace, operator_in
from gaby.kernel.actors import Actor
from gaby.kernel.errors import BadRequest
from gaby.kernel.text import printable
from gaby.safety import ArgumentRole
from gaby.tools.draft_schemas import ManifestDraftOut
from gaby.tools.manifest_draft import ManifestDraft, ToolDraft, draft_of, joined_manifest
from gaby.tools.manifest_yaml import draft_yaml
from gaby.tools.tool_rules import audience_text
from gaby_connectors.sdk.manifest import Audience

_KEYS = "r accept the reads   a accept all   s step through   w write to a file   q decide later"
_STEP_KEYS = "a accept   l leave out   t who may be told   d dangerous or not   q stop here"

ReadKey = Callable[[], str]


def draft(
    name: ConnectorName,
    out: Annotated[Path | None, typer.Option("--out", help="Write the YAML to this file, and accept nothing.")] = None,
    accept_reads: Annotated[bool, typer.Option("--accept-reads", help="Accept the tools that only read.")] = False,
    accept_all: Annotated[bool, typer.Option("--accept-all", help="Accept every tool as drafted.")] = False,
    workspace: InWorkspace = None,
    as_json: AsJson = False,
) -> None:
    """Draft a manifest for the tools that have none. In a terminal you look at it and accept it at once."""
    if sum((out is not None, accept_reads, accept_all)) > 1:
        raise BadRequest("Choose one of --out, --accept-reads and --accept-all.")

    async def draft_and_accept(gaby: Gaby) -> None:
        actor = await operator_in(gaby, workspace)
        drafted = await read_draft(gaby, actor, name)
        if as_json:
            print_json(ManifestDraftOut.from_domain(drafted).model_dump())
        if not drafted.tools:
            echo(f"Every tool of {name} has a manifest.", err=True)
        elif out is not None:
            _write(out, drafted)
        elif accept_reads or accept_all:
            await accept_tools(gaby, actor, drafted, drafted.reads if accept_reads else None)
        elif not as_json and _is_terminal():
            await review(gaby, actor, drafted)
        elif not as_json:
            echo(draft_yaml(drafted), nl=False)
            _say_how(name)

    run(draft_and_accept)


async def offer_draft(gaby: Gaby, actor: Actor, name: str, *, ask: bool) -> None:
    """After the tools of a connector were accepted: at once in a terminal, else by naming the command."""
    drafted = await read_draft(gaby, actor, name)
    if not drafted.tools:
        return
    count = f"{len(drafted.tools)} tools have" if len(drafted.tools) > 1 else "1 tool has"
    echo(f"{count} no manifest: reads ask each time, and changes are refused.", err=True)
    if ask and _is_terminal():
        await review(gaby, actor, drafted)
    else:
        _say_how(name)


async def read_draft(gaby: Gaby, actor: Actor, name: str) -> ManifestDraft:
    async with gaby.database.read(actor.workspace_id) as session:
        return draft_of(await gaby.tools.connectors.get(session, name))


async def accept_tools(gaby: Gaby, actor: Actor, drafted: ManifestDraft, chosen: tuple[str, ...] | None) -> None:
    """Store what a person accepted, beside what was said of other tools before."""
    accepted = drafted.manifest(chosen)
    if not accepted.tools:
        echo("Nothing was accepted.", err=True)
        return
    async with gaby.database.write(actor.workspace_id) as session:
        row = await gaby.tools.connectors.get(session, drafted.connector)
        manifest = joined_manifest(row, accepted, drafted.fingerprint)
        await gaby.tools.connectors.describe(session, actor, drafted.connector, manifest)
    left = len(drafted.tools) - len(accepted.tools)
    rest = f" {left} stay without one and do nothing unasked." if left else ""
    echo(f"The manifest of {len(accepted.tools)} tools of {drafted.connector} is accepted.{rest}", err=True)


async def review(gaby: Gaby, actor: Actor, drafted: ManifestDraft, read_key: ReadKey = typer.getchar) -> None:
    """Show every tool, and do what a person says about them."""
    _print_table(drafted)
    echo(_KEYS, err=True)
    match _key(read_key, "raswq"):
        case "r":
            await accept_tools(gaby, actor, drafted, drafted.reads)
        case "a":
            await accept_tools(gaby, actor, drafted, None)
        case "s":
            chosen = _step_through(drafted, read_key)
            await accept_tools(gaby, actor, replace(drafted, tools=chosen), None)
        case "w":
            file = Path(f"{drafted.connector}.yaml")
            _write(file, drafted)
        case _:
            _say_how(drafted.connector)


def _step_through(drafted: ManifestDraft, read_key: ReadKey) -> tuple[ToolDraft, ...]:
    """The tools that were accepted, as they were changed. Those that follow a `q` are left out."""
    accepted: list[ToolDraft] = []
    for tool in drafted.tools:
        shown = tool
        while True:
            _print_tool(shown)
            echo(_STEP_KEYS, err=True)
            match _key(read_key, "altdq"):
                case "a":
                    accepted.append(shown)
                    break
                case "l":
                    break
                case "t":
                    shown = _with(shown, audience=_next_audience(shown.manifest.audience))
                case "d" if shown.manifest.scope == "write":
                    shown = _with(shown, dangerous=not shown.manifest.dangerous)
                case "d":
                    echo("A read is never dangerous.", err=True)
                case _:
                    return tuple(accepted)
    return tuple(accepted)


def _with(tool: ToolDraft, **changed: Any) -> ToolDraft:
    return replace(tool, manifest=tool.manifest.model_copy(update=changed))


def _next_audience(audience: Audience) -> Audience:
    """From few to many and around again."""
    return list(Audience)[audience.rank - 1]


def _key(read_key: ReadKey, known: str) -> str:
    """Whatever is no key of the list is asked for again; the end of the input decides nothing."""
    while (pressed := read_key().lower()[:1]) not in {*known, "", "\x03", "\x04", "\x1b"}:
        echo(f"Press one of {', '.join(known)}.", err=True)
    return pressed if pressed in known else "q"


def _print_table(drafted: ManifestDraft) -> None:
    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading in ("tool", "access", "arguments", "who may be told"):
        table.add_column(heading, overflow="fold")
    for tool in drafted.tools:
        row = (tool.name, _access(tool), _arguments(tool), audience_text(tool.manifest))
        table.add_row(*(escape(printable(each, one_line=True)) for each in row))
    SafeConsole(stderr=True).print(table)


def _print_tool(tool: ToolDraft) -> None:
    lines = [
        f"{tool.name}: {_access(tool)}, because {tool.access_reason}",
        *(f"  {name}: {guessed.role}, {guessed.reason}" for name, guessed in tool.arguments.items()),
        f"  told: {audience_text(tool.manifest)}",
        *(f"  {note}" for note in tool.notes),
    ]
    for line in lines:
        echo(printable(line, one_line=True), err=True)


def _access(tool: ToolDraft) -> str:
    return "dangerous write" if tool.manifest.dangerous else tool.access


def _arguments(tool: ToolDraft) -> str:
    shown = [
        f"{name} ({guessed.role})" for name, guessed in tool.arguments.items() if guessed.role is not ArgumentRole.PLAIN
    ]
    return ", ".join(shown) or "-"


def _write(file: Path, drafted: ManifestDraft) -> None:
    try:
        with file.open("x", encoding="utf-8") as opened:
            opened.write(draft_yaml(drafted))
    except OSError as error:
        raise BadRequest(f"{file} cannot be written: {error.strerror}") from None
    echo(f"Edit {file}, then: `gaby connector manifest {drafted.connector} {file}`.", err=True)


def _say_how(name: str) -> None:
    echo(
        f"Accept it: `gaby connector draft {name} --accept-reads`, or with --accept-all, or --out FILE to edit.",
        err=True,
    )


def _is_terminal() -> bool:
    return sys.stdin.isatty() and sys.stderr.isatty()
