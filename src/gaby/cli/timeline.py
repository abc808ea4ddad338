"""How commands print the timeline of an investigation."""

from rich.console import Console
from rich.markup import escape

from gaby.agent.schemas import StepOut

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


def print_step(console: Console, step: StepOut, *, label: str = "") -> None:
    if step.kind == "quiet":
        return
    colour = _COLOURS.get(step.kind, "default")
    detail = step.detail if len(step.detail) <= _LONG else f"{step.detail[:_LONG]} ..."
    before = f"[dim]{step.at:%H:%M:%S}[/dim] {escape(label)}"
    console.print(
        f"{before}[{colour}]{escape(step.system)}: {escape(step.action)}[/{colour}]  {escape(detail)}", highlight=False
    )
