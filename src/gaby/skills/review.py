"""The review of a reply before it is sent: is each sentence carried by its sources, and is the ticket really done?"""

from datetime import datetime
from typing import Annotated, Literal

from pydantic import Field

from gaby import mind
from gaby.kernel.outcomes import CallOutcome, Verdict
from gaby.llm.embeddings.embed import Embed
from gaby.llm.skill import Skill, UnacceptableAnswer
from gaby.llm.tiers import Tier
from gaby.llm.untrusted_text import Authored, FencedText, Inside, Outside, PromptRedactor, company_page, fenced
from gaby.mind.completion_check import AppliedChange, ResolutionClaim, completeness
from gaby.skills.base import PROMPTS, SkillInput, SkillOutput


class CitedText(SkillInput):
    number: Annotated[int, Field(ge=1)]
    text: Authored
    sources: list[Inside] = Field(default_factory=list[str])


class ReviewedSource(SkillInput):
    name: Inside
    text: Outside
    company: bool = False
    """A page that the company itself wrote."""


class ReviewedChange(SkillInput):
    tool: Inside
    outcome: CallOutcome
    verified: bool | None = None
    """Whether a second look showed that it helped. None when nobody looked, or only a model can tell."""
    agreed: bool = False
    """A person was asked before, and agreed."""


class ReviewInput(SkillInput):
    """A reply that is about to be sent, with all that it rests on."""

    ticket: Outside
    dialogue: Annotated[list[Outside], Field(max_length=50)] = Field(default_factory=list[str])
    verdict: Verdict
    cause: Authored = ""
    open: list[Authored] = Field(default_factory=list[str])
    sentences: Annotated[list[CitedText], Field(max_length=100)]
    sources: Annotated[list[ReviewedSource], Field(max_length=100)] = Field(default_factory=list[ReviewedSource])
    changes: Annotated[list[ReviewedChange], Field(max_length=50)] = Field(default_factory=list[ReviewedChange])
    now: datetime | None = None
    by_runbook: bool = False
    """A runbook was followed to a cause, and the reply is what it says of that."""


class SentenceReview(SkillOutput):
    number: int
    support: Literal["supported", "unsupported", "not_needed"]
    why: Annotated[str, Field(max_length=300)]
    """Empty unless it is unsupported."""


class Review(SkillOutput):
    sentences: Annotated[list[SentenceReview], Field(max_length=100)]
    complete: bool
    why: Annotated[str, Field(max_length=1000)]


def offline(given: ReviewInput, _embed: Embed) -> Review:
    """By values: numbers, dates, names and codes must stand in what is cited. Words are not weighed."""
    texts = {each.name: each.text for each in given.sources}
    reviewed: list[SentenceReview] = []
    for each in given.sentences:
        cited = [texts[name] for name in each.sources if name in texts]
        holds = bool(cited) and mind.support(each.text, cited).holds
        support_level = "supported" if holds else "unsupported" if cited else "not_needed"
        why = "It gives a value that its sources do not give." if support_level == "unsupported" else ""
        reviewed.append(SentenceReview(number=each.number, support=support_level, why=why))
    written = "\n".join(f"{each.text} {' '.join(f'[{name}]' for name in each.sources)}" for each in given.sentences)
    changes = tuple(AppliedChange(each.tool, each.outcome, each.verified) for each in given.changes)
    asked = "\n\n".join((given.ticket, *given.dialogue))
    complete, why = completeness(ResolutionClaim(asked, written, given.verdict, texts, changes, given.by_runbook))
    return Review(sentences=reviewed, complete=complete, why=why[:1000])


def shown_sources(given: ReviewInput, conceal: PromptRedactor) -> dict[str, list[dict[str, str]]]:
    """The company's own pages have their own mark, as everywhere."""
    shown = [
        {
            "name": each.name,
            "text": FencedText((company_page if each.company else fenced)(conceal(each.text), "source")),
        }
        for each in given.sources
    ]
    return {"shown_sources": shown}


def check(given: ReviewInput, answer: Review) -> None:
    """Every sentence is looked at, and a model may find a ticket open that the facts would close, never the reverse."""
    wrong: list[str] = []
    wanted, got = {each.number for each in given.sentences}, [each.number for each in answer.sentences]
    if missing := sorted(wanted - set(got)):
        wrong.append(f"Say of the sentences {', '.join(map(str, missing))} too whether they are supported.")
    if len(got) != len(set(got)) or set(got) - wanted:
        wrong.append("Give each sentence once, by its number.")
    if answer.complete and given.verdict != "auto_resolved":
        wrong.append("Only what is auto_resolved can be complete.")
    if answer.complete and any(each.outcome in {"asked", "unknown"} for each in given.changes):
        wrong.append("It is not complete while a change waits, or nobody knows whether it was done.")
    if wrong:
        raise UnacceptableAnswer("\n".join(wrong))


skill = Skill(
    name="review",
    does="Hold each sentence of a reply against its sources, and say whether the ticket is really done.",
    tier=Tier.SMALL,
    takes=ReviewInput,
    gives=Review,
    prompt_file=PROMPTS / "review.md.j2",
    fallback=offline,
    check=check,
    more_values=shown_sources,
    max_output_tokens=2000,
    example=ReviewInput(
        ticket="I am locked out. Please unlock my account.",
        verdict="auto_resolved",
        sentences=[
            CitedText(number=1, text="The account was locked and is unlocked now.", sources=["c2"]),
            CitedText(number=2, text="Write to us if anything else is wrong."),
        ],
        sources=[ReviewedSource(name="c2", text='{"done": "The account was locked and is unlocked now."}')],
        changes=[ReviewedChange(tool="directory.unlock_user", outcome="done", verified=True)],
    ),
)
