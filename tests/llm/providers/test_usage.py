"""What is recorded is what the vendor charged, and nothing that no vendor could charge."""

import asyncio
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gaby.llm.messages import ModelResponse, TokenUsage
from gaby.llm.providers.anthropic_response import usage_of as anthropic_usage
from gaby.llm.providers.openai_response import usage_of as openai_usage
from tests.llm.providers.desk import FIND, Desk, opened
from tests.support.models import Bill, Reply, ScriptedModels, call, scripted_models

pytestmark = pytest.mark.promise("G7")

anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)
numbers = (
    st.integers(-(10**30), 10**30)
    | st.floats(allow_nan=False, allow_infinity=False)
    | anything.filter(lambda value: not isinstance(value, float))
)
FIELDS = ("input_tokens", "output_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")


def bookable(usage: TokenUsage) -> bool:
    amounts = (usage.input, usage.output, usage.cache_read, usage.cache_write)
    return all(type(amount) is int and 0 <= amount <= 10_000_000 for amount in amounts)


@given(st.dictionaries(st.sampled_from(FIELDS), numbers) | anything.filter(lambda value: not isinstance(value, float)))
def test_no_claim_of_anthropics_can_make_us_record_nonsense(claimed: Any) -> None:
    assert bookable(anthropic_usage(claimed))


@given(
    st.fixed_dictionaries(
        {},
        optional={
            "prompt_tokens": numbers,
            "completion_tokens": numbers,
            "prompt_tokens_details": anything
            | st.fixed_dictionaries({}, optional={"cached_tokens": numbers, "cache_write_tokens": numbers}),
        },
    )
)
def test_no_claim_of_openais_can_make_us_record_nonsense(claimed: dict[str, Any]) -> None:
    usage = openai_usage(claimed)
    assert bookable(usage)
    prompt = claimed.get("prompt_tokens")
    if isinstance(prompt, int) and not isinstance(prompt, bool) and 0 <= prompt <= 10_000_000:
        assert usage.input + usage.cache_read + usage.cache_write == prompt


def test_what_came_from_the_cache_is_not_counted_twice() -> None:
    details = {"cached_tokens": 800, "cache_write_tokens": 150}
    told = {"prompt_tokens": 1000, "completion_tokens": 20, "total_tokens": 1020, "prompt_tokens_details": details}
    assert openai_usage(told) == TokenUsage(input=50, output=20, cache_read=800, cache_write=150)
    assert openai_usage({"prompt_tokens": 10, "prompt_tokens_details": {"cached_tokens": 99}}) == TokenUsage(
        cache_read=10
    )


LIES: dict[str, dict[str, Any]] = {
    "negative": {"input_tokens": -5, "output_tokens": -7, "prompt_tokens": -5, "completion_tokens": -7},
    "texts": {"input_tokens": "many", "output_tokens": None, "prompt_tokens": "many", "completion_tokens": []},
    "nothing": {},
}


@pytest.mark.parametrize("lie", LIES)
@pytest.mark.parametrize("how", ["chat", "stream"])
async def test_a_provider_that_lies_about_tokens_changes_nothing_in_the_ledger(desk: Desk, how: str, lie: str) -> None:
    desk.models.say(Reply("Fine.", usage=LIES[lie]))
    assert (await desk.either(how)).usage == TokenUsage()


async def test_a_provider_that_claims_billions_is_believed_only_so_far(desk: Desk) -> None:
    names: list[str] = ["input_tokens", "output_tokens", "prompt_tokens", "completion_tokens"]
    claimed = dict.fromkeys(names, 10**15)
    desk.models.say(Reply("Fine.", usage=claimed))
    assert bookable((await desk.chat()).usage)


def charged(bill: Bill) -> TokenUsage:
    return TokenUsage(bill.input, bill.output, bill.cache_read, bill.cache_write)


replies = st.builds(
    Reply,
    text=st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=60),
    calls=st.lists(st.just(call(FIND.name, {"email": "kevin@hartwell.example"})), max_size=1).map(tuple),
    thoughts=st.sampled_from(["", "Let me think about this for a moment."]),
    pings=st.integers(0, 2),
)


@pytest.mark.parametrize("kind", ["anthropic", "openai"])
@given(script=st.lists(st.tuples(st.booleans(), replies), min_size=1, max_size=4), limit=st.integers(1, 60))
def test_whatever_is_answered_is_recorded_as_it_was_charged(
    kind: Any, script: list[tuple[bool, Reply]], limit: int
) -> None:
    with scripted_models() as models:
        recorded = asyncio.run(_ask(models, kind, script, limit))
        assert recorded == [charged(bill) for bill in models.billed]


async def _ask(models: ScriptedModels, kind: Any, script: list[tuple[bool, Reply]], limit: int) -> list[TokenUsage]:
    desk = opened(models, kind)
    answers: list[ModelResponse] = []
    for streamed, reply in script:
        models.say(reply)
        answers.append(await desk.either("stream" if streamed else "chat", tools=(FIND,), max_output_tokens=limit))
    await desk.provider.close()
    return [answer.usage for answer in answers]
