"""Choice of tools: which calls would help with a need, with arguments that the text supports."""

from typing import Annotated, Any, Literal

from pydantic import Field

from gaby.llm.embeddings.embed import Embed
from gaby.llm.messages import Answer, ToolSpec
from gaby.llm.outside import Inside, Origin, Outside
from gaby.llm.skill import Skill
from gaby.llm.tiers import Tier
from gaby.mind import ToolCard, choose, extract, fill
from gaby.skills.base import PROMPTS, Answered, Given

_MOST_CALLS = 8
_ENOUGH = 0.2
"""A tool that fits less than this is not worth a call."""


class Tool(Given):
    name: Inside
    description: Outside
    parameters: Annotated[dict[str, Any], Origin(outside=True)]
    lane: Literal["read", "write"] = "read"
    declares: Annotated[dict[str, Any], Origin(outside=True)] = Field(default_factory=dict[str, Any])
    """What its manifest says of its rows and values, and its output schema; see `mind.declarations`."""


class Need(Given):
    need: Outside
    context: list[Outside] = Field(default_factory=list[str])
    tools: Annotated[list[Tool], Field(max_length=200)]
    limit: Annotated[int, Field(ge=1, le=_MOST_CALLS)] = 3


class Call(Answered):
    tool: str
    arguments: dict[str, Any]
    missing: list[str] = Field(default_factory=list[str])
    """Arguments that the tool needs and nobody gave. Such a call waits for an answer."""
    why: str = ""


class Choice(Answered):
    calls: Annotated[list[Call], Field(max_length=_MOST_CALLS)]


def offline(given: Need, embed: Embed) -> Choice:
    text = "\n".join([given.need, *given.context])
    entities = extract(text)
    cards = {tool.name: ToolCard(tool.name, tool.description, tool.parameters, tool.lane) for tool in given.tools}
    calls: list[Call] = []
    for choice in choose(given.need, list(cards.values()), entities, embed, given.limit):
        if choice.score < _ENOUGH:
            continue
        filled = fill(cards[choice.name].schema, entities, text)
        calls.append(Call(tool=choice.name, arguments=filled.arguments, missing=list(filled.missing), why=choice.why))
    return Choice(calls=calls)


def specs(given: Need) -> tuple[ToolSpec, ...]:
    return tuple(ToolSpec(tool.name, tool.description, tool.parameters) for tool in given.tools)


def read(given: Need, answer: Answer) -> Choice:
    """No call at all is an answer too: nothing at hand would help."""
    why = " ".join(answer.text.split())[:500]
    calls = [Call(tool=use.name, arguments=dict(use.arguments), why=why) for use in answer.uses]
    return Choice(calls=calls[: given.limit])


skill = Skill(
    name="choose_tools",
    does="Choose the tools that would help with a need, and fill their arguments from the text.",
    tier=Tier.BIG,
    takes=Need,
    gives=Choice,
    prompt_file=PROMPTS / "choose_tools.md.j2",
    fallback=offline,
    form="tools",
    read=read,
    tools=specs,
    max_output_tokens=1024,
    example=Need(
        need="Is the account of ada@lanternfish.example locked?",
        tools=[
            Tool(
                name="directory.find_user",
                description="Look up a user by e-mail address: name, state, last sign-in, failed sign-ins.",
                parameters={
                    "type": "object",
                    "properties": {"email": {"type": "string", "format": "email"}},
                    "required": ["email"],
                },
            ),
            Tool(
                name="billing.list_charges",
                description="List the charges of a customer.",
                parameters={
                    "type": "object",
                    "properties": {"customer_id": {"type": "string"}},
                    "required": ["customer_id"],
                },
            ),
        ],
    ),
)
