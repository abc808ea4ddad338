"""The one path to a tool: decide, record the intent, act, record the outcome."""

from gaby.tools.runs import Asked, Call, Denied, Done, Failed, RetryLater, Run, Simulated, ToolOutcome, Unknown
from gaby.tools.service import Ground, Tools, ToolSettings, build_tools

__all__ = [
    "Asked",
    "Call",
    "Denied",
    "Done",
    "Failed",
    "Ground",
    "RetryLater",
    "Run",
    "Simulated",
    "ToolOutcome",
    "ToolSettings",
    "Tools",
    "Unknown",
    "build_tools",
]
