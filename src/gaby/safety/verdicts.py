"""A verdict: what may happen with a call, by which rule, and why, in words for a person."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

OutcomeName = Literal["allow", "ask", "simulate", "wait", "deny"]


@dataclass(frozen=True)
class Quote:
    """Where a value was seen: the source in a person's words, and the words around the value."""

    source: str
    excerpt: str


@dataclass(frozen=True)
class Concern:
    """One reason to ask a person."""

    rule: str
    reason: str
    argument: str | None = None
    quotes: tuple[Quote, ...] = ()


@dataclass(frozen=True)
class Verdict:
    outcome: OutcomeName
    rule: str
    reason: str
    concerns: tuple[Concern, ...] = ()
    rehearse: bool = False
    """Whether the person who is asked can be shown a rehearsal."""
    retry_after: float = 0.0
    """With `wait`: after how many seconds it is decided anew."""


def allow(rule: str, reason: str) -> Verdict:
    return Verdict("allow", rule, reason)


def deny(rule: str, reason: str) -> Verdict:
    return Verdict("deny", rule, reason)


def simulate(rule: str, reason: str) -> Verdict:
    return Verdict("simulate", rule, reason)


def wait(rule: str, reason: str, *, retry_after: float) -> Verdict:
    """It would be allowed, but not now."""
    return Verdict("wait", rule, reason, retry_after=retry_after)


def ask(concerns: Sequence[Concern], *, rehearse: bool) -> Verdict:
    """The first concern gives the rule; all of them are shown."""
    return Verdict("ask", concerns[0].rule, " ".join(c.reason for c in concerns), tuple(concerns), rehearse)
