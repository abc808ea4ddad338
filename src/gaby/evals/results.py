"""Results of an evaluation: one for each case, and what they come to together. This is also the format of the file."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from statistics import mean, median
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from gaby.evals.errors import FixtureBroken
from gaby.evals.fixtures import Fixture
from gaby.evals.judge import MARKS, Fault, Mark, statements_in, unsupported
from gaby.evals.played_run import PlayedRun

Group = Literal["tickets", "incidents"]
_OPEN = frozenset({"needs_l2", "failed", "failed_budget"})
"""Ends at which Gaby itself says that it does not know the cause."""


class _ResultBase(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class FaultOut(_ResultBase):
    mark: Mark
    told: str


class PlayedStepOut(_ResultBase):
    system: str
    action: str
    detail: str = ""
    kind: str = "info"


class PlayedPostingOut(_ResultBase):
    body: str
    private: bool


class CaseResult(_ResultBase):
    name: str
    group: Group = "tickets"
    about: str = ""
    tags: tuple[str, ...] = ()
    title: str = ""
    text: str = ""
    expected: tuple[str, ...] = ()
    verdict: str
    reasons: tuple[str, ...] = ()
    faults: tuple[FaultOut, ...] = ()
    done: tuple[str, ...] = ()
    asked: tuple[str, ...] = ()
    sentences: int = 0
    """That were posted and need a source."""
    doubted: tuple[str, ...] = ()
    """Of these, the ones that their sources do not plainly say."""
    posted: tuple[PlayedPostingOut, ...] = ()
    timeline: tuple[PlayedStepOut, ...] = ()
    iterations: int = 0
    calls: int = 0
    seconds: float = 0.0
    tokens: int = 0
    usd: float = 0.0
    named: Annotated[float | None, Field(description="Of a recorded incident: the share of what had to be named.")] = (
        None
    )

    @property
    def passed(self) -> bool:
        return not self.faults

    @property
    def is_safe(self) -> bool:
        return self.holds("safety")

    def holds(self, mark: Mark) -> bool:
        return all(fault.mark != mark for fault in self.faults)

    @classmethod
    def from_run(cls, fixture: Fixture, played: PlayedRun, faults: Sequence[Fault]) -> Self:
        return cls(
            name=fixture.name,
            about=fixture.expect.about,
            tags=fixture.expect.tags,
            title=fixture.ticket.title,
            text=fixture.ticket.body[:4000],
            expected=fixture.expect.verdict,
            faults=tuple(FaultOut(mark=each.mark, told=each.told) for each in faults),
            **run_summary(played),
        )


def run_summary(played: PlayedRun) -> dict[str, Any]:
    """What is kept of how it went."""
    return {
        "verdict": played.verdict,
        "reasons": played.reasons,
        "done": tuple(call.tool for call in played.calls if call.access == "write" and call.outcome == "done"),
        "asked": tuple(call.tool for call in played.asked),
        "sentences": len(statements_in(played)),
        "doubted": tuple(unsupported(played)),
        "posted": tuple(PlayedPostingOut(body=each.body, private=each.private) for each in played.posted),
        "timeline": tuple(
            PlayedStepOut(system=each.system, action=each.action, detail=each.detail, kind=each.kind)
            for each in played.timeline
        ),
        "iterations": played.iterations,
        "calls": len(played.calls),
        "seconds": played.seconds,
        "tokens": played.tokens,
        "usd": played.nano_usd / 1e9,
    }


class SuiteResult(_ResultBase):
    """A whole evaluation."""

    format: Literal["gaby-eval/1"] = "gaby-eval/1"
    driver: str = "gaby"
    model: str = "offline"
    seconds: float = 0.0
    """From the first case to the last, with everything around them."""
    cases: tuple[CaseResult, ...]

    def in_group(self, group: Group) -> list[CaseResult]:
        return [case for case in self.cases if case.group == group]

    @property
    def breaches(self) -> list[CaseResult]:
        return [case for case in self.cases if not case.is_safe]

    def share_passed(self) -> float:
        """Of the tickets. Recorded incidents are counted by themselves."""
        tickets = self.in_group("tickets")
        return sum(case.passed for case in tickets) / len(tickets) if tickets else 0.0

    def summary(self) -> dict[str, Any]:
        tickets, incidents = self.in_group("tickets"), self.in_group("incidents")
        figures: dict[str, Any] = {"driver": self.driver, "model": self.model, "seconds": round(self.seconds, 1)}
        if tickets:
            figures |= _of_tickets(tickets)
        if incidents:
            figures |= {
                "incidents": len(incidents),
                "root_cause_named": sum(case.named == 1.0 for case in incidents),
                "incidents_concluded": sum(case.named == 1.0 and case.verdict not in _OPEN for case in incidents),
                "keywords_named": round(mean(case.named or 0.0 for case in incidents), 3),
                "incidents_safe": sum(case.is_safe for case in incidents),
                "incidents_within_limits": sum(case.holds("limits") for case in incidents),
            }
        return figures


def _of_tickets(cases: Sequence[CaseResult]) -> dict[str, Any]:
    spans = sorted(case.seconds for case in cases)
    return {
        "cases": len(cases),
        "passed": sum(case.passed for case in cases),
        **{f"{mark}_right": round(mean(case.holds(mark) for case in cases), 3) for mark in MARKS},
        "sentences": (sentences := sum(case.sentences for case in cases)),
        "sentences_supported": round(1 - sum(len(case.doubted) for case in cases) / max(1, sentences), 3),
        "verdicts": dict(sorted(Counter(case.verdict for case in cases).items())),
        "iterations_mean": round(mean(case.iterations for case in cases), 2),
        "calls_mean": round(mean(case.calls for case in cases), 2),
        "seconds_p50": round(median(spans), 3),
        "seconds_p95": round(spans[min(len(spans) - 1, int(len(spans) * 0.95))], 3),
        "tokens": sum(case.tokens for case in cases),
        "usd": round(sum(case.usd for case in cases), 4),
    }


def read_suite(path: Path) -> SuiteResult:
    try:
        return SuiteResult.model_validate_json(path.read_bytes())
    except OSError as error:
        raise FixtureBroken(f"{path} cannot be read: {error.strerror}.") from None
    except ValidationError as error:
        first = error.errors(include_input=False, include_url=False)[0]
        where = ".".join(map(str, first["loc"])) or "the whole"
        raise FixtureBroken(f"{path} is no result of `gaby eval run --out FILE`: {where}: {first['msg']}.") from None
