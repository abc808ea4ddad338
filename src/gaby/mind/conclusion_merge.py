"""What came of several things in one ticket, as one end: resolved only when every one of them is."""

from collections.abc import Sequence

from gaby.kernel.outcomes import Verdict
from gaby.mind.situations import RuleConclusion
from gaby.mind.verdicts import CaseFinding, VerdictCase, judge

_QUOTED = 120
_ALL_ALIKE: frozenset[Verdict] = frozenset({"needs_client", "needs_l2", "failed", "failed_budget"})
"""Where all end so, the whole does."""
_MARKS = {ord("["): "(", ord("]"): ")"}


def joined(parts: Sequence[tuple[str, RuleConclusion]]) -> RuleConclusion:
    """The words of each part, and how it ended."""
    ends = [conclusion for _, conclusion in parts]
    cases = [each.case for each in ends]
    case = VerdictCase(
        findings=(*_left(parts), *(finding for each in cases for finding in each.findings)),
        steps=tuple(dict.fromkeys(step for each in cases for step in each.steps)),
        missing=tuple(dict.fromkeys(name for each in cases for name in each.missing)),
        answered=min(each.answered for each in cases),
        asks_change=any(each.asks_change for each in cases),
        verified=_verified(cases),
        settles=any(each.settles for each in cases),
        security=any(each.security for each in cases),
        contradictions=max(each.contradictions for each in cases),
        budget_gone=any(each.budget_gone for each in cases),
    )
    return RuleConclusion(
        case,
        judge(case),
        tuple(dict.fromkeys(sentence for each in ends for sentence in each.sentences)),
        tuple(dict.fromkeys(sentence for each in ends for sentence in each.notes)),
        next((each.cause for each in ends if each.cause), ""),
        tuple(dict.fromkeys(citation for each in ends for citation in each.followed)),
    )


def _left(parts: Sequence[tuple[str, RuleConclusion]]) -> list[CaseFinding]:
    """What is not settled, by name, so that nobody overlooks it."""
    verdicts: set[Verdict] = {conclusion.judgement.verdict for _, conclusion in parts}
    if len(verdicts) == 1 and verdicts <= _ALL_ALIKE:
        return []
    return [
        CaseFinding(f"Not settled: {_named(words)}. {' '.join(conclusion.judgement.reasons)}", up_to="person")
        for words, conclusion in parts
        if conclusion.judgement.verdict != "auto_resolved"
    ]


def _named(words: str) -> str:
    quoted = " ".join(words.split()).translate(_MARKS)
    return f'"{quoted[:_QUOTED].rstrip(" .!?,;:")}"'


def _verified(cases: Sequence[VerdictCase]) -> bool | None:
    seen = [each.verified for each in cases if any(step.changes and step.outcome == "done" for step in each.steps)]
    if False in seen:
        return False
    return True if seen and all(seen) else None
