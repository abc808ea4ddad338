"""How `gaby knowledge` prints."""

from collections.abc import Callable
from typing import Any

from rich.markup import escape

from gaby.cli.console import SafeConsole
from gaby.cli.output import echo, one_line, print_json, print_rows, secho
from gaby.knowledge.citations.resolver import DocumentExcerpt, ResolvedCitation
from gaby.knowledge.new_source import AUDIENCE_MEANS
from gaby.knowledge.parsers.kinds import unread_kind
from gaby.knowledge.retrieval.results import SearchResults
from gaby.knowledge.schemas import CitationOut, FailureOut, LinesOut, SourceOut

NO_SOURCES = "There is no source yet. Add one: `gaby knowledge add runbooks folder /srv/runbooks`."
_NO_DOCUMENTS = (
    "There is no document to search in yet. Add a source: `gaby knowledge add runbooks folder /srv/runbooks`. "
    "Or read those that there are: `gaby knowledge sync`."
)
_WIDE = 300
_NAMED = 5
"""Skipped files that are named in one line."""


def short(source: SourceOut) -> dict[str, Any]:
    return {
        "source": source.name,
        "kind": source.kind,
        "audience": source.audience.value,
        "documents": source.documents,
        "passages": source.passages,
        "problems": source.failed,
        "skipped": source.skipped.count,
        "state": f"{source.state}: {source.error}" if source.error else _state(source),
        "fresh": source.fresh_at,
        "next": source.due_at,
    }


def _state(source: SourceOut) -> str:
    if _is_empty(source):
        return "done, nothing could be read" if source.skipped.count else "done, nothing was found"
    if source.state != "running":
        return source.state
    return f"running, {source.done}" + (f" of {source.total}" if source.total is not None else "")


def _is_empty(source: SourceOut) -> bool:
    return source.state == "done" and not source.documents and not source.failed


def print_source(source: SourceOut, *, as_json: bool) -> None:
    if as_json:
        print_json(source.model_dump())
        return
    print_rows([short(source)], as_json=False, empty="")
    echo(f"Its audience is {source.audience}: {AUDIENCE_MEANS[source.audience]}.", err=True)
    if source.failed:
        having = "1 document has" if source.failed == 1 else f"{source.failed} documents have"
        echo(f"{having} a problem: `gaby knowledge show {source.name}`.", err=True)
    print_skipped(source)
    if _is_empty(source) and not source.skipped.count:
        echo("Nothing was found there. Check the location and the options of the source.", err=True)


def print_skipped(source: SourceOut, *, named: bool = False) -> None:
    """How many files are of kinds that are not read, and some of them by name."""
    skipped = source.skipped
    if not skipped.count:
        return
    files = ", ".join(f"{one_line(each)} ({_why_skipped(each)})" for each in skipped.files[:_NAMED])
    were = "1 file was" if skipped.count == 1 else f"{skipped.count} files were"
    more = skipped.count - len(skipped.files[:_NAMED])
    by_kind = ", ".join(f"{count} {kind or 'without an extension'}" for kind, count in skipped.kinds.items())
    of = f"{source.name}: " if named else ""
    echo(f"{of}{were} skipped: {files}{f' and {more} more. In all: {by_kind}' if more else ''}.", err=True)


def _why_skipped(path: str) -> str:
    kind = unread_kind(path)
    return f"{one_line(kind)} is not read" if kind else "it has no extension"


def print_hits(results: SearchResults, *, explain: bool) -> None:
    console = SafeConsole()
    if not results.passages:
        echo(_NO_DOCUMENTS, err=True)
    elif not results.hits:
        echo(
            f"Nothing fits: the best passage reaches {results.best:.2f} and {results.threshold:.2f} are needed. "
            "See it with --everything.",
            err=True,
        )
    for hit in results.hits:
        page = f", page {hit.first_page}" if hit.first_page is not None else ""
        console.print(f"[bold]{escape(hit.title)}[/bold]  {hit.confidence:.2f}{page}", highlight=False)
        console.print(f"[cyan]{escape(f'[{hit.citation}]')}[/cyan]", highlight=False, soft_wrap=True)
        if explain:
            parts = ", ".join(f"{each.name} {each.contribution:+.3f}" for each in hit.reasons)
            console.print(f"[dim]{hit.score:.3f} = {escape(parts)}[/dim]", highlight=False)
        console.print(escape(" ".join(hit.text.split())[:_WIDE]), highlight=False)
        console.print()


def print_shown(
    shown: ResolvedCitation | DocumentExcerpt | tuple[SourceOut, list[FailureOut]], *, as_json: bool
) -> None:
    match shown:
        case ResolvedCitation():
            _print_resolved(shown, as_json=as_json)
        case DocumentExcerpt():
            _print_opened(shown, as_json=as_json)
        case (source, failures):
            if as_json:
                print_json({**source.model_dump(), "failures": [each.model_dump() for each in failures]})
                return
            print_source(source, as_json=False)
            every = "Every other file" if source.skipped.count else "Every document"
            print_rows([each.model_dump() for each in failures], as_json=False, empty=f"{every} could be read.")


_CHANGES: dict[str, Callable[[ResolvedCitation], str]] = {
    "current": lambda _: "",
    "moved": lambda shown: f"It has moved to line {shown.opened.first_line if shown.opened else '?'} since.",
    "changed": lambda _: "The document has changed since; this is what was cited.",
    "gone": lambda _: "The document is gone; this is what was cited.",
}


def _print_resolved(shown: ResolvedCitation, *, as_json: bool) -> None:
    if as_json:
        print_json(CitationOut.from_domain(shown).model_dump())
        return
    if note := _CHANGES[shown.state](shown):
        secho(note, fg="yellow", err=True)
    echo(shown.text)


def _print_opened(shown: DocumentExcerpt, *, as_json: bool) -> None:
    if as_json:
        print_json(LinesOut.from_domain(shown).model_dump())
        return
    secho(f"{shown.title} ({shown.lines} lines)", bold=True, err=True)
    echo(shown.text)
