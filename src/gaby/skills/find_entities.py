"""Entities: the typed values in a text, each exactly as it stands there."""

from typing import Annotated

from pydantic import Field

from gaby.llm.embeddings.embed import Embed
from gaby.llm.outside import Outside
from gaby.llm.skill import Skill, Unacceptable
from gaby.llm.tiers import Tier
from gaby.mind import EntityKind, extract
from gaby.skills.base import PROMPTS, Answered, Given

_MOST = 200


class Written(Given):
    text: Outside


class Found(Answered):
    kind: EntityKind
    value: str


class Entities(Answered):
    entities: Annotated[list[Found], Field(max_length=_MOST)]


def offline(given: Written, _embed: Embed) -> Entities:
    return Entities(entities=[Found(kind=each.kind, value=each.value) for each in extract(given.text)[:_MOST]])


def check(given: Written, answer: Entities) -> None:
    """A value that the text does not hold was made up."""
    for each in answer.entities:
        if each.value not in given.text:
            raise Unacceptable("Every value must stand in the text exactly as you give it. Leave out what does not.")


skill = Skill(
    name="find_entities",
    does="Find e-mail addresses, ids, hosts, error codes, dates and other typed values in a text.",
    tier=Tier.SMALL,
    takes=Written,
    gives=Entities,
    prompt_file=PROMPTS / "find_entities.md.j2",
    fallback=offline,
    check=check,
    max_output_tokens=1500,
    example=Written(
        text="Invoice INV-2041 of 12 March 2026 was charged twice (2 x 49.00 EUR). "
        "Please write to ada@lanternfish.example."
    ),
)
