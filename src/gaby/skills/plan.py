"""Planning: what to do next in an investigation, as a search, as calls to tools, or as its end."""

from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import Field

from gaby import mind
from gaby.llm.embeddings.embed import Embed
from gaby.llm.messages import ChatMessage, ModelResponse, ToolSpec
from gaby.llm.skill import Skill, UnacceptableAnswer
from gaby.llm.tiers import Tier
from gaby.llm.untrusted_text import FencedText, Inside, Outside, PromptRedactor, TextOrigin
from gaby.mind.declarations import ToolDeclaration
from gaby.mind.result_preview import read_back
from gaby.mind.situations import call_key
from gaby.skills import plan_turns
from gaby.skills.base import PROMPTS, SkillInput, SkillOutput
from gaby.skills.conclusion import CONCLUSION_SCHEMA, Conclusion
from gaby.skills.conclusion_rules import conclusion_errors
from gaby.skills.plan_turns import CONCLUDE, FIND, SEARCH, CompletedCall, PlannerPassage, Turn
from gaby_connectors.sdk.manifest import Access

MOST_CALLS = 8
_WHY = 1000
_SEARCHED: dict[str, Any] = {
    "type": "object",
    "properties": {
        "queries": {
            "type": "array",
            "items": {"type": "string", "minLength": 1, "maxLength": 400},
            "minItems": 1,
            "maxItems": 8,
        },
        "internal": {
            "type": "boolean",
            "description": "Also show pages that only colleagues may read. A colleague then sees the reply first.",
        },
    },
    "required": ["queries"],
}
_FOUND: dict[str, Any] = {
    "type": "object",
    "properties": {"need": {"type": "string", "minLength": 1, "maxLength": 400}},
    "required": ["need"],
}


class ToolOption(SkillInput):
    name: Inside
    description: Outside
    parameters: Annotated[dict[str, Any], TextOrigin(outside=True)]
    access: Access = "read"
    declares: Annotated[dict[str, Any], TextOrigin(outside=True)] = Field(default_factory=dict[str, Any])
    """What its manifest says of its rows and values, and its output schema; see `mind.declarations`."""


class DialogueEntry(SkillInput):
    """A message on the ticket after its first text."""

    author: Literal["requester", "colleague", "gaby", "somebody else"]
    text: Outside


class Envelope(SkillInput):
    """All that the planner sees, bounded by whoever fills it."""

    title: Outside
    text: Outside
    """The first text of the ticket, and behind it what was written later."""
    body: Outside = ""
    """The first text alone."""
    dialogue: Annotated[list[DialogueEntry], Field(max_length=50)] = Field(default_factory=list[DialogueEntry])
    """What was written since, oldest first."""
    earlier: Annotated[list[Inside], Field(max_length=50)] = Field(default_factory=list[str])
    """What Gaby did on this ticket before this investigation."""
    ticket_id: Inside | None = None
    requester: Outside | None = None
    requester_verified: bool = False
    instructed: bool = False
    """Somebody who works here wrote the ticket, as an instruction."""
    searched: bool = False
    queries: list[Outside] = Field(default_factory=list[str])
    """What the knowledge was asked for already."""
    passages: Annotated[list[PlannerPassage], Field(max_length=80)] = Field(default_factory=list[PlannerPassage])
    internal: bool = False
    """Pages for colleagues are among the passages. How many there are is not told: that would answer guesses."""
    similar_tickets: Annotated[list[Outside], Field(max_length=10)] = Field(default_factory=list[str])
    facts: Annotated[list[Outside], Field(max_length=20)] = Field(default_factory=list[str])
    calls: Annotated[list[CompletedCall], Field(max_length=200)] = Field(default_factory=list[CompletedCall])
    turns: Annotated[list[Turn], Field(max_length=300)] = Field(default_factory=list[Turn])
    """What was planned so far. Their searches and calls are among the passages and calls."""
    tools: Annotated[list[ToolOption], Field(max_length=1000)] = Field(default_factory=list[ToolOption])
    other_tools: Annotated[list[ToolOption], Field(max_length=1000)] = Field(default_factory=list[ToolOption])
    """Not listed, since they hardly fit: they can be searched for, or called by whoever read their name in a page."""
    nudges: list[Inside] = Field(default_factory=list[str])
    must_conclude: Inside = ""
    """Why nothing but the end is left."""
    concluded: Conclusion | None = None
    """A conclusion that was not accepted, because of the doubts."""
    doubts: Annotated[list[Outside], Field(max_length=30)] = Field(default_factory=list[str])
    now: datetime | None = None

    @property
    def sources(self) -> frozenset[str]:
        """The names that a conclusion may cite."""
        calls = (f"c{call.number}" for call in self.calls if call.outcome in {"done", "simulated"})
        return frozenset({*calls, *(each.name for each in self.passages if each.name)})


class PlannerStep(SkillOutput):
    kind: Literal["retrieve", "call", "find_tools", "conclude"]
    queries: Annotated[list[str], Field(max_length=8)] = Field(default_factory=list[str])
    internal: bool = False
    """Pages that only colleagues may read are wanted as well."""
    calls: Annotated[list[mind.ProposedCall], Field(max_length=MOST_CALLS)] = Field(
        default_factory=list[mind.ProposedCall]
    )
    conclusion: Conclusion | None = None
    """None when no model has concluded."""
    why: str = ""


def situation(given: Envelope) -> mind.Situation:
    return mind.Situation(
        title=given.title,
        text=given.text,
        requester=given.requester,
        requester_verified=given.requester_verified,
        instructed=given.instructed,
        searched=given.searched,
        passages=[_as_passage(each) for each in given.passages],
        calls=[_seen(each) for each in given.calls],
        tools=[_card(each) for each in (*given.tools, *given.other_tools)],
        nudges=given.nudges,
        ticket_id=given.ticket_id,
        queries=given.queries,
        now=given.now,
    )


def offline(given: Envelope, embed: Embed) -> PlannerStep:
    if given.must_conclude:
        return PlannerStep(kind="conclude", why=given.must_conclude)
    step = mind.next_step(situation(given), embed)
    return PlannerStep(kind=step.kind, queries=list(step.queries), calls=list(step.calls), why=step.why)


def specs(given: Envelope) -> tuple[ToolSpec, ...]:
    """The tools of the company, and those of our own for the steps that are no call."""
    own = [
        ToolSpec(SEARCH, "Search the company's runbooks and documentation.", _SEARCHED),
        ToolSpec(
            CONCLUDE,
            "End the investigation with what was found, for the requester and for colleagues.",
            CONCLUSION_SCHEMA,
        ),
    ]
    if given.other_tools:
        description = (
            "Look for tools of the company that are not listed here. Say what is needed, such as `refund a charge`."
        )
        own.append(ToolSpec(FIND, description, _FOUND))
    shown = (ToolSpec(each.name, _tool_description(each), each.parameters) for each in given.tools)
    others = (ToolSpec(each.name, _tool_description(each), each.parameters, listed=False) for each in given.other_tools)
    return (*own, *shown, *others)


def read(given: Envelope, answer: ModelResponse) -> PlannerStep:
    """Searches and calls of one answer are all carried out; an end beside them can wait. Words alone are no step."""
    if not answer.uses:
        raise UnacceptableAnswer(
            f"You called no tool. Call the tools that you need, or {CONCLUDE} with your texts as its arguments."
        )
    why = " ".join(answer.text.split())[:_WHY]
    own = {SEARCH, CONCLUDE, FIND}
    calls = [mind.ProposedCall(use.name, dict(use.arguments), why) for use in answer.uses if use.name not in own]
    searches = [use for use in answer.uses if use.name == SEARCH]
    queries = list(dict.fromkeys(str(query)[:400] for use in searches for query in use.arguments["queries"]))[:8]
    internal = any(use.arguments.get("internal") is True for use in searches)
    needs = [str(use.arguments["need"])[:400] for use in answer.uses if use.name == FIND]
    ends = [use for use in answer.uses if use.name == CONCLUDE]
    if given.must_conclude and not ends:
        raise UnacceptableAnswer(f"Call {CONCLUDE} now, and nothing else. {given.must_conclude}")
    if not given.must_conclude:
        if calls:
            return PlannerStep(kind="call", queries=queries, internal=internal, calls=calls, why=why)
        if queries:
            return PlannerStep(kind="retrieve", queries=queries, internal=internal, why=why)
        if needs:
            return PlannerStep(kind="find_tools", queries=needs, why=why)
    conclusion = Conclusion.model_validate(ends[0].arguments)
    return PlannerStep(kind="conclude", conclusion=conclusion, why=conclusion.why[:_WHY])


def check(given: Envelope, answer: PlannerStep) -> None:
    """Nothing is done twice, and nothing is cited that is not there. All that is wrong is told at once."""
    wrong = _repeated(given, answer)
    if answer.conclusion is not None:
        outcomes = [call.outcome for call in given.calls if call.access == "write"]
        wrong += conclusion_errors(answer.conclusion, given.sources, outcomes)
    if wrong:
        raise UnacceptableAnswer("\n".join(dict.fromkeys(wrong)))


def _repeated(given: Envelope, answer: PlannerStep) -> list[str]:
    """A read may be made again after something was changed, to see whether it helped."""
    known = {tool.name for tool in (*given.tools, *given.other_tools)}
    changed = max((call.number for call in given.calls if call.access == "write" and call.outcome == "done"), default=0)
    wrong: list[str] = []
    for call in answer.calls:
        if call.tool not in known:
            wrong.append(f"There is no tool {call.tool[:100]!r}. Use only the tools that were given.")
        key = call_key(call.tool, call.arguments)
        before = [each for each in given.calls if call_key(each.tool, each.arguments) == key]
        if any(_is_settled(each, changed) for each in before):
            wrong.append(f"{call.tool} was called with these arguments before. Use what it gave, or go on.")
    return wrong


def _is_settled(call: CompletedCall, changed: int) -> bool:
    if call.access == "write":
        return call.outcome != "failed"
    return call.outcome == "denied" or (call.outcome in {"done", "simulated"} and call.number > changed)


def _as_passage(passage: PlannerPassage) -> mind.FoundPassage:
    return mind.FoundPassage(passage.citation, passage.title, passage.text, passage.trusted, runbook=passage.runbook)


def _card(tool: ToolOption) -> mind.ToolCard:
    declares = ToolDeclaration(**tool.declares)
    return mind.ToolCard(tool.name, tool.description, tool.parameters, tool.access, declares)


def _seen(call: CompletedCall) -> mind.PastCall:
    return mind.PastCall(
        call.number, call.tool, call.arguments, call.outcome, call.access, read_back(call.result), call.reason
    )


def _tool_description(tool: ToolOption) -> str:
    return f"{tool.description} (This changes something.)" if tool.access == "write" else tool.description


def turns(given: Envelope, conceal: PromptRedactor) -> tuple[ChatMessage, ...]:
    concluded = (given.concluded, tuple(given.doubts)) if given.concluded is not None else None
    return plan_turns.messages(given.turns, given.passages, given.calls, conceal, concluded)


def first_pages(given: Envelope, conceal: PromptRedactor) -> dict[str, list[FencedText]]:
    """Those of the search that is made before anything is planned."""
    passages = [each for each in given.passages if each.turn == 0]
    return {"first_pages": [FencedText(plan_turns.page_text(each, conceal)) for each in passages]}


skill = Skill(
    name="plan",
    does="Say what to do next in an investigation: search the knowledge, call tools, or come to an end.",
    tier=Tier.BIG,
    takes=Envelope,
    gives=PlannerStep,
    prompt_file=PROMPTS / "plan.md.j2",
    fallback=offline,
    form="tools",
    read=read,
    check=check,
    tools=specs,
    turns=turns,
    more_values=first_pages,
    max_output_tokens=4000,
    example=Envelope(
        title="Locked out",
        text="I cannot sign in any more: it says that my account is locked.",
        requester="ada@lanternfish.example",
        requester_verified=True,
        searched=True,
        queries=["account is locked"],
        passages=[
            PlannerPassage(
                name="p1",
                citation="doc:handbook/locked-out.md#L1-L9",
                title="Locked out",
                text="# Locked out\n\nFor people whose account is locked.\n\n"
                "1. Find the requester with `find_user`.\n\n"
                "If `state` is `locked`: Too many failed sign-ins locked the account. Do `unlock_user`.",
                runbook=True,
            )
        ],
        tools=[
            ToolOption(
                name="directory.find_user",
                description="Look up a user by e-mail address: name, state, last sign-in, failed sign-ins.",
                parameters={
                    "type": "object",
                    "properties": {"email": {"type": "string", "format": "email"}},
                    "required": ["email"],
                },
                declares={"owner": {"users[]": "email"}},
            ),
            ToolOption(
                name="directory.unlock_user",
                description="Unlock a user who was locked out.",
                parameters={
                    "type": "object",
                    "properties": {"email": {"type": "string", "format": "email"}},
                    "required": ["email"],
                },
                access="write",
            ),
        ],
    ),
)
