"""Runbooks: Markdown in a controlled language, parsed strictly (`docs/how-to/write-a-runbook.md`)."""

from gaby.mind.runbooks.evaluation import ConditionResult, EvaluationContext, evaluate, matching
from gaby.mind.runbooks.model import Advice, Branch, Runbook, RunbookCall, RunbookProblem, Selector
from gaby.mind.runbooks.parser import document_of, is_runbook, parse_runbook, runbooks

__all__ = [
    "Advice",
    "Branch",
    "ConditionResult",
    "EvaluationContext",
    "Runbook",
    "RunbookCall",
    "RunbookProblem",
    "Selector",
    "document_of",
    "evaluate",
    "is_runbook",
    "matching",
    "parse_runbook",
    "runbooks",
]
