"""What the API takes and gives about usage."""

from datetime import datetime
from typing import Annotated, Self
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field, model_validator

from gaby.usage.budgets import NANO, LimitChange
from gaby.usage.limits import MOST_NANO_USD, MOST_TOKENS, SPANS, BudgetLimits
from gaby.usage.models import LlmCall
from gaby.usage.plans import PlanName
from gaby.usage.reports import UsageLine

Tokens = Annotated[int, Field(strict=True, ge=0, le=MOST_TOKENS)]
Dollars = Annotated[float, Field(strict=True, ge=0, le=MOST_NANO_USD / NANO, allow_inf_nan=False)]


class LimitsIn(BaseModel):
    """What is left out stays; what is null goes back to the installation's limit."""

    model_config = ConfigDict(extra="forbid")

    run_tokens: Tokens | None = None
    run_usd: Dollars | None = None
    day_tokens: Tokens | None = None
    day_usd: Dollars | None = None
    month_tokens: Tokens | None = None
    month_usd: Dollars | None = None

    @model_validator(mode="after")
    def _says_something(self) -> Self:
        if not self.model_fields_set:
            raise ValueError("say which limit to change")
        return self

    def change(self) -> LimitChange:
        given = {name: getattr(self, name) for name in self.model_fields_set}
        usual = frozenset(name for name, value in given.items() if value is None)
        return LimitChange(**{name: value for name, value in given.items() if value is not None}, usual=usual)


class PlanIn(BaseModel):
    model_config = ConfigDict(extra="forbid")

    plan: PlanName | None


class LimitsOut(BaseModel):
    """What counts for this workspace. Null is without limit."""

    plan: PlanName
    tiers: list[str]
    runs_per_month: int | None
    run_tokens: int | None
    run_usd: float | None
    day_tokens: int | None
    day_usd: float | None
    month_tokens: int | None
    month_usd: float | None

    @classmethod
    def from_domain(cls, limits: BudgetLimits) -> Self:
        numbers = {
            name: value
            for span in SPANS
            for name, value in (
                (f"{span}_tokens", limits.cap(span).tokens),
                (f"{span}_usd", _usd(limits.cap(span).nano_usd)),
            )
        }
        return cls.model_validate(
            {
                "plan": limits.plan.name,
                "tiers": sorted(limits.plan.tiers, key=lambda tier: tier.rank),
                "runs_per_month": limits.plan.runs_per_month,
                **numbers,
            }
        )


class UsageLineOut(BaseModel):
    name: str
    calls: int
    offline: Annotated[int, Field(description="Answers that no model gave.")]
    failed: int
    tokens: int
    input_tokens: int
    output_tokens: int
    cache_read_tokens: int
    cache_write_tokens: int
    usd: Annotated[float, Field(description="Of the calls whose price is known.")]
    unpriced: Annotated[int, Field(description="Calls whose price nobody knows.")]

    @classmethod
    def from_domain(cls, line: UsageLine) -> Self:
        return cls(
            name=line.name,
            calls=line.calls,
            offline=line.offline,
            failed=line.failed,
            tokens=line.tokens,
            input_tokens=line.input_tokens,
            output_tokens=line.output_tokens,
            cache_read_tokens=line.cache_read_tokens,
            cache_write_tokens=line.cache_write_tokens,
            usd=line.nano_usd / NANO,
            unpriced=line.unpriced,
        )


class UsageOut(BaseModel):
    total: UsageLineOut
    lines: list[UsageLineOut]


class ModelCallOut(BaseModel):
    id: UUID
    run_id: UUID
    created_at: datetime
    skill: str
    tier: str
    model: str
    state: str
    error: str | None
    hop: int
    input_tokens: int
    output_tokens: int
    cache_read_tokens: int
    cache_write_tokens: int
    usd: float | None
    milliseconds: int | None
    prompt_hash: str | None

    @classmethod
    def from_domain(cls, call: LlmCall) -> Self:
        return cls(
            id=call.id,
            run_id=call.run_id,
            created_at=call.created_at,
            skill=call.skill,
            tier=call.tier,
            model=call.model if call.model == call.provider else f"{call.provider}/{call.model}",
            state=call.state,
            error=call.error,
            hop=call.hop,
            input_tokens=call.input_tokens,
            output_tokens=call.output_tokens,
            cache_read_tokens=call.cache_read_tokens,
            cache_write_tokens=call.cache_write_tokens,
            usd=_usd(call.cost_nano_usd),
            milliseconds=call.milliseconds,
            prompt_hash=call.prompt_hash,
        )


def _usd(nano: int | None) -> float | None:
    return None if nano is None else nano / NANO
