"""Logs: events with fields, as JSON lines, with the ids of the work they belong to and without secrets."""

from gaby.kernel.log.context import WorkContext, bind_request, note_workspace, work_context
from gaby.kernel.log.setup import Level, Log, Style, configure, get_log

__all__ = [
    "Level",
    "Log",
    "Style",
    "WorkContext",
    "bind_request",
    "configure",
    "get_log",
    "note_workspace",
    "work_context",
]
