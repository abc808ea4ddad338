"""Scripted model vendors for the tests: real wire formats, scripted answers."""

from tests.support.models.billing import Bill
from tests.support.models.http_server import Received
from tests.support.models.replies import (
    AnyReply,
    Body,
    Call,
    Garbage,
    Gate,
    Reply,
    Status,
    call,
    calls,
    hang,
    html,
    redirect,
    refusal,
    structured,
)
from tests.support.models.scripted_vendors import KEY, MODELS, ScriptedModels, scripted_models

__all__ = [
    "KEY",
    "MODELS",
    "AnyReply",
    "Bill",
    "Body",
    "Call",
    "Garbage",
    "Gate",
    "Received",
    "Reply",
    "ScriptedModels",
    "Status",
    "call",
    "calls",
    "hang",
    "html",
    "redirect",
    "refusal",
    "scripted_models",
    "structured",
]
