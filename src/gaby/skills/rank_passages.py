"""Ranking passages: which of those that were found answer the question, the best first."""

from typing import Annotated

from pydantic import Field

from gaby.llm.embeddings.embed import Embed
from gaby.llm.skill import Skill, UnacceptableAnswer
from gaby.llm.tiers import Tier
from gaby.llm.untrusted_text import Outside
from gaby.skills.base import PROMPTS, SkillInput, SkillOutput


class RankingInput(SkillInput):
    question: Outside
    passages: Annotated[list[Outside], Field(max_length=40)]


class Order(SkillOutput):
    helpful: Annotated[
        list[Annotated[int, Field(ge=0)]],
        Field(max_length=40, description="Numbers of the passages that help to answer, the best first."),
    ]


def offline(given: RankingInput, _embed: Embed) -> Order:
    """They come in the order of the search, which is the best that is known without a model."""
    return Order(helpful=list(range(len(given.passages))))


def check(given: RankingInput, answer: Order) -> None:
    if len(set(answer.helpful)) != len(answer.helpful) or any(place >= len(given.passages) for place in answer.helpful):
        raise UnacceptableAnswer(
            "`helpful` has numbers of passages that were given, each at most once, counted from 0."
        )


skill = Skill(
    name="rank_passages",
    does="Judge which passages answer a question, the best first.",
    tier=Tier.SMALL,
    takes=RankingInput,
    gives=Order,
    prompt_file=PROMPTS / "rank_passages.md.j2",
    fallback=offline,
    check=check,
    max_output_tokens=300,
    example=RankingInput(
        question="The VPN window shows E-1042 and closes. What can I do?",
        passages=[
            "The kitchen closes at six.",
            "The VPN fails with E-1042 when the certificate has expired. Renew it in the portal.",
        ],
    ),
)
