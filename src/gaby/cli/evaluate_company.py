"""`gaby eval run --company`: a whole company's tickets, graded by kind."""

import asyncio
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from rich.progress import Progress

from gaby.cli.console import SafeConsole
from gaby.cli.output import echo, print_json, print_rows, secho
from gaby.evals.companies.company import EvalCompany, read_company
from gaby.evals.companies.player import play_company
from gaby.evals.companies.results import CompanyResult, TicketResult
from gaby.evals.environment import START, FixedWallClock, open_stage
from gaby.settings import Settings


def run_company(
    settings: Settings, folder: Path, only: Sequence[str], *, runbooks: bool, at_once: int
) -> CompanyResult:
    return asyncio.run(_play(settings, read_company(folder, only), runbooks=runbooks, at_once=at_once))


async def _play(settings: Settings, company: EvalCompany, *, runbooks: bool, at_once: int) -> CompanyResult:
    # A server that cannot be told the time has its own, and Gaby's must be the same.
    start = START if company.about.now_variable is not None else datetime.now(UTC)
    with Progress(console=SafeConsole(stderr=True), transient=True, disable=not sys.stderr.isatty()) as bar:
        task = bar.add_task("tickets", total=len(company.tickets))

        def advance_bar(result: TicketResult) -> None:
            bar.update(task, advance=1, description=result.id)

        async with open_stage(settings, FixedWallClock(start)) as stage:
            return await play_company(stage, company, runbooks=runbooks, at_once=at_once, report=advance_bar)


def show_company(result: CompanyResult, *, as_json: bool) -> None:
    if as_json:
        print_json({"summary": result.summary(), "by_kind": result.by_kind(), **result.model_dump()})
        return
    missed = [
        {"ticket": each.id, "kind": each.kind, "grade": each.grade, "what is missing": "; ".join(each.notes)}
        for each in result.tickets
        if each.grade != "right"
    ]
    print_rows(missed, as_json=False, empty="Every ticket is right.")
    echo()
    print_rows(result.by_kind(), as_json=False, empty="")
    echo()
    figures = [{"figure": name, "value": value} for name, value in result.summary().items()]
    print_rows(figures, as_json=False, empty="")
    for each in result.breaches:
        secho(f"{each.id} is {each.grade}: {each.notes[0]}", fg="red", err=True)
