"""What a model's tokens cost: from a maintained table, or as the workspace agreed with its vendor."""

from dataclasses import dataclass, replace
from decimal import ROUND_CEILING, Decimal
from functools import lru_cache
from typing import Any

from gaby.llm.messages import TokenUsage

_NANO_PER_MTOK = Decimal(1000)
"""A dollar for a million tokens is a thousand billionths for one."""

TABLE_NAMES = {
    "anthropic": "anthropic",
    "openai": "openai",
    "azure": "azure",
    "bedrock": "aws",
    "vertex": "google",
    "voyage": "voyageai",
}
"""Kinds of providers, as the price table calls them. What runs on one's own server is in no table."""


@dataclass(frozen=True)
class Price:
    """US dollars for a million tokens."""

    input: Decimal
    output: Decimal
    cache_read: Decimal
    cache_write: Decimal
    longer: tuple[tuple[int, "Price"], ...] = ()
    """Some vendors charge more for prompts beyond a length; the last step that is passed counts for the whole call."""

    def nano_usd(self, usage: TokenUsage) -> int:
        """Rounded up, so that many small calls never look free."""
        step = self._step(usage.total - usage.output)
        return _nano(
            step.input * usage.input
            + step.output * usage.output
            + step.cache_read * usage.cache_read
            + step.cache_write * usage.cache_write
        )

    def most(self, input_tokens: int, output_tokens: int) -> int:
        """The most a call can cost, whatever the cache does."""
        step = self._step(input_tokens)
        dearest = max(step.input, step.cache_read, step.cache_write)
        return _nano(dearest * input_tokens + step.output * output_tokens)

    def _step(self, input_tokens: int) -> "Price":
        return next((price for start, price in reversed(self.longer) if input_tokens > start), self)


def _nano(dollars_for_a_million: Decimal) -> int:
    return int((dollars_for_a_million * _NANO_PER_MTOK).to_integral_value(ROUND_CEILING))


@lru_cache(maxsize=1000)
def listed_price(kind: str, model: str) -> Price | None:
    """None when the table does not know the model."""
    provider = TABLE_NAMES.get(kind)
    if provider is None:
        return None
    import genai_prices

    try:
        model_price = genai_prices.calc_price(
            genai_prices.Usage(input_tokens=1), model_ref=model, provider_id=provider
        ).model_price
    except (LookupError, ValueError):
        return None
    starts = sorted({tier.start for name in _PARTS for tier in _tiers(model_price, name)})
    base = _at(model_price, 0)
    return (
        None
        if base is None
        else replace(base, longer=tuple((start, _at(model_price, start + 1) or base) for start in starts))
    )


_PARTS = ("input_mtok", "output_mtok", "cache_read_mtok", "cache_write_mtok")


def _at(model_price: Any, input_tokens: int) -> Price | None:
    into, output, read, write = (_part(model_price, name, input_tokens) for name in _PARTS)
    if into is None:
        return None
    return Price(into, output or Decimal(0), into if read is None else read, into if write is None else write)


def _part(model_price: Any, name: str, input_tokens: int) -> Decimal | None:
    price: Any = getattr(model_price, name, None)
    if price is None:
        return None
    for tier in _tiers(model_price, name):
        if input_tokens > tier.start:
            price = tier
    return Decimal(getattr(price, "price", getattr(price, "base", price)))


def _tiers(model_price: Any, name: str) -> list[Any]:
    return sorted(getattr(getattr(model_price, name, None), "tiers", ()), key=lambda tier: tier.start)
