"""`gaby usage`: what models cost, and what they may cost."""

from collections.abc import Callable
from datetime import date, timedelta
from operator import attrgetter
from typing import Annotated, Any

import typer
from rich.markup import escape
from rich.table import Table

from gaby.app import Gaby
from gaby.cli.console import SafeConsole
from gaby.cli.output import AsJson, echo, print_json, print_rows
from gaby.cli.runtime import run
from gaby.cli.workspace_option import InWorkspace, operator_in
from gaby.kernel.errors import BadRequest
from gaby.usage.budgets import LimitChange
from gaby.usage.limits import BudgetLimits
from gaby.usage.models import LlmCall
from gaby.usage.plans import PlanName
from gaby.usage.reports import ReportGrouping, UsageLine, calls, report, total
from gaby.usage.schemas import LimitsOut, ModelCallOut, UsageLineOut

app = typer.Typer(help="What models cost, and what they may cost.")

_BAR = 20
_EIGHTHS = " ▏▎▍▌▋▊▉█"


@app.callback(invoke_without_command=True)
def usage(
    context: typer.Context,
    by: Annotated[ReportGrouping, typer.Option(help="What to add up by.")] = ReportGrouping.DAY,
    days: Annotated[int, typer.Option(min=1, max=400, help="How many days, until today.")] = 14,
    workspace: InWorkspace = None,
    as_json: AsJson = False,
) -> None:
    """Show what was spent, with a chart."""
    if context.invoked_subcommand is not None:
        return

    async def load_usage(gaby: Gaby) -> tuple[list[UsageLine], UsageLine, BudgetLimits]:
        actor = await operator_in(gaby, workspace)
        last = gaby.usage.today()
        first = last - timedelta(days=days - 1)
        async with gaby.database.read(actor.workspace_id) as session:
            lines = await report(session, first, last, by)
            return lines, await total(session, first, last), await gaby.usage.budget_ledger.limits_in(session)

    lines, sums, limits = run(load_usage)
    if as_json:
        rows = [UsageLineOut.from_domain(line).model_dump() for line in lines]
        print_json(
            {
                "total": UsageLineOut.from_domain(sums).model_dump(),
                "lines": rows,
                "limits": LimitsOut.from_domain(limits).model_dump(),
            }
        )
        return
    if not lines:
        echo(f"Nothing was asked in {days} days.", err=True)
        return
    _draw(lines, sums, by)


@app.command("calls")
def list_calls(
    limit: Annotated[int, typer.Option(min=1, max=500)] = 20, workspace: InWorkspace = None, as_json: AsJson = False
) -> None:
    """List single calls, the newest first."""

    async def load_calls(gaby: Gaby) -> list[LlmCall]:
        actor = await operator_in(gaby, workspace)
        async with gaby.database.read(actor.workspace_id) as session:
            return list(await calls(session, limit=limit))

    model_calls = [ModelCallOut.from_domain(call) for call in run(load_calls)]
    rows = [call.model_dump() if as_json else _short(call) for call in model_calls]
    print_rows(rows, as_json=as_json, empty="No calls yet.")


@app.command("limits")
def show_limits(workspace: InWorkspace = None, as_json: AsJson = False) -> None:
    """Show the plan and the limits that count."""

    async def load_limits(gaby: Gaby) -> BudgetLimits:
        return await gaby.usage.budget_ledger.limits((await operator_in(gaby, workspace)).workspace_id)

    _print_limits(run(load_limits), as_json=as_json)


@app.command("limit")
def change_limit(
    run_tokens: Annotated[str | None, typer.Option(help="Tokens for one task.")] = None,
    run_usd: Annotated[str | None, typer.Option(help="Dollars for one task.")] = None,
    day_tokens: Annotated[str | None, typer.Option(help="Tokens for a day.")] = None,
    day_usd: Annotated[str | None, typer.Option(help="Dollars for a day.")] = None,
    month_tokens: Annotated[str | None, typer.Option(help="Tokens for a month.")] = None,
    month_usd: Annotated[str | None, typer.Option(help="Dollars for a month.")] = None,
    workspace: InWorkspace = None,
    as_json: AsJson = False,
) -> None:
    """Set limits of a workspace. The word `usual` goes back to the installation's."""
    texts = {
        "run_tokens": run_tokens,
        "run_usd": run_usd,
        "day_tokens": day_tokens,
        "day_usd": day_usd,
        "month_tokens": month_tokens,
        "month_usd": month_usd,
    }
    given = {name: text for name, text in texts.items() if text is not None}
    if not given:
        raise BadRequest("Say which limit, as in --day-usd 5.")
    numbers: dict[str, Any] = {name: _number(name, text) for name, text in given.items() if text != "usual"}
    change = LimitChange(**numbers, usual=frozenset(given) - numbers.keys())

    async def store_limits(gaby: Gaby) -> BudgetLimits:
        actor = await operator_in(gaby, workspace)
        async with gaby.database.write(actor.workspace_id) as session:
            await gaby.usage.budgets.change(session, actor, change)
            return await gaby.usage.budget_ledger.limits_in(session)

    _print_limits(run(store_limits), as_json=as_json)


@app.command("plan")
def set_plan(
    plan: Annotated[str, typer.Argument(help="free, starter, pro, business; `usual` for the installation's.")],
    workspace: InWorkspace = None,
    as_json: AsJson = False,
) -> None:
    """Set a workspace's plan: which tiers of models, and how many tasks a month."""
    if plan not in {*PlanName, "usual"}:
        raise BadRequest(f"There is no plan {plan!r}. There are: {', '.join(PlanName)}.")

    async def store_plan(gaby: Gaby) -> BudgetLimits:
        actor = await operator_in(gaby, workspace)
        async with gaby.database.write(actor.workspace_id) as session:
            await gaby.usage.budgets.set_plan(session, actor, None if plan == "usual" else PlanName(plan))
            return await gaby.usage.budget_ledger.limits_in(session)

    _print_limits(run(store_plan), as_json=as_json)


def _short(call: ModelCallOut) -> dict[str, Any]:
    return {
        "when": f"{call.created_at:%m-%d %H:%M:%S}",
        "skill": call.skill,
        "model": call.model,
        "state": f"{call.state}: {call.error}" if call.error else call.state,
        "in": call.input_tokens + call.cache_read_tokens + call.cache_write_tokens,
        "out": call.output_tokens,
        "usd": None if call.usd is None else f"{call.usd:.5f}",
        "ms": call.milliseconds,
    }


def _number(name: str, text: str) -> float:
    try:
        return int(text) if name.endswith("tokens") else float(text)
    except ValueError:
        raise BadRequest(f"{name} cannot be {text!r}. Write a number, or `usual`.") from None


def _print_limits(limits: BudgetLimits, *, as_json: bool) -> None:
    shown = LimitsOut.from_domain(limits).model_dump()
    if as_json:
        print_json(shown)
    else:
        print_rows(
            [{"what": name, "limit": _limit_text(value)} for name, value in shown.items()], as_json=False, empty=""
        )


def _limit_text(value: Any) -> Any:
    return "no limit" if value is None else value


def _draw(lines: list[UsageLine], sums: UsageLine, by: ReportGrouping) -> None:
    table = Table(box=None, pad_edge=False, header_style="bold", show_footer=True)
    table.add_column(by.value, "total")
    table.add_column("", "")
    for name in ("calls", "offline", "tokens", "cached", "usd"):
        table.add_column(name, _cells(sums)[name], justify="right")
    measure = _measure(sums)
    most = max((measure(line) for line in lines), default=0) or 1
    for line in _with_gaps(lines) if by is ReportGrouping.DAY else sorted(lines, key=measure, reverse=True):
        cells = _cells(line)
        table.add_row(escape(line.name), f"[cyan]{_bar(measure(line) / most)}[/]", *cells.values())
    SafeConsole().print(table)
    if sums.unpriced:
        echo(f"The price of {sums.unpriced} calls is not known; `gaby model price` sets one.", err=True)


def _measure(sums: UsageLine) -> Callable[[UsageLine], int]:
    """Bars show money where there is any, else tokens, else answers."""
    if sums.nano_usd:
        return attrgetter("nano_usd")
    return attrgetter("tokens") if sums.tokens else (lambda line: line.calls + line.offline)


def _cells(line: UsageLine) -> dict[str, str]:
    return {
        "calls": f"{line.calls:,}",
        "offline": f"{line.offline:,}",
        "tokens": f"{line.tokens:,}",
        "cached": f"{line.cache_read_tokens:,}",
        "usd": f"${line.nano_usd / 1e9:,.4f}",
    }


def _with_gaps(lines: list[UsageLine]) -> list[UsageLine]:
    """Also the days on which nothing happened."""
    by_name = {line.name: line for line in lines}
    first, last = date.fromisoformat(min(by_name)), date.fromisoformat(max(by_name))
    names = [(first + timedelta(days=day)).isoformat() for day in range((last - first).days + 1)]
    return [by_name.get(name, UsageLine(name, *[0] * 9)) for name in names]


def _bar(share: float) -> str:
    eighths = round(share * _BAR * 8)
    full, rest = divmod(eighths, 8)
    return "█" * full + (_EIGHTHS[rest] if rest else "")
