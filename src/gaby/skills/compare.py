"""Comparing: which statements contradict each other."""

from typing import Annotated, Literal

from pydantic import Field

from gaby.llm.embeddings.embed import Embed
from gaby.llm.outside import Outside
from gaby.llm.skill import Skill, Unacceptable
from gaby.llm.tiers import Tier
from gaby.mind import hints
from gaby.skills.base import PROMPTS, Answered, Given

_MOST = 50


class Statements(Given):
    statements: Annotated[list[Outside], Field(max_length=200)]


class Contradiction(Answered):
    first: Annotated[int, Field(ge=0, description="Number of a statement, counted from 0.")]
    second: Annotated[int, Field(ge=0)]
    kind: Literal["negation", "value"]
    why: str


class Contradictions(Answered):
    contradictions: Annotated[list[Contradiction], Field(max_length=_MOST)]


def offline(given: Statements, _embed: Embed) -> Contradictions:
    found = hints(given.statements)[:_MOST]
    return Contradictions(
        contradictions=[
            Contradiction(first=hint.first, second=hint.second, kind=hint.kind, why=hint.why) for hint in found
        ]
    )


def check(given: Statements, answer: Contradictions) -> None:
    for each in answer.contradictions:
        if each.first == each.second or max(each.first, each.second) >= len(given.statements):
            raise Unacceptable("`first` and `second` are the numbers of two different statements that were given.")


skill = Skill(
    name="compare",
    does="Find statements that contradict each other, by what they deny or by the values they give.",
    tier=Tier.SMALL,
    takes=Statements,
    gives=Contradictions,
    prompt_file=PROMPTS / "compare.md.j2",
    fallback=offline,
    check=check,
    max_output_tokens=800,
    example=Statements(
        statements=[
            "The account of ada@lanternfish.example is locked.",
            "The account of ada@lanternfish.example is active.",
            "Invoice INV-2041 was sent on Monday.",
        ]
    ),
)
