"""`gaby runbook`: check what is understood of runbooks, list them, try one on a ticket, draft one from a page."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from gaby.app import Gaby
from gaby.cli.output import AsJson, echo, one_line, print_json, print_rows, secho
from gaby.cli.runbook_output import print_checked, print_tried
from gaby.cli.runtime import run
from gaby.cli.ticket_ids import find_ticket
from gaby.cli.workspace_option import InWorkspace, operator_in
from gaby.kernel.actors import Actor
from gaby.kernel.errors import BadRequest, NotFound
from gaby.runbooks.schemas import ListedRunbookOut, RunbookDraftOut, RunbookOut, TrialOut
from gaby.runbooks.service import Runbooks
from gaby.runbooks.trial import TrialTicket
from gaby.tickets.authority import authority_of

app = typer.Typer(help="Runbooks: checked, listed, tried on a ticket, drafted from pages.", no_args_is_help=True)

_ENDINGS = {".md", ".markdown"}
_LARGEST = 2_000_000
_MOST_FILES = 2000

Page = Annotated[Path, typer.Argument(help="A Markdown file; `-` reads standard input.", allow_dash=True)]


@app.command()
def check(
    path: Annotated[
        Path, typer.Argument(help="A Markdown file, or a folder with all that are in it.", allow_dash=True)
    ],
    workspace: InWorkspace = None,
    as_json: AsJson = False,
) -> None:
    """Show what is understood of a runbook and what not, against the tools that are connected.

    Ends with exit code 1 if a runbook has errors. In a folder, pages that are no runbooks are only counted."""
    pages = _pages(path)

    async def check_runbooks(gaby: Gaby) -> list[RunbookOut]:
        actor = await operator_in(gaby, workspace)
        return await _runbooks(gaby).check(actor.workspace_id, pages)

    runbooks = run(check_runbooks)
    # Whoever names a file means it, whether or not it declares itself.
    meant = runbooks if len(pages) == 1 and not path.is_dir() else [each for each in runbooks if each.is_runbook]
    if as_json:
        print_json([each.model_dump() for each in meant])
    else:
        for each in meant:
            print_checked(each)
        if others := len(runbooks) - len(meant):
            echo(f"{others} other pages are no runbooks.", err=True)
        if not meant:
            echo("There is no runbook here. A page is one with `runbook: true` in its front matter.", err=True)
    if any(each.errors for each in meant):
        raise typer.Exit(1)


@app.command("list")
def list_runbooks(workspace: InWorkspace = None, as_json: AsJson = False) -> None:
    """List the runbooks of the knowledge: declared, recognised, or with errors and so not followed."""

    async def load_runbooks(gaby: Gaby) -> list[ListedRunbookOut]:
        actor = await operator_in(gaby, workspace)
        return await _runbooks(gaby).list(actor.workspace_id)

    empty = "No runbooks yet. A page is one with `runbook: true` in its front matter; see the guide on writing one."
    print_rows([each.model_dump() for each in run(load_runbooks)], as_json=as_json, empty=empty)


@app.command("try")
def try_runbook(
    page: Page,
    ticket: Annotated[str | None, typer.Option(help="The id of a ticket, or the desk's own.")] = None,
    text: Annotated[str | None, typer.Option(help="Instead of a ticket: what somebody writes.")] = None,
    sender: Annotated[str | None, typer.Option("--from", help="Whose address the text comes from.")] = None,
    title: Annotated[str, typer.Option(help="The title of the text.")] = "",
    workspace: InWorkspace = None,
    as_json: AsJson = False,
) -> None:
    """Play a runbook on a ticket and change nothing: reads are really made, changes are only simulated."""
    if (ticket is None) == (text is None):
        raise BadRequest("Give --ticket with the id of a ticket, or --text with what somebody writes.")
    if ticket is not None and (sender or title):
        raise BadRequest("A ticket has its own title and requester; --from and --title go with --text.")
    ((name, written),) = _pages(page)

    async def play_runbook(gaby: Gaby) -> TrialOut:
        actor = await operator_in(gaby, workspace)
        tried = await _ticket(gaby, actor, ticket) if ticket else TrialTicket(title, text or "", sender)
        return await _runbooks(gaby).try_on(actor, _title(written, name), written, tried, gaby.ids)

    ended = run(play_runbook)
    if as_json:
        print_json(ended.model_dump())
    else:
        print_tried(ended)


@app.command()
def draft(page: Page, workspace: InWorkspace = None, as_json: AsJson = False) -> None:
    """Propose a runbook from a page of prose. What is not surely understood becomes a TODO line for you."""
    ((_, written),) = _pages(page)

    async def draft_from_page(gaby: Gaby) -> RunbookDraftOut:
        actor = await operator_in(gaby, workspace)
        return await _runbooks(gaby).draft(actor.workspace_id, written)

    draft_out = run(draft_from_page)
    if as_json:
        print_json(draft_out.model_dump())
        return
    echo(draft_out.text, nl=False)
    secho(f"{draft_out.open_lines} lines are still to be written. Then `gaby runbook check` it.", fg="yellow", err=True)


def _runbooks(gaby: Gaby) -> Runbooks:
    return Runbooks(gaby.database, gaby.clock, gaby.tools, gaby.models, gaby.knowledge)


async def _ticket(gaby: Gaby, actor: Actor, which: str) -> TrialTicket:
    async with gaby.database.read(actor.workspace_id) as session:
        row = await find_ticket(gaby, session, which)
        written = await gaby.tickets.intake.written(session, row)
    # As an investigation reads it: all that is public, except for what Gaby wrote.
    said = [each.body for each in written.messages if each.author != "gaby" and not each.private]
    text = "\n\n".join((written.body, *said))
    verified = authority_of(row, written.messages).verified
    return TrialTicket(written.title, text, row.requester_email, verified, row.external_id)


def _pages(path: Path) -> list[tuple[str, str]]:
    """Name and text of a file, or of all Markdown files below a folder."""
    if str(path) == "-":
        return [("standard input", sys.stdin.read(_LARGEST))]
    if path.is_dir():
        files = sorted(each for each in path.rglob("*") if each.suffix.lower() in _ENDINGS and each.is_file())
        if not files:
            raise NotFound(f"There is no Markdown file in {one_line(path)}.")
        return [(str(each.relative_to(path)), _text(each)) for each in files[:_MOST_FILES]]
    return [(path.name, _text(path))]


def _text(path: Path) -> str:
    try:
        if path.stat().st_size > _LARGEST:
            raise BadRequest(f"{one_line(path)} is larger than {_LARGEST} bytes; no runbook is.")
        return path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise BadRequest(f"{one_line(path)} is no text in UTF-8.") from None
    except OSError as error:
        raise NotFound(f"{one_line(path)} cannot be read: {error.strerror}.") from None


def _title(text: str, name: str) -> str:
    return next((line.strip("# ") for line in text.splitlines() if line.startswith("# ")), name)
