"""`gaby eval`: whole investigations of written tickets, played, judged and compared."""

import asyncio
import sys
from pathlib import Path
from typing import Annotated

import typer
from rich.progress import Progress

from gaby.cli.console import SafeConsole
from gaby.cli.evaluate_company import run_company, show_company
from gaby.cli.output import AsJson, echo, print_json, print_rows, secho
from gaby.cli.runtime import read_settings
from gaby.evals.comparison import compare as compare_suites
from gaby.evals.comparison import figures
from gaby.evals.environment import open_stage
from gaby.evals.fixtures import Fixture, read_fixtures
from gaby.evals.incidents import RecordedIncident, play_incidents, read_incidents
from gaby.evals.page import render
from gaby.evals.peers import load_driver
from gaby.evals.results import CaseResult, SuiteResult, read_suite
from gaby.evals.suite_runner import run_suite
from gaby.kernel import log
from gaby.kernel.errors import BadRequest
from gaby.settings import Settings

app = typer.Typer(help="Whole investigations, played and judged.", no_args_is_help=True)

FIXTURES = Path("evals/tickets")
Fixtures = Annotated[Path, typer.Option("--fixtures", help="A folder with one folder for each ticket.")]
Only = Annotated[
    list[str] | None, typer.Option("--only", help="Only this fixture or ticket; may be given several times.")
]
Data = Annotated[Path | None, typer.Option("--data", help="Recorded incidents to replay as well; see the how-to.")]
Out = Annotated[Path | None, typer.Option("--out", help="Write all results here, as JSON.")]
Html = Annotated[Path | None, typer.Option("--html", help="Write a page for people here.")]
Peer = Annotated[
    str | None, typer.Option("--peer", help="Another loop than Gaby's: pydantic-ai, or a Python file with a `drive`.")
]
CompanyFolder = Annotated[
    Path | None, typer.Option("--company", help="A folder with a whole company to play instead of the fixtures.")
]
DocsOnly = Annotated[bool, typer.Option("--docs-only", help="With --company: leave its runbooks out.")]
AtOnce = Annotated[int, typer.Option("--at-once", min=1, max=16, help="Cases side by side; 1 gives the truest times.")]
AtLeast = Annotated[float, typer.Option("--at-least", min=0, max=1, help="Fail when a smaller share of cases passes.")]
Strict = Annotated[bool, typer.Option("--strict", help="Fail when any case fails, not only when safety is broken.")]


@app.command()
def run(
    fixtures: Fixtures = FIXTURES,
    only: Only = None,
    data: Data = None,
    out: Out = None,
    html: Html = None,
    peer: Peer = None,
    company: CompanyFolder = None,
    docs_only: DocsOnly = False,
    at_once: AtOnce = 2,
    at_least: AtLeast = 0.0,
    strict: Strict = False,
    as_json: AsJson = False,
) -> None:
    """Play every fixture through the loop and judge what came out. Fails when safety is broken, or without cases."""
    settings = read_settings()
    log.configure(level="error", style=settings.log.format, stream=sys.stderr)
    if company is not None:
        if peer is not None or data is not None or html is not None:
            raise BadRequest("--peer, --data and --html are for fixtures, not for a company.")
        played = run_company(settings, company, only or (), runbooks=not docs_only, at_once=at_once)
        if out is not None:
            out.write_text(played.model_dump_json(indent=1), encoding="utf-8")
        show_company(played, as_json=as_json)
        if played.breaches or played.share_right < (1.0 if strict else at_least):
            raise typer.Exit(1)
        return
    cases = read_fixtures(fixtures, only or ())
    incidents = read_incidents(data) if data is not None else []
    suite = asyncio.run(_play(settings, cases, incidents, peer, at_once))
    if out is not None:
        out.write_text(suite.model_dump_json(indent=1), encoding="utf-8")
    if html is not None:
        html.write_text(render(suite), encoding="utf-8")
    if as_json:
        print_json({"summary": suite.summary(), **suite.model_dump()})
    else:
        _show(suite)
    if suite.breaches or suite.share_passed() < (1.0 if strict else at_least):
        raise typer.Exit(1)


@app.command()
def compare(
    before: Annotated[Path, typer.Argument(help="Results of `gaby eval run --out`.")],
    after: Annotated[Path, typer.Argument(help="Later ones.")],
    as_json: AsJson = False,
) -> None:
    """Show what got better and what got worse between two evaluations. Fails when safety got worse."""
    old, new = read_suite(before), read_suite(after)
    changes = [change._asdict() for change in compare_suites(old, new)]
    if as_json:
        print_json({"figures": figures(old, new), "changes": changes})
    else:
        print_rows(figures(old, new), as_json=False, empty="The two have no figures in common.")
        echo()
        print_rows(changes, as_json=False, empty="No case differs.")
    if len(new.breaches) > len(old.breaches):
        raise typer.Exit(1)


@app.command()
def report(
    results: Annotated[Path, typer.Argument(help="Results of `gaby eval run --out`.")],
    html: Annotated[Path, typer.Option("--html", help="The page to write.")],
) -> None:
    """Write one page about an evaluation that needs nothing from elsewhere."""
    html.write_text(render(read_suite(results)), encoding="utf-8")
    echo(f"Written to {html}.", err=True)


async def _play(
    settings: Settings, cases: list[Fixture], incidents: list[RecordedIncident], peer: str | None, at_once: int
) -> SuiteResult:
    driver, named = load_driver(peer)
    console = SafeConsole(stderr=True)
    with Progress(console=console, transient=True, disable=not sys.stderr.isatty()) as bar:
        task = bar.add_task("investigations", total=len(cases) + len(incidents))

        def advance_bar(result: CaseResult) -> None:
            bar.update(task, advance=1, description=result.name)

        async with open_stage(settings) as stage:
            suite = await run_suite(stage, cases, driver=driver, named=named, at_once=at_once, report=advance_bar)
            if not incidents:
                return suite
            more = await play_incidents(stage, incidents, driver=driver, at_once=at_once, report=advance_bar)
            return suite.model_copy(update={"cases": (*suite.cases, *more)})


def _show(suite: SuiteResult) -> None:
    failing = [
        {"case": case.name, "verdict": case.verdict, "what is wrong": "; ".join(_faults(case))}
        for case in suite.cases
        if not case.passed
    ]
    print_rows(failing, as_json=False, empty="Every case passes.")
    echo()
    summary = [{"figure": name, "value": value} for name, value in suite.summary().items()]
    print_rows(summary, as_json=False, empty="")
    for case in suite.breaches:
        secho(f"Safety was broken in {case.name}.", fg="red", err=True)


def _faults(case: CaseResult) -> list[str]:
    return [f"{fault.mark}: {fault.told}" for fault in case.faults]
