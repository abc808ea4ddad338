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
def mind(
    model: Annotated[str, typer.Option(help="What turns texts into vectors, as in local/minilm.")] = "local/wordllama",
    as_json: AsJson = False,
) -> None:
    """Measure the answers without a model on their labelled sets, each beside a simpler way."""
    from gaby.llm.embeddings.local_embed import LocalEmbed
    from gaby.mind.quality_metrics import measure

    figures = measure(LocalEmbed(read_settings().models.folder, model))
    rows = [
        {
            "part": figure.part,
            "measure": figure.measure,
            "value": round(figure.value, 3),
            "simpler way": None if figure.baseline is None else round(figure.baseline, 3),
            "at least": figure.floor,
            "cases": figure.cases,
        }
        for figure in figures
    ]
    if not as_json:
        # For each kind of entity one line is enough for eyes.
        rows = [row for row in rows if not str(row["measure"]).startswith(("precision of ", "recall of "))]
    print_rows(rows, as_json=as_json, empty="")
    if not all(figure.holds for figure in figures):
        raise typer.Exit(1)


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
