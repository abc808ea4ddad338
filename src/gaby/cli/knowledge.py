"""`gaby knowledge`: sources, search, answers, citations, and what Gaby would like to learn."""

import sys
from dataclasses import replace
from pathlib import Path
from typing import Annotated
from uuid import UUID

import typer
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from gaby.app import Gaby
from gaby.cli import completion
from gaby.cli.confirmation import confirm
from gaby.cli.console import SafeConsole
from gaby.cli.durations import parse_duration
from gaby.cli.knowledge_candidates import gaps, learned
from gaby.cli.knowledge_output import NO_SOURCES, print_hits, print_shown, print_skipped, print_source, short
from gaby.cli.output import AsJson, echo, print_json, print_rows, secho
from gaby.cli.runtime import run
from gaby.cli.workspace_option import InWorkspace, operator_in
from gaby.kernel.actors import Actor
from gaby.kernel.errors import BadRequest, GabyError
from gaby.knowledge.citations.resolver import DocumentExcerpt, ResolvedCitation, shortened
from gaby.knowledge.citations.tokens import parse
from gaby.knowledge.freshness import documents
from gaby.knowledge.new_source import AUDIENCE_MEANS, NewSource
from gaby.knowledge.retrieval.results import SearchResults
from gaby.knowledge.schemas import (
    AnswerOut,
    DocumentOut,
    FailureOut,
    SearchOut,
    SourceOut,
)
from gaby.knowledge.source_service import checked_source
from gaby_connectors.sdk.manifest import Audience

app = typer.Typer(help="What Gaby answers from: the company's own documents.", no_args_is_help=True)

_WIDE = 300

Name = Annotated[
    str,
    typer.Argument(
        help="The source's name; `gaby knowledge list` shows them.",
        autocompletion=completion.sources,
    ),
]


@app.command()
def add(
    name: Annotated[str, typer.Argument(help="What to call it; citations begin with it.")],
    kind: Annotated[str, typer.Argument(help="folder, file, git, url, site, confluence, notion or tickets.")],
    location: Annotated[
        str, typer.Argument(help="The path or the address; for tickets also `desk`, those that people solved.")
    ],
    option: Annotated[
        list[str] | None, typer.Option("--option", "-o", help="NAME=VALUE, such as include=*.md; may be repeated.")
    ] = None,
    secret_stdin: Annotated[
        bool, typer.Option("--secret-stdin", help="Read a token from standard input; it is kept sealed.")
    ] = False,
    every: Annotated[str | None, typer.Option(help="Sync in this interval: 30m, 12h, 1d. Else when asked.")] = None,
    audience: Annotated[
        Audience | None, typer.Option(help="Who may be shown its pages. Asked for in a terminal, else staff.")
    ] = None,
    sync_now: Annotated[bool, typer.Option("--sync/--no-sync", help="Read it now.")] = True,
    workspace: InWorkspace = None,
    as_json: AsJson = False,
) -> None:
    """Add a source of documents, and read it."""
    options = dict(_option(each) for each in option or [])
    secret = sys.stdin.readline().rstrip("\n") if secret_stdin else None
    new = NewSource(name, kind, location, options, secret, parse_duration(every))
    if new.is_a_file:
        new = replace(new, location=_path(location, must_exist=sync_now))
    checked_source(new)
    chosen = audience or _asked_audience()
    new = replace(new, audience=chosen or Audience.STAFF)

    async def add_source(gaby: Gaby) -> SourceOut:
        actor = await operator_in(gaby, workspace)
        async with gaby.database.write(actor.workspace_id) as session:
            row = await gaby.knowledge.components.sources.add(session, actor, new)
        if sync_now:
            await _sync(gaby, actor, row.id, name, quiet=as_json)
        return await _source_overview(gaby, actor, row.id)

    print_source(run(add_source), as_json=as_json)
    if chosen is None:
        warning = "Nobody said who may be shown its pages, so requesters are not answered from them (--audience)."
        echo(warning, err=True)


@app.command("list")
def list_sources(workspace: InWorkspace = None, as_json: AsJson = False) -> None:
    """Show the sources, how fresh each is, and how its last sync went."""

    async def load_sources(gaby: Gaby) -> list[SourceOut]:
        actor = await operator_in(gaby, workspace)
        async with gaby.database.read(actor.workspace_id) as session:
            return [SourceOut.from_domain(each) for each in await gaby.knowledge.components.sources.list(session)]

    sources = run(load_sources)
    rows = [source.model_dump() if as_json else short(source) for source in sources]
    print_rows(rows, as_json=as_json, empty=NO_SOURCES)


@app.command()
def sync(
    name: Annotated[
        str | None, typer.Argument(help="Only this source; else all of them.", autocompletion=completion.sources)
    ] = None,
    workspace: InWorkspace = None,
    as_json: AsJson = False,
) -> None:
    """Read what changed. A document that cannot be read is listed and does not stop the rest."""

    async def sync_sources(gaby: Gaby) -> tuple[list[SourceOut], list[str]]:
        actor = await operator_in(gaby, workspace)
        source_service = gaby.knowledge.components.sources
        async with gaby.database.read(actor.workspace_id) as session:
            rows = (
                [await source_service.named(session, name)]
                if name
                else [each.row for each in await source_service.list(session)]
            )
        troubles: list[str] = []
        for row in rows:
            try:
                await _sync(gaby, actor, row.id, row.name, quiet=as_json)
            except GabyError as error:
                troubles.append(f"{row.name}: {error.message}")
        return [await _source_overview(gaby, actor, row.id) for row in rows], troubles

    sources, troubles = run(sync_sources)
    print_rows(
        [source.model_dump() if as_json else short(source) for source in sources], as_json=as_json, empty=NO_SOURCES
    )
    for source in sources if not as_json else ():
        print_skipped(source, named=True)
    for trouble in troubles:
        secho(trouble, fg="red", err=True)
    if troubles:
        raise typer.Exit(1)


@app.command()
def schedule(
    name: Name,
    every: Annotated[str, typer.Argument(help="30m, 12h, 1d, or `never` for only when asked.")],
    workspace: InWorkspace = None,
    as_json: AsJson = False,
) -> None:
    """Set how often a source is synced by the server."""

    async def reschedule_source(gaby: Gaby) -> SourceOut:
        actor = await operator_in(gaby, workspace)
        sources = gaby.knowledge.components.sources
        async with gaby.database.write(actor.workspace_id) as session:
            row = await sources.named(session, name)
            await sources.reschedule(session, actor, row, None if every == "never" else parse_duration(every))
        return await _source_overview(gaby, actor, row.id)

    print_source(run(reschedule_source), as_json=as_json)


@app.command("audience")
def set_audience(
    name: Name,
    audience: Annotated[Audience, typer.Argument(help="Who may be shown its pages.")],
    workspace: InWorkspace = None,
    as_json: AsJson = False,
) -> None:
    """Set who may be shown the pages of a source. A page whose front matter names an audience keeps its own."""

    async def change_audience(gaby: Gaby) -> SourceOut:
        actor = await operator_in(gaby, workspace)
        sources = gaby.knowledge.components.sources
        async with gaby.database.write(actor.workspace_id) as session:
            row = await sources.named(session, name)
            await sources.set_audience(session, actor, row, audience)
        return await _source_overview(gaby, actor, row.id)

    print_source(run(change_audience), as_json=as_json)


@app.command()
def remove(
    name: Name,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
    workspace: InWorkspace = None,
    as_json: AsJson = False,
) -> None:
    """Remove a source and all its documents from the knowledge, at once."""
    confirm(f"Remove {name} and all its documents?", yes=yes)

    async def remove_source(gaby: Gaby) -> int:
        actor = await operator_in(gaby, workspace)
        sources = gaby.knowledge.components.sources
        async with gaby.database.write(actor.workspace_id) as session:
            return await sources.remove(session, actor, await sources.named(session, name))

    count = run(remove_source)
    if as_json:
        print_json({"source": name, "documents": count})
    else:
        echo(f"{name} and its {count} documents are removed.", err=True)


@app.command()
def search(
    question: Annotated[str, typer.Argument(help="What to look for; a whole ticket is fine. `-` reads it from stdin.")],
    limit: Annotated[int, typer.Option(min=1, max=50, help="How many passages.")] = 6,
    everything: Annotated[bool, typer.Option("--everything", help="Also what hardly fits.")] = False,
    explain: Annotated[bool, typer.Option("--explain", help="Show what each score is made of.")] = False,
    workspace: InWorkspace = None,
    as_json: AsJson = False,
) -> None:
    """Find the passages that answer, with their citations."""
    asked = _question(question)

    async def search_passages(gaby: Gaby) -> SearchResults:
        actor = await operator_in(gaby, workspace)
        return await gaby.knowledge.components.searcher.search(
            actor.workspace_id, asked, limit=limit, everything=everything
        )

    results = run(search_passages)
    if as_json:
        print_json(SearchOut.from_domain(results).model_dump())
    else:
        print_hits(results, explain=explain)


@app.command()
def ask(
    question: Annotated[str, typer.Argument(help="The question. `-` reads it from stdin.")],
    workspace: InWorkspace = None,
    as_json: AsJson = False,
) -> None:
    """Answer from the knowledge; every sentence names its source."""
    asked = _question(question)

    async def answer_question(gaby: Gaby) -> AnswerOut:
        actor = await operator_in(gaby, workspace)
        return AnswerOut.from_domain(await gaby.knowledge.components.answering.answer(actor, asked))

    answer = run(answer_question)
    if as_json:
        print_json(answer.model_dump())
        return
    echo(answer.text)
    writer = "no model was used" if answer.written_by == "offline" else f"written by {answer.written_by}"
    secho(f"({writer}; open a source with `gaby knowledge show 'doc:...'`)", dim=True, err=True)


@app.command()
def show(
    what: Annotated[str, typer.Argument(help="A citation, a document as SOURCE/PATH, or a source's name.")],
    line: Annotated[int, typer.Option(min=1, help="The first line of a document to show.")] = 1,
    lines: Annotated[int | None, typer.Option(min=1, max=100_000, help="How many lines.")] = None,
    workspace: InWorkspace = None,
    as_json: AsJson = False,
) -> None:
    """Open what a citation names, a document, or a source with what could not be read."""
    what = what.strip().removeprefix("[").removesuffix("]")

    async def open_document(gaby: Gaby) -> ResolvedCitation | DocumentExcerpt | tuple[SourceOut, list[FailureOut]]:
        actor = await operator_in(gaby, workspace)
        components = gaby.knowledge.components
        async with gaby.database.read(actor.workspace_id) as session:
            if parse(what) is not None:
                return await components.citations.resolve(session, what)
            if "/" in what:
                opened = await components.citations.open_named(
                    session, what.removeprefix("doc:"), line, lines or 100_000
                )
                return opened if lines else shortened(opened, _WIDE)
            row = await components.sources.named(session, what)
            failures = [FailureOut.from_domain(each) for each in await components.sources.failures(session, row.id)]
        return await _source_overview(gaby, actor, row.id), failures

    print_shown(run(open_document), as_json=as_json)


@app.command("documents")
def list_documents(
    source: Annotated[str | None, typer.Option(help="Only of this source.")] = None,
    stale: Annotated[bool, typer.Option("--stale", help="Only what was not needed for 180 days.")] = False,
    limit: Annotated[int, typer.Option(min=1, max=10_000)] = 200,
    workspace: InWorkspace = None,
    as_json: AsJson = False,
) -> None:
    """List documents, when they changed and when they were last cited."""

    async def load_documents(gaby: Gaby) -> list[DocumentOut]:
        actor = await operator_in(gaby, workspace)
        async with gaby.database.read(actor.workspace_id) as session:
            if source is not None:
                await gaby.knowledge.components.sources.named(session, source)
            rows = await documents(session, now=gaby.clock.now(), source=source, stale=stale, limit=limit)
            return [DocumentOut.from_domain(each) for each in rows]

    rows = [
        each.model_dump()
        if as_json
        else {
            "document": f"{each.source}/{each.uri}",
            "title": each.title,
            "audience": each.audience.value,
            "lines": each.lines,
            "changed": each.changed_at,
            "cited": each.used_at,
            "uses": each.uses,
        }
        for each in run(load_documents)
    ]
    print_rows(rows, as_json=as_json, empty="Nothing is stale." if stale else "There is no document.")


app.command()(gaps)
app.command()(learned)


async def _sync(gaby: Gaby, actor: Actor, source_id: UUID, name: str, *, quiet: bool) -> None:
    syncer = gaby.knowledge.components.syncer
    if quiet or not sys.stderr.isatty():
        await syncer.sync(actor, source_id)
        return
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=SafeConsole(stderr=True), transient=True) as bar:
        task = bar.add_task(f"reading {name}", total=None)
        await syncer.sync(
            actor, source_id, lambda progress: bar.update(task, completed=progress.done, total=progress.total)
        )


async def _source_overview(gaby: Gaby, actor: Actor, source_id: UUID) -> SourceOut:
    async with gaby.database.read(actor.workspace_id) as session:
        return SourceOut.from_domain(await gaby.knowledge.components.sources.overview(session, source_id))


def _asked_audience() -> Audience | None:
    """In a terminal somebody can say; otherwise nobody, and it is for the staff, which harms nobody."""
    if not sys.stdin.isatty():
        return None
    for each in Audience:
        echo(f"  {each}: {AUDIENCE_MEANS[each]}", err=True)
    return typer.prompt("Who may be shown its pages?", default=Audience.STAFF, type=Audience, err=True)


def _option(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals or not name:
        raise BadRequest(f"An option is written NAME=VALUE, not {text!r}.")
    return name, value


def _path(text: str, *, must_exist: bool) -> str:
    path = Path(text).expanduser().absolute()
    if must_exist and not path.exists():
        raise BadRequest(f"There is no {path}. To add it before it is there, use --no-sync.")
    return str(path)


def _question(text: str) -> str:
    asked = sys.stdin.read() if text == "-" else text
    if not asked.strip():
        raise BadRequest("The question is empty.")
    return asked
