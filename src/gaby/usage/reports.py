"""What was spent: by day, model, skill or workspace."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from enum import StrEnum
from typing import Any

from sqlalchemy import ColumnElement, Select, case, func, select

from gaby.kernel.database import ReadSession
from gaby.kernel.errors import Invalid
from gaby.kernel.ids import RunId
from gaby.llm.budget_ledger import OFFLINE
from gaby.usage.models import LlmCall

MOST_DAYS = 400


class ReportGrouping(StrEnum):
    DAY = "day"
    MODEL = "model"
    SKILL = "skill"
    TIER = "tier"


@dataclass(frozen=True)
class UsageLine:
    """A sum. `nano_usd` counts only calls of known price; `unpriced` says how many are missing from it."""

    name: str
    calls: int
    offline: int
    failed: int
    input_tokens: int
    output_tokens: int
    cache_read_tokens: int
    cache_write_tokens: int
    nano_usd: int
    unpriced: int

    @property
    def tokens(self) -> int:
        return self.input_tokens + self.output_tokens + self.cache_read_tokens + self.cache_write_tokens


async def report(session: ReadSession, since: date, until: date, by: ReportGrouping) -> list[UsageLine]:
    """Every day from `since` to `until`, both included, in UTC."""
    if not since <= until <= since + timedelta(days=MOST_DAYS):
        raise Invalid(f"Give a first and a last day, at most {MOST_DAYS} days apart.")
    rows = await session.execute(_sums(_name(by, _day(session))).where(*_between(session, since, until)))
    return [UsageLine(str(name), *(int(each or 0) for each in sums)) for name, *sums in rows]


async def total(session: ReadSession, since: date, until: date) -> UsageLine:
    lines = await report(session, since, until, ReportGrouping.DAY)
    sums = [sum(getattr(line, name) for line in lines) for name in list(UsageLine.__dataclass_fields__)[1:]]
    return UsageLine("total", *sums)


async def calls(session: ReadSession, *, limit: int, run_id: RunId | None = None) -> Sequence[LlmCall]:
    """The newest first."""
    query = select(LlmCall).where(LlmCall.workspace_id == session.workspace_id)
    if run_id is not None:
        query = query.where(LlmCall.run_id == run_id)
    return (await session.scalars(query.order_by(LlmCall.created_at.desc(), LlmCall.id.desc()).limit(limit))).all()


def _sums(name: ColumnElement[Any]) -> Select[*tuple[Any, ...]]:
    asked = LlmCall.provider != OFFLINE
    sums: Select[*tuple[Any, ...]] = (
        select(
            name,
            func.sum(case((asked, 1), else_=0)),
            func.sum(case((asked, 0), else_=1)),
            func.sum(case((LlmCall.state.in_(("failed", "unknown", "lost")), 1), else_=0)),
            func.sum(LlmCall.input_tokens),
            func.sum(LlmCall.output_tokens),
            func.sum(LlmCall.cache_read_tokens),
            func.sum(LlmCall.cache_write_tokens),
            func.sum(LlmCall.cost_nano_usd),
            func.sum(case((LlmCall.cost_nano_usd.is_(None) & (LlmCall.state != "held"), 1), else_=0)),
        )
        .group_by(name)
        .order_by(name)
    )
    return sums


def _name(by: ReportGrouping, day: ColumnElement[Any]) -> ColumnElement[Any]:
    match by:
        case ReportGrouping.DAY:
            return day
        case ReportGrouping.MODEL:
            return case((LlmCall.provider == OFFLINE, OFFLINE), else_=LlmCall.provider + "/" + LlmCall.model)
        case ReportGrouping.SKILL:
            return LlmCall.skill.expression
        case ReportGrouping.TIER:
            return LlmCall.tier.expression


def _day(session: ReadSession) -> ColumnElement[Any]:
    if session.get_bind().dialect.name == "postgresql":
        return func.to_char(func.timezone("UTC", LlmCall.created_at), "YYYY-MM-DD")
    return func.date(LlmCall.created_at)


def _between(session: ReadSession, since: date, until: date) -> tuple[ColumnElement[bool], ...]:
    begin = datetime(since.year, since.month, since.day, tzinfo=UTC)
    end = datetime(until.year, until.month, until.day, tzinfo=UTC) + timedelta(days=1)
    return (
        LlmCall.workspace_id == session.workspace_id,
        LlmCall.created_at >= begin,
        LlmCall.created_at < end,
    )
