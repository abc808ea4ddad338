"""The verdict: how an investigation ends."""

from typing import Annotated, Literal

from pydantic import Field

from gaby import mind
from gaby.llm.embeddings.embed import Embed
from gaby.llm.outside import Inside, Outside
from gaby.llm.skill import Skill, Unacceptable
from gaby.llm.tiers import Tier
from gaby.skills.base import PROMPTS, Answered, Given

Share = Annotated[float, Field(ge=0, le=1)]


class Finding(Given):
    statement: Outside
    explains: Share = 0.0
    healthy: bool = False
    cited: bool = True
    up_to: Literal["gaby", "client", "tech", "person"] | None = None


class Step(Given):
    tool: Inside
    outcome: Literal["done", "simulated", "asked", "denied", "failed", "unknown"]
    changes: bool = False
    reason: Outside = ""


class Case(Given):
    """What is known when the investigation is at its end."""

    ticket: Outside = ""
    worth_investigating: bool = True
    findings: list[Finding] = Field(default_factory=list[Finding])
    steps: list[Step] = Field(default_factory=list[Step])
    missing: list[Outside] = Field(default_factory=list[str])
    answered: Share = 0.0
    asks_change: bool = False
    verified: bool | None = None
    security: bool = False
    contradictions: Annotated[int, Field(ge=0)] = 0
    budget_gone: bool = False


class Judgement(Answered):
    verdict: mind.Verdict
    confidence: Share
    reasons: Annotated[list[str], Field(max_length=5)]


def offline(given: Case, _embed: Embed) -> Judgement:
    judged = mind.judge(_case(given))
    return Judgement(verdict=judged.verdict, confidence=judged.confidence, reasons=list(judged.reasons[:5]))


def check(given: Case, answer: Judgement) -> None:
    """A model may be more careful than the rules, never less: what waits or is in doubt is not called resolved."""
    if answer.verdict != "auto_resolved":
        return
    in_doubt = [step.tool for step in given.steps if step.outcome in {"asked", "unknown"}]
    if in_doubt or given.security:
        raise Unacceptable("It cannot be auto_resolved while a step waits or is unknown, or when security is at stake.")
    if any(each.up_to == "person" for each in given.findings):
        raise Unacceptable("It cannot be auto_resolved while a part of it is left to a person.")


def _case(given: Case) -> mind.Case:
    findings = [
        mind.Finding(each.statement, each.explains, each.healthy, each.cited, each.up_to) for each in given.findings
    ]
    steps = [mind.Step(each.tool, each.outcome, each.changes, each.reason) for each in given.steps]
    return mind.Case(
        worth_investigating=given.worth_investigating,
        findings=tuple(findings),
        steps=tuple(steps),
        missing=tuple(given.missing),
        answered=given.answered,
        asks_change=given.asks_change,
        verified=given.verified,
        security=given.security,
        contradictions=given.contradictions,
        budget_gone=given.budget_gone,
    )


skill = Skill(
    name="judge",
    does="Give the verdict of an investigation: resolved, or who has to look at it.",
    tier=Tier.SMALL,
    takes=Case,
    gives=Judgement,
    prompt_file=PROMPTS / "judge.md.j2",
    fallback=offline,
    check=check,
    max_output_tokens=400,
    example=Case(
        ticket="I cannot sign in.",
        findings=[Finding(statement="The account was locked after seven failed sign-ins.", explains=0.9, up_to="gaby")],
        steps=[Step(tool="directory.unlock_user", outcome="done", changes=True)],
        verified=True,
    ),
)
