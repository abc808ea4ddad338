"""How commands print the timeline of an investigation."""

from rich.markup import escape

from gaby.agent.run_schemas import StepOut
from gaby.cli.console import SafeConsole
from gaby.cli.output import one_line

_COLOURS = {
    "thought": "cyan",
    "search": "blue",
    "read": "green",
    "write": "yellow",
    "approval": "magenta",
    "verdict": "bold",
    "post": "green",
    "problem": "red",
}
_LONG = 160


def print_step(console: SafeConsole, step: StepOut, *, label: str = "") -> None:
    if step.kind == "quiet":
        return
    colour = _COLOURS.get(step.kind, "default")
    detail = one_line(step.detail if len(step.detail) <= _LONG else f"{step.detail[:_LONG]} ...")
    what = escape(one_line(f"{step.system}: {step.action}"))
    before = f"[dim]{step.at:%H:%M:%S}[/dim] {escape(one_line(label))}"
    console.print(f"{before}[{colour}]{what}[/{colour}]  {escape(detail)}", highlight=False)
