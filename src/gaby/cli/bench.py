"""`gaby bench`: how good Gaby is, measured here."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from gaby.cli.output import AsJson, print_json, print_rows
from gaby.cli.runtime import read_settings

app = typer.Typer(help="How good Gaby is, measured here.", no_args_is_help=True)


@app.callback()
def bench() -> None:
    """How good Gaby is, measured here."""


@app.command()
def retrieval(
    corpus: Annotated[Path, typer.Option(help='Documents: lines of {"id", "title", "text"}.')],
    queries: Annotated[Path, typer.Option(help='Questions: lines of {"id", "query", "relevant": [...]}.')],
    group: Annotated[
        bool, typer.Option("--group", help='Search only among documents with the same "group" as the question.')
    ] = False,
    model: Annotated[str, typer.Option(help="What turns texts into vectors, as in local/both.")] = "local/wordllama",
    as_json: AsJson = False,
) -> None:
    """Measure how well documents of your own are found, beside plain BM25."""
    from gaby.cli.bench_retrieval import measure
    from gaby.kernel import log

    log.configure(level="warning", style="console", stream=sys.stderr)
    figures = measure(corpus, queries, grouped=group, model=model, folder=read_settings().models.folder)
    if as_json:
        print_json(figures)
        return
    plain = figures.pop("plain BM25")
    rows = [{"figure": name, "value": value, "plain BM25": plain.get(name)} for name, value in figures.items()]
    print_rows(rows, as_json=False, empty="")
