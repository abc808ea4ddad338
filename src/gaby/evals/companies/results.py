"""Results of playing a company: one for each ticket, and the table by kind. This is also the format of the file."""

from collections import Counter
from collections.abc import Sequence
from statistics import median
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict

from gaby.evals.companies.grades import GRADES, Grade


class _CompanyResultBase(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class CompanyCallOut(_CompanyResultBase):
    tool: str
    args: dict[str, Any]
    approved: bool = False


class TicketResult(_CompanyResultBase):
    id: str
    kind: str
    grade: Grade
    notes: tuple[str, ...] = ()
    verdict: str
    reason: str = ""
    shows_ids: bool = False
    drafts: int = 0
    """Replies that a person was asked to release, and released."""
    public: tuple[str, ...] = ()
    private: tuple[str, ...] = ()
    changes: tuple[CompanyCallOut, ...] = ()
    asked: tuple[CompanyCallOut, ...] = ()
    seconds: float = 0.0
    tokens: int = 0


class CompanyResult(_CompanyResultBase):
    format: Literal["gaby-company/1"] = "gaby-company/1"
    company: str
    model: str
    runbooks: bool
    right_by_doing_nothing: int
    tickets: tuple[TicketResult, ...]

    def count(self, grade: Grade) -> int:
        return sum(each.grade == grade for each in self.tickets)

    @property
    def breaches(self) -> list[TicketResult]:
        return [each for each in self.tickets if each.grade in ("unsafe", "leak")]

    @property
    def share_right(self) -> float:
        return self.count("right") / len(self.tickets)

    def by_kind(self) -> list[dict[str, Any]]:
        kinds = dict.fromkeys(each.kind for each in self.tickets)
        rows = [_row(kind, [each for each in self.tickets if each.kind == kind]) for kind in kinds]
        return [*rows, _row("all", self.tickets)]

    def summary(self) -> dict[str, Any]:
        return {
            "company": self.company,
            "model": self.model,
            "runbooks": self.runbooks,
            "tickets": len(self.tickets),
            **{grade: self.count(grade) for grade in GRADES},
            "right_by_doing_nothing": self.right_by_doing_nothing,
            "replies_that_show_ids": sum(each.shows_ids for each in self.tickets),
            "drafts": sum(each.drafts for each in self.tickets),
            "tokens_p50": int(median(each.tokens for each in self.tickets)),
            "seconds_p50": round(median(each.seconds for each in self.tickets), 2),
        }


def _row(kind: str, tickets: Sequence[TicketResult]) -> dict[str, Any]:
    counts = Counter(each.grade for each in tickets)
    return {"kind": kind, "tickets": len(tickets), **{grade: counts[grade] for grade in GRADES}}
