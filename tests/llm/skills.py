"""Small skills of all three forms, to try the runtime with."""

from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from gaby.llm.embeddings.embed import Embed
from gaby.llm.messages import ModelResponse, ToolSpec
from gaby.llm.skill import Skill, UnacceptableAnswer
from gaby.llm.tiers import Tier
from gaby.llm.untrusted_text import Inside, Outside

_PROMPTS = Path(__file__).parent / "prompts"


class Complaint(BaseModel):
    complaint: Outside = "The scale is off by 3 kg."
    company: Inside = "Lanternfish"
    notes: list[Outside] = Field(default_factory=list[str])


class Weight(BaseModel):
    model_config = ConfigDict(extra="forbid")

    kilos: int = Field(ge=0, le=100)
    why: str


class Told(BaseModel):
    text: str


class Wanted(BaseModel):
    calls: list[tuple[str, dict[str, Any]]]


TOOLS = (
    ToolSpec(
        "scale.read",
        "Read a scale.",
        {
            "type": "object",
            "properties": {"scale": {"type": "string"}},
            "required": ["scale"],
            "additionalProperties": False,
        },
    ),
    ToolSpec("scale.list", "List the scales.", {"type": "object", "properties": {}, "additionalProperties": False}),
)


def _weigh(given: Complaint, _embed: Embed) -> Weight:
    return Weight(kilos=len(given.complaint) % 100, why="by its length")


def _tell(given: Complaint, _embed: Embed) -> Told:
    return Told(text=given.complaint)


def _want(_given: Complaint, _embed: Embed) -> Wanted:
    return Wanted(calls=[("scale.list", {})])


def _read_text(_given: Complaint, answer: ModelResponse) -> Told:
    if "kg" not in answer.text:
        raise UnacceptableAnswer("Say how many kg.")
    return Told(text=answer.text)


def _read_calls(_given: Complaint, answer: ModelResponse) -> Wanted:
    if not answer.uses:
        raise UnacceptableAnswer("Call a tool.")
    return Wanted(calls=[(use.name, dict(use.arguments)) for use in answer.uses])


WEIGH = Skill(
    name="weigh",
    does="Say how heavy a complaint is.",
    tier=Tier.BIG,
    takes=Complaint,
    gives=Weight,
    prompt_file=_PROMPTS / "weigh.md.j2",
    fallback=_weigh,
    max_output_tokens=200,
)
TELL = Skill(
    name="tell",
    does="Tell it in one sentence.",
    tier=Tier.SMALL,
    takes=Complaint,
    gives=Told,
    prompt_file=_PROMPTS / "tell.md.j2",
    fallback=_tell,
    form="text",
    read=_read_text,
    max_output_tokens=200,
)
WANT = Skill(
    name="want",
    does="Say which scales to read.",
    tier=Tier.BIG,
    takes=Complaint,
    gives=Wanted,
    prompt_file=_PROMPTS / "weigh.md.j2",
    fallback=_want,
    form="tools",
    read=_read_calls,
    tools=lambda _given: TOOLS,
    max_output_tokens=200,
)
