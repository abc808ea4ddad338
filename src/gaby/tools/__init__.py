"""The one path to a tool: decide, record the intent, act, record the outcome."""

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
