"""Two evaluations side by side: what got better, what got worse, and what changed in time and cost."""

from typing import Any, Literal, NamedTuple

from gaby.evals.judge import MARKS
from gaby.evals.results import CaseResult, SuiteResult

_NOTICEABLE = 0.2
"""Of the time. Less is noise."""
_FIGURES = (
    "passed",
    *(f"{mark}_right" for mark in MARKS),
    "sentences_supported",
    "seconds_p50",
    "seconds_p95",
    "calls_mean",
    "tokens",
    "usd",
)


class CaseChange(NamedTuple):
    name: str
    kind: Literal["better", "worse", "other", "new", "gone"]
    told: str


def compare(before: SuiteResult, after: SuiteResult) -> list[CaseChange]:
    """One line for each case that differs, the worst first."""
    old = {(case.group, case.name): case for case in before.cases}
    new = {(case.group, case.name): case for case in after.cases}
    changes = [CaseChange(name, "gone", "It is not evaluated any more.") for _, name in sorted(old.keys() - new.keys())]
    changes += [
        CaseChange(name, "new", "It passes." if new[group, name].passed else "It fails.")
        for group, name in sorted(new.keys() - old.keys())
    ]
    for key in sorted(old.keys() & new.keys()):
        if (change := _change(old[key], new[key])) is not None:
            changes.append(change)
    order = {"worse": 0, "gone": 1, "other": 2, "better": 3, "new": 4}
    return sorted(changes, key=lambda change: order[change.kind])


def _change(old: CaseResult, new: CaseResult) -> CaseChange | None:
    was, now = {fault.told for fault in old.faults}, {fault.told for fault in new.faults}
    lost = [mark for mark in MARKS if old.holds(mark) and not new.holds(mark)]
    won = [mark for mark in MARKS if new.holds(mark) and not old.holds(mark)]
    difference = "; ".join(sorted(now - was)) or "; ".join(f"right now: {mark}" for mark in won)
    if lost:
        return CaseChange(new.name, "worse", f"{', '.join(lost)}: {difference}")
    if won or (old.named or 0.0) < (new.named or 0.0):
        return CaseChange(new.name, "better", difference or "More of the root cause is named.")
    if old.verdict != new.verdict:
        return CaseChange(new.name, "other", f"{old.verdict} became {new.verdict}.")
    if now - was:
        return CaseChange(new.name, "other", difference)
    return None


def figures(before: SuiteResult, after: SuiteResult) -> list[dict[str, Any]]:
    """The summaries beside each other, with what is worth a word."""
    old, new = before.summary(), after.summary()
    names = [name for name in _FIGURES if name in old and name in new]
    names += [name for name in ("root_cause_named", "keywords_named") if name in old and name in new]
    return [
        {
            "figure": name,
            "before": old[name],
            "after": new[name],
            "change": _difference_text(name, old[name], new[name]),
        }
        for name in names
    ]


def _difference_text(name: str, old: float, new: float) -> str:
    difference = new - old
    if name.startswith("seconds"):
        if not old or abs(difference) / old < _NOTICEABLE:
            return "about the same"
        return f"{abs(difference) / old:.0%} {'slower' if difference > 0 else 'faster'}"
    return "the same" if not difference else f"{difference:+.3g}"
