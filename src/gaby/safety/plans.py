"""The plan lock: a plan that is fixed before outside content is read limits what may be changed. Widening it asks."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

Shape = Literal["fixed", "found", "free"]
"""`fixed`: exactly this value. `found`: whatever a look-up yields, if it is vouched for. `free`: text to be written."""


@dataclass(frozen=True)
class PlannedArgument:
    shape: Shape
    value: Any = None


@dataclass(frozen=True)
class PlannedCall:
    tool: str
    """With its connector: `directory.unlock_user`."""
    arguments: Mapping[str, PlannedArgument]
    times: int = 1


@dataclass(frozen=True)
class Plan:
    calls: tuple[PlannedCall, ...]

    def widening(self, tool: str, arguments: Mapping[str, Any], done: int) -> str | None:
        """Why a change goes beyond the plan, or nothing if it does not. `done` counts its earlier uses."""
        planned = [call for call in self.calls if call.tool == tool]
        if not planned:
            return f"The plan does not use {tool}."
        if done >= sum(call.times for call in planned):
            return f"The plan uses {tool} only {sum(call.times for call in planned)} time(s)."
        if not any(_fits(call, arguments) for call in planned):
            return f"The arguments are not those that the plan foresees for {tool}."
        return None


def _fits(planned: PlannedCall, arguments: Mapping[str, Any]) -> bool:
    if not set(arguments) <= set(planned.arguments):
        return False
    return all(
        planned.arguments[name].shape != "fixed" or planned.arguments[name].value == value
        for name, value in arguments.items()
    )
