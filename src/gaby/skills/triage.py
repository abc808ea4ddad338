"""Triage: what a ticket wants, how urgent it is, and whether it is worth an investigation."""

from typing import Annotated

from pydantic import Field

from gaby.llm.embeddings.embed import Embed
from gaby.llm.skill import Skill
from gaby.llm.tiers import Tier
from gaby.llm.untrusted_text import Inside, Outside
from gaby.mind import Intent, Urgency, triage
from gaby.skills.base import PROMPTS, SkillInput, SkillOutput


class TriageInput(SkillInput):
    title: Outside
    body: Outside
    later: Annotated[list[Outside], Field(max_length=20)] = Field(default_factory=list[str])
    """What was written on it since, with who wrote it, oldest first."""
    company: Inside = "the company"


class Triage(SkillOutput):
    intent: Intent
    urgency: Urgency
    worth_investigating: bool
    confidence: Annotated[float, Field(ge=0, le=1)]
    reasons: Annotated[list[str], Field(max_length=5)]


def offline(given: TriageInput, embed: Embed) -> Triage:
    triaged = triage("\n\n".join((given.title, given.body, *given.later)), embed)
    return Triage(
        intent=triaged.intent,
        urgency=triaged.urgency,
        worth_investigating=triaged.worth_investigating,
        confidence=triaged.confidence,
        reasons=list(triaged.reasons[:5]),
    )


skill = Skill(
    name="triage",
    does="Say what a ticket wants, how urgent it is, and whether it is worth an investigation.",
    tier=Tier.SMALL,
    takes=TriageInput,
    gives=Triage,
    prompt_file=PROMPTS / "triage.md.j2",
    fallback=offline,
    max_output_tokens=400,
    example=TriageInput(
        title="Nobody can sign in since this morning",
        body="All 40 of us get error AADSTS50076 when we sign in to the portal. We have a release at 2 pm.",
    ),
)
