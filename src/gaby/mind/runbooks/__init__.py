"""Runbooks: Markdown that people write anyway, read so that it can be followed (`docs/how-to/write-a-runbook.md`)."""

from gaby.mind.runbooks.book import Advice, Branch, Runbook, Selector, Wanted
from gaby.mind.runbooks.holding import Scene, Shown, chosen, shown
from gaby.mind.runbooks.reading import document_of, runbooks

__all__ = [
    "Advice",
    "Branch",
    "Runbook",
    "Scene",
    "Selector",
    "Shown",
    "Wanted",
    "chosen",
    "document_of",
    "runbooks",
    "shown",
]
