"""Planning: what to do next in an investigation, as a search, as calls to tools, or as its end."""

import re
from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import Field

from gaby import mind
from gaby.llm.embeddings.embed import Embed
from gaby.llm.messages import Answer, ToolSpec
from gaby.llm.outside import Inside, Origin, Outside
from gaby.llm.skill import Skill, Unacceptable
from gaby.llm.tiers import Tier
from gaby.mind.declarations import ToolDeclaration
from gaby.mind.showing import read_back
from gaby.mind.situations import call_key
from gaby.skills.base import PROMPTS, Answered, Given
from gaby.skills.choose_tools import Tool

MOST_CALLS = 8
SEARCH = "search_knowledge"
CONCLUDE = "conclude"
_WHY = 500
_LIKE_A_CALL = re.compile(r"\s*(?:```(?:json)?\s*)?[\[{<]")
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


class Passage(Given):
    citation: Inside
    title: Outside
    text: Outside
    trusted: bool = True
    """Somebody who works here wrote it."""
    runbook: bool = False
    """A whole page that is a runbook."""


class MadeCall(Given):
    number: Annotated[int, Field(ge=1)]
    tool: Inside
    arguments: Annotated[dict[str, Any], Origin(outside=True)]
    outcome: Literal["done", "simulated", "asked", "denied", "failed", "unknown"]
    lane: Literal["read", "write"] = "read"
    result: Outside = ""
    """JSON as text, or text. `mind.shown` cuts it to a size and keeps it whole."""
    reason: Outside = ""


class Envelope(Given):
    """All that the planner sees, bounded by whoever fills it."""

    title: Outside
    text: Outside
    ticket_id: Inside | None = None
    requester: Outside | None = None
    requester_verified: bool = False
    instructed: bool = False
    """Somebody who works here wrote the ticket, as an instruction."""
    searched: bool = False
    queries: list[Outside] = Field(default_factory=list[str])
    """What the knowledge was asked for already."""
    passages: Annotated[list[Passage], Field(max_length=40)] = Field(default_factory=list[Passage])
    internal: bool = False
    """Pages for colleagues are among the passages. How many there are is not told: that would answer guesses."""
    similar_tickets: Annotated[list[Outside], Field(max_length=10)] = Field(default_factory=list[str])
    facts: Annotated[list[Outside], Field(max_length=20)] = Field(default_factory=list[str])
    calls: Annotated[list[MadeCall], Field(max_length=200)] = Field(default_factory=list[MadeCall])
    tools: Annotated[list[Tool], Field(max_length=1000)] = Field(default_factory=list[Tool])
    nudges: list[Inside] = Field(default_factory=list[str])
    now: datetime | None = None


class Call(Answered):
    tool: str
    arguments: dict[str, Any]
    why: str = ""
    consent: str = ""
    """What a person has to confirm first, whatever else allows the call."""


class Step(Answered):
    kind: Literal["retrieve", "call", "conclude"]
    queries: Annotated[list[str], Field(max_length=8)] = Field(default_factory=list[str])
    internal: bool = False
    """Pages that only colleagues may read are wanted as well."""
    calls: Annotated[list[Call], Field(max_length=MOST_CALLS)] = Field(default_factory=list[Call])
    why: str = ""


def situation(given: Envelope) -> mind.Situation:
    return mind.Situation(
        title=given.title,
        text=given.text,
        requester=given.requester,
        requester_verified=given.requester_verified,
        instructed=given.instructed,
        searched=given.searched,
        passages=[_found(each) for each in given.passages],
        calls=[_seen(each) for each in given.calls],
        tools=[_card(each) for each in given.tools],
        nudges=given.nudges,
        ticket_id=given.ticket_id,
        queries=given.queries,
        now=given.now,
    )


def offline(given: Envelope, embed: Embed) -> Step:
    step = mind.next_step(situation(given), embed)
    calls = [
        Call(tool=each.tool, arguments=dict(each.arguments), why=each.why, consent=each.consent) for each in step.calls
    ]
    return Step(kind=step.kind, queries=list(step.queries), calls=calls, why=step.why)


def specs(given: Envelope) -> tuple[ToolSpec, ...]:
    """The tools of the company, and two of our own for the steps that are no call."""
    return (
        ToolSpec(SEARCH, "Search the company's runbooks and documentation.", _SEARCHED),
        ToolSpec(
            CONCLUDE,
            "End the investigation, when the cause is known and all that can be done was done, or nothing more can "
            "be learned.",
            {"type": "object", "properties": {"why": {"type": "string"}}, "required": ["why"]},
        ),
        *(ToolSpec(each.name, _told(each), each.parameters) for each in given.tools),
    )


def read(_given: Envelope, answer: Answer) -> Step:
    """Calls to the company's tools come first: a search or an end beside them can wait. Words alone are an end."""
    if not answer.uses and (not answer.text.strip() or _LIKE_A_CALL.match(answer.text)):
        # A call that was written instead of made, perhaps broken off in its middle, or nothing at all.
        raise Unacceptable(f"You called no tool. Call one, or {CONCLUDE}.")
    why = " ".join(answer.text.split())[:_WHY]
    calls = [
        Call(tool=use.name, arguments=dict(use.arguments), why=why)
        for use in answer.uses
        if use.name not in {SEARCH, CONCLUDE}
    ]
    if calls:
        return Step(kind="call", calls=calls, why=why)
    if searches := [use for use in answer.uses if use.name == SEARCH]:
        queries = [str(query)[:400] for use in searches for query in use.arguments["queries"]]
        internal = any(use.arguments.get("internal") is True for use in searches)
        return Step(kind="retrieve", queries=list(dict.fromkeys(queries))[:8], internal=internal, why=why)
    said = next((str(use.arguments.get("why", "")) for use in answer.uses if use.name == CONCLUDE), why)
    return Step(kind="conclude", why=" ".join(said.split())[:_WHY])


def check(given: Envelope, answer: Step) -> None:
    """Nothing is done twice. A read may be made again after something was changed, to see whether it helped."""
    known = {tool.name for tool in given.tools}
    changed = max((call.number for call in given.calls if call.lane == "write" and call.outcome == "done"), default=0)
    for call in answer.calls:
        if call.tool not in known:
            raise Unacceptable(f"There is no tool {call.tool[:100]!r}. Use only the tools that were given.")
        key = call_key(call.tool, call.arguments)
        before = [each for each in given.calls if call_key(each.tool, each.arguments) == key]
        if any(_is_settled(each, changed) for each in before):
            raise Unacceptable(f"{call.tool} was called with these arguments before. Use what it gave, or go on.")


def _is_settled(call: MadeCall, changed: int) -> bool:
    if call.lane == "write":
        return call.outcome != "failed"
    return call.outcome == "denied" or (call.outcome in {"done", "simulated"} and call.number > changed)


def _found(passage: Passage) -> mind.Found:
    return mind.Found(passage.citation, passage.title, passage.text, passage.trusted, passage.runbook)


def _card(tool: Tool) -> mind.ToolCard:
    declares = ToolDeclaration(**tool.declares)
    return mind.ToolCard(tool.name, tool.description, tool.parameters, tool.lane, declares)


def _seen(call: MadeCall) -> mind.SeenCall:
    return mind.SeenCall(
        call.number, call.tool, call.arguments, call.outcome, call.lane, read_back(call.result), call.reason
    )


def _told(tool: Tool) -> str:
    return f"{tool.description} (This changes something.)" if tool.lane == "write" else tool.description


skill = Skill(
    name="plan",
    does="Say what to do next in an investigation: search the knowledge, call tools, or come to an end.",
    tier=Tier.BIG,
    takes=Envelope,
    gives=Step,
    prompt_file=PROMPTS / "plan.md.j2",
    fallback=offline,
    form="tools",
    read=read,
    check=check,
    tools=specs,
    max_output_tokens=1500,
    example=Envelope(
        title="Locked out",
        text="I cannot sign in any more: it says that my account is locked.",
        requester="ada@lanternfish.example",
        requester_verified=True,
        searched=True,
        queries=["account is locked"],
        passages=[
            Passage(
                citation="doc:handbook/locked-out.md#L1-L9",
                title="Locked out",
                text="# Locked out\n\nFor people whose account is locked.\n\n"
                "1. Find the requester with `find_user`.\n\n"
                "If `state` is `locked`: Too many failed sign-ins locked the account. Do `unlock_user`.",
                runbook=True,
            )
        ],
        tools=[
            Tool(
                name="directory.find_user",
                description="Look up a user by e-mail address: name, state, last sign-in, failed sign-ins.",
                parameters={
                    "type": "object",
                    "properties": {"email": {"type": "string", "format": "email"}},
                    "required": ["email"],
                },
                declares={"owner": {"users[]": "email"}},
            ),
            Tool(
                name="directory.unlock_user",
                description="Unlock a user who was locked out.",
                parameters={
                    "type": "object",
                    "properties": {"email": {"type": "string", "format": "email"}},
                    "required": ["email"],
                },
                lane="write",
            ),
        ],
    ),
)
