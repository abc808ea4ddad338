"""A runbook as it is followed: its steps, for each cause its conditions and what is to be done, and its errors."""

from dataclasses import dataclass
from typing import Literal

from gaby.mind.runbooks.conditions import Condition, FieldRef, FieldTest
from gaby.mind.tool_names import short_name


@dataclass(frozen=True)
class ConstantValue:
    """A value that the runbook writes itself."""

    text: str


@dataclass(frozen=True)
class RequesterAddress:
    """The address that the ticket came from, or what stands behind its @."""

    only_domain: bool = False


@dataclass(frozen=True)
class TicketIdValue:
    """What the desk calls the ticket."""


@dataclass(frozen=True)
class ResultField:
    """A field of what an earlier step gave."""

    ref: FieldRef


@dataclass(frozen=True)
class TicketValue:
    """A value in the ticket's text; exactly one may fit the pattern."""

    name: str
    """What it is called, to ask the requester for it."""
    pattern: str = ""
    """Of the runbook. Left out: that of the argument's schema."""


ArgumentSource = ConstantValue | RequesterAddress | TicketIdValue | ResultField | TicketValue


@dataclass(frozen=True)
class Selector:
    """`for each device whose `status` is `offline``, `for the charge with the highest `attempt``."""

    nouns: frozenset[str]
    words: str
    tests: tuple[FieldTest, ...] = ()
    extreme: Literal["highest", "lowest"] | None = None
    by: str = ""
    """The field that is highest or lowest."""
    each: bool = False


@dataclass(frozen=True)
class RunbookCall:
    """A call that a runbook asks for."""

    tool: str
    """As it is written, mostly without a connector."""
    given: tuple[tuple[str, ArgumentSource], ...] = ()
    """Arguments with where the runbook says that their values come from."""
    of: Selector | None = None
    words: str = ""
    citation: str = ""
    consent: str = ""
    hands_over: bool = False
    """It only tells colleagues, and puts nothing right."""
    line: int = 0


@dataclass(frozen=True)
class Advice:
    """A sentence for somebody."""

    text: str
    citation: str
    later: bool = False
    """Only after the change was made."""
    line: int = 0


@dataclass(frozen=True)
class Branch:
    conditions: tuple[tuple[Condition, ...], ...] = ()
    """One group must hold. None at all: it is for when nothing else holds."""
    cause: str = ""
    details: tuple[Advice, ...] = ()
    """Notes for colleagues."""
    wanted: tuple[RunbookCall, ...] = ()
    told: tuple[Advice, ...] = ()
    """What the requester should know."""
    asked: tuple[Advice, ...] = ()
    """What the requester has to do or to tell."""
    handed: tuple[Advice, ...] = ()
    """Which colleagues have to do something."""
    security: bool = False
    slow: bool = False
    """What is done shows only later."""
    settles: bool = False
    """What is done is the remedy itself, and nothing that was read shows it: a refund, a mail that is sent again."""
    citation: str = ""
    line: int = 0
    words: str = ""
    """The condition as it is written."""


@dataclass(frozen=True)
class RunbookProblem:
    """What is wrong with a line of a runbook, and what to write instead."""

    line: int
    text: str
    why: str
    hint: str = ""

    @property
    def message(self) -> str:
        return f"line {self.line}: {self.why}"


@dataclass(frozen=True)
class Runbook:
    key: str
    """The document."""
    title: str
    about: str
    """What it is for, in its own words."""
    steps: tuple[RunbookCall, ...] = ()
    branches: tuple[Branch, ...] = ()
    rank: int = 0
    """The place of its page among all that were found."""
    citations: tuple[str, ...] = ()
    symptoms: tuple[str, ...] = ()
    """Phrases in which people complain, in any language."""
    declared: bool = False
    errors: tuple[RunbookProblem, ...] = ()
    """With any of them the runbook is not followed."""

    @property
    def tools(self) -> frozenset[str]:
        """Short names of all that it asks for."""
        wanted = (*self.steps, *(each for branch in self.branches for each in branch.wanted))
        return frozenset(short_name(each.tool) for each in wanted)
