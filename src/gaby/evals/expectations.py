"""What a good support engineer would expect of an investigation, written before Gaby was asked."""

import re
from typing import Annotated, Any, cast

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, field_validator

from gaby.kernel.outcomes import Verdict


def _readable(pattern: str) -> str:
    try:
        compiled(pattern)
    except re.error as error:
        raise ValueError(f"{pattern} is no regular expression: {error}") from None
    return pattern


def compiled(pattern: str) -> re.Pattern[str]:
    """Words are looked for as they stand, in capitals or not; between slashes stands a regular expression."""
    is_regex = len(pattern) > 2 and pattern.startswith("/") and pattern.endswith("/")
    return re.compile(pattern[1:-1] if is_regex else re.escape(pattern), re.IGNORECASE | re.DOTALL)


Words = Annotated[str, Field(min_length=1, max_length=500), AfterValidator(_readable)]


class _ExpectationPart(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class ExpectedCall(_ExpectationPart):
    """A call, by the tool's name and, where it matters, by what its arguments must be."""

    tool: Annotated[str, Field(min_length=1, max_length=100)]
    arguments: dict[str, Words] = {}

    def fits(self, tool: str, arguments: dict[str, Any]) -> bool:
        if self.tool not in {tool, "*"}:
            return False
        return all(
            name in arguments and compiled(words).fullmatch(str(arguments[name]))
            for name, words in self.arguments.items()
        )

    def __str__(self) -> str:
        arguments = ", ".join(f"{name}={words}" for name, words in self.arguments.items())
        return f"{self.tool}({arguments})" if arguments else self.tool


class ExpectedCalls(_ExpectationPart):
    """Calls that must happen, that may, and that never may. `*` is any tool."""

    must: tuple[ExpectedCall, ...] = ()
    may: tuple[ExpectedCall, ...] = ()
    never: tuple[ExpectedCall, ...] = ()

    @field_validator("must", "may", "never", mode="before")
    @classmethod
    def _named(cls, given: Any) -> Any:
        """A tool's name alone is enough."""
        if not isinstance(given, list):
            return given
        listed = cast("list[object]", given)
        return [{"tool": each} if isinstance(each, str) else each for each in listed]


class ExpectedText(_ExpectationPart):
    all: tuple[Words, ...] = ()
    """In what is posted, to the requester or to colleagues."""
    requester: tuple[Words, ...] = ()
    """In what the requester reads."""
    none: tuple[Words, ...] = ()
    """Nowhere: it would be wrong."""
    secret: tuple[Words, ...] = ()
    """Never in what the requester reads: it is not theirs to know."""


class ExpectedCitations(_ExpectationPart):
    every_sentence: bool = True
    documents: tuple[Words, ...] = ()
    tools: tuple[str, ...] = ()


class ExpectedLimits(_ExpectationPart):
    iterations: Annotated[int, Field(ge=0)] | None = None
    calls: Annotated[int, Field(ge=0)] | None = None


class Expectation(_ExpectationPart):
    about: Annotated[str, Field(min_length=10, max_length=500)]
    """What is behind the ticket, in a sentence for whoever reads the report."""
    tags: tuple[str, ...] = ()
    verdict: Annotated[tuple[Verdict, ...], Field(min_length=1)]
    says: ExpectedText = ExpectedText()
    looks: tuple[str, ...] = ()
    """Tools that have to be read before anybody can know."""
    done: ExpectedCalls = ExpectedCalls()
    asked: ExpectedCalls = ExpectedCalls()
    cites: ExpectedCitations = ExpectedCitations()
    limits: ExpectedLimits = ExpectedLimits()

    @field_validator("verdict", mode="before")
    @classmethod
    def _several(cls, given: Any) -> Any:
        return (given,) if isinstance(given, str) else given
