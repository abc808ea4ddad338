"""The completion check: whether a ticket is really done, looked at once more before it is closed."""

from typing import Annotated

from pydantic import Field

from gaby import mind
from gaby.llm.embeddings.embed import Embed
from gaby.llm.outside import Inside, Outside
from gaby.llm.skill import Skill, Unacceptable
from gaby.llm.tiers import Tier
from gaby.mind.completing import Change, Claim, completeness
from gaby.skills.base import PROMPTS, Answered, Given


class Evidence(Given):
    citation: Inside
    text: Outside


class Made(Given):
    tool: Inside
    outcome: mind.Outcome
    verified: bool | None = None
    """Whether a second look showed that it helped. None when nobody looked."""


class Ending(Given):
    ticket: Outside
    summary: Outside
    """The reply, with its citations in square brackets."""
    verdict: mind.Verdict
    evidence: Annotated[list[Evidence], Field(max_length=100)] = Field(default_factory=list[Evidence])
    changes: Annotated[list[Made], Field(max_length=50)] = Field(default_factory=list[Made])


class Completion(Answered):
    complete: bool
    why: Annotated[str, Field(max_length=1000)]


def offline(given: Ending, _embed: Embed) -> Completion:
    claim = Claim(
        given.ticket,
        given.summary,
        given.verdict,
        {each.citation: each.text for each in given.evidence},
        tuple(Change(each.tool, each.outcome, each.verified) for each in given.changes),
    )
    complete, why = completeness(claim)
    return Completion(complete=complete, why=why[:1000])


def check(given: Ending, answer: Completion) -> None:
    """A model may find a ticket open that the rules would close, and not the other way round."""
    if not answer.complete:
        return
    if given.verdict != "auto_resolved":
        raise Unacceptable("Only what was judged auto_resolved can be complete.")
    if any(each.outcome in {"asked", "unknown", "denied", "failed"} for each in given.changes):
        raise Unacceptable("It is not complete while a change waits, failed, was refused, or has an unknown outcome.")


skill = Skill(
    name="complete",
    does="Check once more whether a ticket is really done, and doubt in favour of leaving it open.",
    tier=Tier.SMALL,
    takes=Ending,
    gives=Completion,
    prompt_file=PROMPTS / "complete.md.j2",
    fallback=offline,
    check=check,
    max_output_tokens=300,
    example=Ending(
        ticket="I am locked out. Please unlock my account.",
        summary="The account was locked and is unlocked now [tool:directory.unlock_user#2].",
        verdict="auto_resolved",
        evidence=[
            Evidence(
                citation="tool:directory.unlock_user#2", text='{"done": "The account was locked and is unlocked now."}'
            )
        ],
        changes=[Made(tool="directory.unlock_user", outcome="done", verified=True)],
    ),
)
