"""A runbook as it is followed: what to look at, and for each cause its conditions and what is to be done."""

from dataclasses import dataclass
from typing import Literal

from gaby.mind.runbooks.conditions import Condition, Test


@dataclass(frozen=True)
class Selector:
    """`for each device whose `status` is `offline`, `for the charge with the highest `attempt``."""

    nouns: frozenset[str]
    tests: tuple[Test, ...] = ()
    extreme: Literal["highest", "lowest"] | None = None
    by: str = ""
    """The field that is highest or lowest."""
    each: bool = False


@dataclass(frozen=True)
class Wanted:
    """A call that a runbook asks for."""

    tool: str
    """As it is written, mostly without a connector."""
    given: tuple[tuple[str, str], ...] = ()
    """Arguments with the words that say what they are."""
    of: Selector | None = None
    words: str = ""
    citation: str = ""
    consent: str = ""
    hands_over: bool = False
    """It only tells colleagues, and puts nothing right."""


@dataclass(frozen=True)
class Advice:
    """A sentence for somebody."""

    text: str
    citation: str
    later: bool = False
    """Only after the change was made."""


@dataclass(frozen=True)
class Branch:
    conditions: tuple[tuple[Condition, ...], ...] = ()
    """One group must hold. None at all: it is for when nothing else holds."""
    cause: str = ""
    details: tuple[Advice, ...] = ()
    wanted: tuple[Wanted, ...] = ()
    told: tuple[Advice, ...] = ()
    """What the requester should know."""
    asked: tuple[Advice, ...] = ()
    """What the requester has to do or to tell."""
    handed: tuple[Advice, ...] = ()
    """Which colleagues have to do something."""
    security: bool = False
    slow: bool = False
    """What is done shows only later."""
    citation: str = ""


@dataclass(frozen=True)
class Runbook:
    key: str
    """The document."""
    title: str
    about: str
    """What it is for, in its own words."""
    steps: tuple[Wanted, ...] = ()
    branches: tuple[Branch, ...] = ()
    rank: int = 0
    """The place of its best passage among all that were found."""
    citations: tuple[str, ...] = ()
