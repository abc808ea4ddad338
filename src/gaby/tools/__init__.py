"""The one path to a tool: decide, record the intent, act, record the outcome."""

from typing import TYPE_CHECKING

from gaby.kernel.lazy_exports import lazy_exports

if TYPE_CHECKING:
    from gaby.tools.runs import Asked, Denied, Done, Failed, RetryLater, Run, Simulated, ToolCall, ToolOutcome, Unknown
    from gaby.tools.service import ToolDependencies, Tools, ToolSettings, build_tools

__all__ = [
    "Asked",
    "Denied",
    "Done",
    "Failed",
    "RetryLater",
    "Run",
    "Simulated",
    "ToolCall",
    "ToolDependencies",
    "ToolOutcome",
    "ToolSettings",
    "Tools",
    "Unknown",
    "build_tools",
]

__getattr__ = lazy_exports(
    __name__,
    {
        "runs": (
            "Asked",
            "Denied",
            "Done",
            "Failed",
            "RetryLater",
            "Run",
            "Simulated",
            "ToolCall",
            "ToolOutcome",
            "Unknown",
        ),
        "service": ("ToolDependencies", "Tools", "ToolSettings", "build_tools"),
    },
)
