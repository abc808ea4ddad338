"""A workspace's plan and limits, as its admins and those of the installation set them."""

from dataclasses import dataclass, fields
from typing import Any

from gaby.kernel.actors import Actor
from gaby.kernel.database import ReadSession, WriteSession
from gaby.kernel.errors import Invalid
from gaby.kernel.events import Event
from gaby.usage.limits import MOST_NANO_USD, MOST_TOKENS
from gaby.usage.models import UsageLimit
from gaby.usage.plans import PlanName

NANO = 1_000_000_000


@dataclass(frozen=True)
class LimitChange:
    """What is None stays as it is; `usual` names limits that go back to the installation's."""

    run_tokens: int | None = None
    run_usd: float | None = None
    day_tokens: int | None = None
    day_usd: float | None = None
    month_tokens: int | None = None
    month_usd: float | None = None
    usual: frozenset[str] = frozenset()


NAMES = tuple(field.name for field in fields(LimitChange) if field.name != "usual")


class Budgets:
    async def get(self, session: ReadSession) -> UsageLimit | None:
        return await session.get(UsageLimit, session.workspace_id)

    async def set_plan(self, session: WriteSession, actor: Actor, plan: PlanName | None) -> UsageLimit:
        row = await self._row(session)
        row.plan = None if plan is None else plan.value
        self._tell(session, actor, "usage.plan_set", {"plan": row.plan})
        return row

    async def change(self, session: WriteSession, actor: Actor, change: LimitChange) -> UsageLimit:
        if strange := change.usual - set(NAMES):
            raise Invalid(f"There is no limit {min(strange)[:60]!r}. There are: {', '.join(NAMES)}.")
        payload: dict[str, Any] = {}
        row = await self._row(session)
        for name in NAMES:
            wanted = None if name in change.usual else getattr(change, name)
            if wanted is not None or name in change.usual:
                payload[name] = wanted
                setattr(row, _column(name), None if wanted is None else _stored(name, wanted))
        self._tell(session, actor, "usage.limits_set", payload)
        return row

    async def _row(self, session: WriteSession) -> UsageLimit:
        row = await self.get(session)
        if row is None:
            row = UsageLimit(workspace_id=session.workspace_id)
            session.add(row)
            await session.flush()
        return row

    @staticmethod
    def _tell(session: WriteSession, actor: Actor, name: str, payload: dict[str, Any]) -> None:
        session.emit(Event(name, session.workspace_id, actor, payload))


def _column(name: str) -> str:
    return name.replace("_usd", "_nano_usd")


def _stored(name: str, value: float) -> int:
    """Whole tokens or billionths of a dollar, after a look at whether somebody can have meant it."""
    if name.endswith("_tokens"):
        if not 0 <= value <= MOST_TOKENS:
            raise Invalid(f"{name} must be from 0 to {MOST_TOKENS:,} tokens.")
        return int(value)
    # Also false for what is not a number.
    if not 0 <= value <= MOST_NANO_USD / NANO:
        raise Invalid(f"{name} must be from 0 to {MOST_NANO_USD // NANO:,} dollars.")
    return round(value * NANO)
