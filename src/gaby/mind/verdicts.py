"""The verdict of an investigation by rules. In doubt a ticket stays open and a person looks at it."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from gaby.kernel.outcomes import CallOutcome, Verdict


@dataclass(frozen=True)
class CaseFinding:
    statement: str
    explains: float = 0.0
    """Between 0 and 1: how well it explains what the requester sees."""
    healthy: bool = False
    """It shows that something is in order."""
    cited: bool = True
    up_to: Literal["gaby", "client", "tech", "person", "nobody"] | None = None
    """Who could put it right, where that is known: a card is renewed by its owner. `person`: nobody here dealt with it,
    for the reason that the statement gives."""


@dataclass(frozen=True)
class CaseStep:
    tool: str
    outcome: CallOutcome
    changes: bool = False
    reason: str = ""


@dataclass(frozen=True)
class VerdictCase:
    """What is known when the investigation is at its end."""

    worth_investigating: bool = True
    findings: tuple[CaseFinding, ...] = ()
    steps: tuple[CaseStep, ...] = ()
    missing: tuple[str, ...] = ()
    """What only the requester can tell."""
    answered: float = 0.0
    """Between 0 and 1: how well cited knowledge or data answers what was asked. 0 when nothing was asked."""
    asks_change: bool = False
    verified: bool | None = None
    """After a change: whether a second look showed that the trouble is gone. None when nobody looked."""
    settles: bool = False
    """The change is the remedy itself, so that nobody has to look again."""
    security: bool = False
    contradictions: int = 0
    budget_gone: bool = False


@dataclass(frozen=True)
class RuleVerdict:
    verdict: Verdict
    confidence: float
    reasons: tuple[str, ...]


_EXPLAINED = 0.6
_PARTLY = 0.3
_ANSWERED = 0.6

_Rule = Callable[[VerdictCase], RuleVerdict | None]


def judge(case: VerdictCase) -> RuleVerdict:
    """The first rule that has something to say. They stand in the order of what must not be overlooked."""
    for rule in _RULES:
        if judgement := rule(case):
            return judgement
    return _say("needs_l2", 0.5, "Nothing that was found explains it.")


def _not_worth_it(case: VerdictCase) -> RuleVerdict | None:
    return None if case.worth_investigating else _say("skipped", 0.9, "There is nothing to look into.")


def _unknown_effect(case: VerdictCase) -> RuleVerdict | None:
    lost = [step.tool for step in case.steps if step.outcome == "unknown" and step.changes]
    if not lost:
        return None
    return _say(
        "needs_tech",
        0.9,
        f"Nobody can say whether {_listed(lost)} happened. Somebody has to look before it is tried again.",
    )


def _danger(case: VerdictCase) -> RuleVerdict | None:
    return _say("needs_l2", 0.9, "There are signs of a danger to security.") if case.security else None


def _no_budget(case: VerdictCase) -> RuleVerdict | None:
    if not case.budget_gone or _is_put_right(case):
        return None
    return _say("failed_budget", 0.9, "The budget was used up before the end.")


def _waits(case: VerdictCase) -> RuleVerdict | None:
    waiting = [step.tool for step in case.steps if step.outcome == "asked"]
    return _say("needs_tech", 0.85, f"{_listed(waiting)} waits for a person's consent.") if waiting else None


def _torn(case: VerdictCase) -> RuleVerdict | None:
    if not case.contradictions or _is_put_right(case):
        return None
    return _say("needs_l2", 0.7, "What was found contradicts itself.")


def _left_to_a_person(case: VerdictCase) -> RuleVerdict | None:
    """Whatever else was put right, this was not."""
    left = [finding.statement for finding in case.findings if finding.up_to == "person"]
    return _say("needs_tech", 0.7, *left) if left else None


def _changed(case: VerdictCase) -> RuleVerdict | None:
    done = [step.tool for step in case.steps if step.changes and step.outcome == "done"]
    if not done:
        return None
    if case.verified:
        seen = "which settles it" if case.settles else "and a second look shows that the trouble is gone"
        return _say("auto_resolved", 0.9, f"{_listed(done)} was done, {seen}.")
    if case.verified is None:
        return _say("needs_tech", 0.6, f"{_listed(done)} was done, but nobody has seen yet whether it helped.")
    return _say(
        "needs_l2",
        0.75,
        f"{_listed(done)} was done, and what showed the trouble is as it was. Look before it is done again.",
    )


def _hindered(case: VerdictCase) -> RuleVerdict | None:
    stopped = [step for step in case.steps if step.changes and step.outcome in {"denied", "failed", "simulated"}]
    if not stopped:
        return None
    what = _listed([step.tool for step in stopped])
    how = {"denied": "was not allowed", "failed": "failed", "simulated": "was only tried out"}[stopped[-1].outcome]
    if case.asks_change or _explained(case) >= _EXPLAINED:
        return _say("needs_tech", 0.8, f"It is clear what to do, but {what} {how}.")
    return _say("needs_l2", 0.65, f"{what} {how}, and the cause is not clear.")


def _answer_verdict(case: VerdictCase) -> RuleVerdict | None:
    """A question that cited sources answer. Whatever asks for a change is not settled by words."""
    if case.asks_change or case.answered < _PARTLY:
        return None
    if case.answered >= _ANSWERED and not case.missing:
        return _say("auto_resolved", round(0.6 + 0.35 * case.answered, 2), "Cited sources answer what was asked.")
    if case.missing:
        return _say("needs_client", 0.7, f"To answer it, only the requester can tell {_listed(list(case.missing))}.")
    return _say("needs_tech", 0.55, "The sources answer only a part of it.")


def _understood(case: VerdictCase) -> RuleVerdict | None:
    best = max(case.findings, key=lambda finding: finding.explains, default=None)
    if best is None or best.explains < _EXPLAINED:
        return None
    if not best.cited:
        return _say("needs_l2", 0.6, "The likely cause has no source that could be cited.")
    confidence = round(0.5 + 0.4 * best.explains, 2)
    if best.up_to == "client":
        return _say("needs_client", confidence, "The cause is known, and only the requester can put it right.")
    if best.up_to == "nobody" and not case.asks_change:
        return _say("auto_resolved", confidence, "The cause is known, and the requester is told all there is to it.")
    return _say("needs_tech", confidence, "The cause is known, and somebody has to put it right.")


def _asks_back(case: VerdictCase) -> RuleVerdict | None:
    if not case.missing:
        return None
    return _say("needs_client", 0.8, f"Only the requester can tell {_listed(list(case.missing))}.")


def _nothing_worked(case: VerdictCase) -> RuleVerdict | None:
    if case.findings or not case.steps or any(step.outcome in {"done", "simulated"} for step in case.steps):
        return None
    return _say("failed", 0.8, "None of the tools could be used.")


def _wants_change(case: VerdictCase) -> RuleVerdict | None:
    if not case.asks_change:
        return None
    return _say("needs_tech", 0.7, "A change is asked for, and none was made.")


def _all_well(case: VerdictCase) -> RuleVerdict | None:
    healthy = [finding for finding in case.findings if finding.healthy]
    if not healthy or len(healthy) < len(case.findings):
        return None
    return _say("needs_l2", 0.6, "Everything that was looked at is in order, and yet something is wrong.")


def _half_understood(case: VerdictCase) -> RuleVerdict | None:
    best = _explained(case)
    return _say("needs_l2", 0.55, "The cause is only guessed at.") if best >= _PARTLY else None


_RULES: tuple[_Rule, ...] = (
    _not_worth_it,
    _unknown_effect,
    _danger,
    _no_budget,
    _waits,
    _torn,
    _left_to_a_person,
    _changed,
    _hindered,
    _answer_verdict,
    _understood,
    _asks_back,
    _nothing_worked,
    _wants_change,
    _all_well,
    _half_understood,
)


def _is_put_right(case: VerdictCase) -> bool:
    return case.verified is True and any(step.changes and step.outcome == "done" for step in case.steps)


def _explained(case: VerdictCase) -> float:
    return max((finding.explains for finding in case.findings), default=0.0)


def _say(verdict: Verdict, confidence: float, *reasons: str) -> RuleVerdict:
    return RuleVerdict(verdict, confidence, reasons)


def _listed(names: list[str]) -> str:
    names = list(dict.fromkeys(names))
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
