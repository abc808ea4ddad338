"""What is said of runbooks, for the command line and over HTTP."""

from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from gaby.kernel.text import CleanText

if TYPE_CHECKING:
    # The mind is heavy, and the shapes of the API are loaded by every command.
    from gaby.mind.runbooks import Branch, Runbook, RunbookCall
    from gaby.mind.runbooks.checks import CheckedProblem
    from gaby.mind.runbooks.model import ArgumentSource


class ProblemOut(BaseModel):
    severity: Literal["error", "warning"]
    line: int
    text: str
    why: str
    hint: str

    @classmethod
    def from_domain(cls, checked: "CheckedProblem") -> "ProblemOut":
        each = checked.problem
        return cls(severity=checked.severity, line=each.line, text=each.text, why=each.why, hint=each.hint)


class RunbookCallOut(BaseModel):
    line: int
    tool: str
    arguments: dict[str, str] = Field(description="Where the runbook says that their values come from.")
    things: str = Field(description="Which things it is for, in words; empty if it is made once.")
    consent: str = Field(description="What a person has to confirm first.")
    hands_over: bool

    @classmethod
    def from_domain(cls, call: "RunbookCall") -> "RunbookCallOut":
        things = ""
        if call.of is not None:
            by = f" with the {call.of.extreme} {call.of.by}" if call.of.extreme else ""
            tests = f" whose {' and '.join(each.words for each in call.of.tests)}" if call.of.tests else ""
            things = f"{'each' if call.of.each else 'the'} {call.of.words}{by}{tests}"
        return cls(
            line=call.line,
            tool=call.tool,
            arguments={name: _source(source) for name, source in call.given},
            things=things,
            consent=call.consent,
            hands_over=call.hands_over,
        )


class CauseOut(BaseModel):
    line: int
    condition: str = Field(description="Empty: it is for when no condition holds.")
    groups: list[list[str]] = Field(description="One of these must hold as a whole.")
    cause: str
    calls: list[RunbookCallOut]
    tells: list[str]
    asks: list[str]
    hands_to: list[str]
    notes: list[str]
    security: bool
    takes_time: bool
    settles: bool = Field(description="The change is the remedy itself, and nothing is looked at again.")

    @classmethod
    def from_domain(cls, branch: "Branch") -> "CauseOut":
        from gaby.mind.runbooks.statements import TELLS

        return cls(
            line=branch.line,
            condition=branch.words,
            groups=[list(dict.fromkeys(each.words for each in group)) for group in branch.conditions],
            cause=branch.cause,
            calls=[RunbookCallOut.from_domain(each) for each in branch.wanted],
            tells=[
                f"{'(afterwards) ' if each.later else ''}{TELLS.sub('', each.text, count=1)}" for each in branch.told
            ],
            asks=[each.text for each in branch.asked],
            hands_to=[each.text for each in branch.handed],
            notes=[each.text for each in branch.details],
            security=branch.security,
            takes_time=branch.slow,
            settles=branch.settles,
        )


class RunbookOut(BaseModel):
    """What was understood of a page, and what not."""

    name: str
    title: str
    is_runbook: bool
    declared: bool
    about: str
    symptoms: list[str]
    steps: list[RunbookCallOut]
    causes: list[CauseOut]
    problems: list[ProblemOut]

    @property
    def errors(self) -> int:
        return sum(each.severity == "error" for each in self.problems)

    @classmethod
    def from_domain(
        cls, name: str, runbook: "Runbook", problems: "list[CheckedProblem]", *, is_runbook: bool
    ) -> "RunbookOut":
        return cls(
            name=name,
            title=runbook.title,
            is_runbook=is_runbook,
            declared=runbook.declared,
            about=runbook.about,
            symptoms=list(runbook.symptoms),
            steps=[RunbookCallOut.from_domain(each) for each in runbook.steps],
            causes=[CauseOut.from_domain(each) for each in runbook.branches],
            problems=[ProblemOut.from_domain(each) for each in problems],
        )


class ListedRunbookOut(BaseModel):
    page: str
    title: str
    state: Literal["declared", "recognised", "with errors"]
    errors: int
    warnings: int
    first_error: str


class RunbookIn(BaseModel):
    model_config = ConfigDict(extra="forbid")

    text: Annotated[str, CleanText(max_length=50_000), Field(description="The page, as Markdown.")]
    name: Annotated[str, CleanText(max_length=300, one_line=True)] = "page"


class RunbookDraftOut(BaseModel):
    text: str
    open_lines: int = Field(description="How many lines a person still has to write.")


class TrialCallOut(BaseModel):
    tool: str
    arguments: dict[str, Any]
    why: str
    outcome: str = Field(description="done, or for a change what would have come of it.")
    reason: str
    result: Any


class TrialConditionOut(BaseModel):
    condition: str
    holds: bool | None
    values: list[str]
    why: str


class TrialCauseOut(BaseModel):
    line: int
    condition: str
    holds: bool | None
    conditions: list[TrialConditionOut]


class WithheldOut(BaseModel):
    """A change that the runbook asks for and that would not be made."""

    tool: str
    arguments: dict[str, Any] = Field(description="Empty where they could not be told.")
    why: str


class LiveChoiceOut(BaseModel):
    """The runbook of the workspace that an investigation of the ticket would follow."""

    this: bool = Field(description="It is the one that was tried.")
    runbook: str = Field(description="Its title. Empty: no runbook would be followed.")
    page: str = Field(description="Where it stands. Empty for the one that was tried.")
    fit: float = Field(description="How well the ticket fits it, from 0 to 1.")


class TrialOut(BaseModel):
    """How a runbook went on a ticket. Nothing was changed."""

    runbook: str
    fit: float = Field(description="How well the ticket fits it, from 0 to 1; from 0.3 on it would be followed.")
    followed: bool
    live: LiveChoiceOut
    calls: list[TrialCallOut]
    withheld: list[WithheldOut]
    causes: list[TrialCauseOut]
    cause: str
    verdict: str
    reasons: list[str]
    reply: list[str]
    notes: list[str]


def _source(source: "ArgumentSource") -> str:
    from gaby.mind.runbooks.model import ConstantValue, RequesterAddress, ResultField, TicketIdValue, TicketValue

    match source:
        case ConstantValue(text=text):
            return f"`{text}`"
        case RequesterAddress(only_domain=only_domain):
            return "the domain of the requester's address" if only_domain else "the requester's address"
        case TicketIdValue():
            return "the ticket's id"
        case ResultField(ref=ref):
            of = " ".join((*sorted(ref.nouns), *(f"`{tool}`" for tool in sorted(ref.tools))))
            return f"`{ref.name}` of {of}" if of else f"`{ref.name}`"
        case TicketValue(name=name, pattern=pattern):
            return f"the {name} in the ticket{f', matching `{pattern}`' if pattern else ''}"
