"""Waiting for limits that pass: how long a run may wait, what the timeline is told, and what follows when it is over.

A run that waits holds no worker. It gives its lease back and is taken up again when the wait is over.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta
from math import ceil

from gaby.agent.memory import CallRecord, WorkingMemory
from gaby.agent.persona import Persona
from gaby.agent.transitions import TimelineStep
from gaby.tools import Failed, RetryLater
from gaby_connectors.sdk.manifest import ErrorKind

WAITED_TOO_LONG = "waited_too_long"
"""The rule of a call that was never made, since its run may wait no longer."""
_OWN_LIMIT = "rate_limit"
_TOO_MANY = {_OWN_LIMIT, "connector.rate_limited"}


def wait_seconds(later: Sequence[RetryLater]) -> int:
    """Whole seconds until all of them may be tried again."""
    return max(1, *(ceil(each.seconds) for each in later))


def may_wait(memory: WorkingMemory, persona: Persona, later: RetryLater) -> bool:
    """Whether the whole wait fits into what is left of the run's."""
    seconds = wait_seconds([later])
    if later.rule != _OWN_LIMIT and memory.outage + seconds > persona.outage_seconds:
        return False
    return memory.waited + seconds <= persona.wait_seconds


def outage_seconds(later: Sequence[RetryLater]) -> float:
    """For how long it is the connector or its system that makes the run wait, and not Gaby's own limit."""
    return float(max((ceil(each.seconds) for each in later if each.rule != _OWN_LIMIT), default=0))


def waited_too_long(memory: WorkingMemory, later: RetryLater) -> Failed:
    what = "Too many calls for" if later.rule in _TOO_MANY else "No use of"
    waited = f"waited {_span(memory.waited)}, and " if memory.waited else ""
    message = f"{what} {later.connector}: {waited}it would take {_span(later.seconds)} more. It was not done."
    return Failed(ErrorKind.RATE_LIMITED if later.rule in _TOO_MANY else ErrorKind.TRANSIENT, message)


def wait_step(later: Sequence[RetryLater], until: datetime) -> TimelineStep:
    """The line of the timeline. What a connector said of its own failure is redacted by whoever shows it."""
    names = ", ".join(dict.fromkeys(each.connector for each in later))
    reasons = " ".join(dict.fromkeys(each.reason for each in later))
    # The seconds are rounded up, so that nobody looks before it goes on.
    shown = until + timedelta(seconds=59) if until.second or until.microsecond else until
    return TimelineStep("gaby", f"Waits for {names}", f"{reasons} Goes on at {shown:%H:%M} UTC.", "info")


def missed_calls(calls: Sequence[CallRecord]) -> list[str]:
    """Why calls were not made that would have had to wait for too long, each reason once."""
    return list(dict.fromkeys(call.reason for call in calls if call.rule == WAITED_TOO_LONG))


def _span(seconds: float) -> str:
    if seconds < 90:
        return f"{ceil(seconds)} seconds"
    return f"{round(seconds / 60)} minutes"
