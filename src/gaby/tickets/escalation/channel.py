"""What reaches a person when Gaby cannot finish a ticket, and how."""

from dataclasses import dataclass
from typing import Protocol

from gaby.kernel.outcomes import Verdict

VERDICTS: dict[Verdict, str] = {
    "auto_resolved": "resolved by itself",
    "needs_tech": "needs a technician",
    "needs_client": "waits for the client",
    "needs_l2": "needs the second level",
    "failed": "could not be investigated",
    "skipped": "was left alone",
    "failed_budget": "stopped at the limit of its budget",
}


@dataclass(frozen=True)
class Escalation:
    id: str
    """The marker, the same each time this is sent, so that a receiver knows a second copy."""
    verdict: Verdict
    title: str
    """Of the ticket, as its author wrote it."""
    link: str
    """To the ticket, or empty."""
    reasons: tuple[str, ...] = ()
    summary: str = ""
    """Markdown with its citations."""
    steps: tuple[str, ...] = ()
    """Lines of the timeline."""
    investigation: str = "{}"
    """All of it, as JSON text."""


class EscalationChannel(Protocol):
    async def send(self, escalation: Escalation) -> None:
        """`DeskUnavailable`, `DeskRefused`, or `DeskOutcomeUnknown` when nobody knows whether it arrived."""
        ...
