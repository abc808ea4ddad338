"""The quality gate: which resolutions are good enough to be shown to a person as something to learn."""

from dataclasses import dataclass
from datetime import datetime, timedelta

QUIET = timedelta(days=7)
GOOD = 4
"""Of five."""
KEPT = timedelta(days=30)
"""How long a candidate waits for a person."""


@dataclass(frozen=True)
class Resolution:
    """How a ticket was resolved."""

    origin: str
    """The ticket and the run: `ticket inbox-17, run 0192...`."""
    title: str
    problem: str
    resolution: str
    verdict: str
    resolved_at: datetime
    trace: tuple[str, ...] = ()
    """What was looked at and done, one line for each call."""
    rating: int | None = None
    disputed: bool = False


@dataclass(frozen=True)
class GateResult:
    passed: bool
    reason: str
    again_at: datetime | None = None
    """When it may pass if nothing happens until then."""


def gate(resolution: Resolution, *, now: datetime) -> GateResult:
    if resolution.verdict != "auto_resolved":
        return GateResult(passed=False, reason=f"The verdict was {resolution.verdict}, not auto_resolved.")
    if resolution.disputed:
        return GateResult(passed=False, reason="Somebody disputed it.")
    if not resolution.resolution.strip() or not resolution.problem.strip():
        return GateResult(passed=False, reason="It does not say what the problem was and what solved it.")
    if resolution.rating is not None:
        return GateResult(passed=resolution.rating >= GOOD, reason=f"It was rated {resolution.rating} of 5.")
    quiet_at = resolution.resolved_at + QUIET
    if now < quiet_at:
        return GateResult(passed=False, reason="It is younger than 7 days and nobody rated it.", again_at=quiet_at)
    return GateResult(passed=True, reason="Nobody disputed it within 7 days.")
