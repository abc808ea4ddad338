"""The skill runtime: typed answers, one clarifying retry, the chain, and an answer of its own at the end."""

import asyncio
import json
from datetime import timedelta
from typing import Any

import pytest

from gaby.kernel.clock import ManualClock
from gaby.kernel.database import Database
from gaby.llm.budget_ledger import DayBudgetSpent, RunBudgetSpent
from gaby.llm.messages import TokenUsage
from gaby.llm.prompts import Prompt, PromptBroken
from gaby.llm.results import StreamReset, StreamToken
from gaby.llm.tiers import Tier
from gaby.llm.untrusted_text import PromptRedactor
from gaby.usage.limits import BudgetLimits, SpendCap
from tests.llm.scenes import CLAUDE, GPT, PRICE, Bench, bench, said
from tests.llm.skills import TELL, WANT, WEIGH, Complaint, Told, Wanted, Weight
from tests.support.models.replies import Reply, Status, call, calls, hang, refusal, structured
from tests.support.models.scripted_vendors import ScriptedModels

pytestmark = [
    pytest.mark.promise("G2"),
    pytest.mark.parametrize("database_url", ["sqlite"], indirect=True),
]

GOOD = structured({"kilos": 3, "why": "it says so"})


def body(runtime: Bench, number: int = -1) -> dict[str, Any]:
    return json.loads(runtime.server.requests[number].body)


async def test_an_answer_comes_typed_and_stands_in_the_ledger(runtime: Bench) -> None:
    runtime.server.say(GOOD)
    result = await runtime.run(WEIGH, Complaint())
    assert result.value == Weight(kilos=3, why="it says so")
    assert (result.source, result.degraded, result.offline) == ("anthropic/claude-test", False, False)
    [bill] = runtime.server.billed
    assert result.usage == TokenUsage(bill.input, bill.output, bill.cache_read, bill.cache_write)
    [row] = await runtime.calls()
    assert (row.state, row.skill, row.tier, f"{row.provider}/{row.model}") == ("done", "weigh", "big", str(CLAUDE))
    assert row.cost_nano_usd == PRICE.nano_usd(result.usage) == result.nano_usd
    assert row.prompt_hash == WEIGH.prompt.id.hash


@pytest.mark.promise("G8")
async def test_garbage_is_asked_about_once_with_what_is_wrong_with_it(runtime: Bench) -> None:
    runtime.server.say(structured({"kilos": 500}), GOOD)
    result = await runtime.run(WEIGH, Complaint())
    assert result.value.kilos == 3
    assert [hop.outcome for hop in result.hops] == ["unacceptable", "answered"]
    told = json.dumps(body(runtime)["messages"])
    assert "less than or equal to 100" in told
    assert "why: Field required" in told
    assert [row.state for row in await runtime.calls()] == ["done", "done"]


@pytest.mark.promise("G8")
@pytest.mark.parametrize(
    ("reply", "trouble"),
    [(Reply("{"), "garbage"), (Reply("no JSON at all"), "garbage"), (Reply("[1]"), "garbage"), (refusal(), "refusal")],
)
async def test_garbage_twice_is_answered_without_the_model_and_says_so(
    runtime: Bench, reply: Reply, trouble: str
) -> None:
    runtime.route(CLAUDE, GPT)
    runtime.server.say(reply, reply)
    result = await runtime.run(WEIGH, Complaint())
    assert (result.source, result.trouble, result.degraded) == ("offline", trouble, True)
    assert result.value.why == "by its length"
    assert len(runtime.server.requests) == 2
    assert [row.provider for row in await runtime.calls()] == ["anthropic", "anthropic", "offline"]


@pytest.mark.promise("G8")
async def test_an_answer_that_was_cut_at_its_length_is_not_used(runtime: Bench) -> None:
    runtime.server.say(Reply('{"kilos": 3, "why": "x"}', stop="length"), GOOD)
    result = await runtime.run(WEIGH, Complaint())
    assert result.value.why == "it says so"
    assert "too long" in json.dumps(body(runtime)["messages"])


@pytest.mark.promise("G4")
async def test_a_failing_provider_is_tried_three_times_and_then_the_next(runtime: Bench) -> None:
    runtime.route(CLAUDE, GPT)
    runtime.server.say(Status(500), Status(503), Status(529), GOOD)
    result = await runtime.run(WEIGH, Complaint())
    assert result.source == str(GPT)
    assert not result.degraded
    assert [hop.model for hop in result.hops] == [str(CLAUDE)] * 3 + [str(GPT)]
    assert runtime.pauses == [0.25, 0.5]
    assert [(row.provider, row.state, row.hop) for row in await runtime.calls()] == [
        ("anthropic", "failed", 0),
        ("anthropic", "failed", 1),
        ("anthropic", "failed", 2),
        ("openai", "done", 3),
    ]


@pytest.mark.promise("G4")
async def test_when_all_fail_gaby_answers_by_itself_and_says_why(runtime: Bench) -> None:
    runtime.route(CLAUDE, GPT)
    runtime.server.respond = lambda _received: Status(500)
    result = await runtime.run(WEIGH, Complaint(complaint="abc"))
    assert (result.value.kilos, result.source, result.trouble) == (3, "offline", "unavailable")
    rows = await runtime.calls()
    assert [row.state for row in rows] == ["failed"] * 6 + ["done"]
    assert (rows[-1].provider, rows[-1].error, rows[-1].cost_nano_usd) == ("offline", "unavailable", 0)


@pytest.mark.promise("G4")
async def test_more_than_three_failures_in_five_minutes_rest_the_provider_for_ten(runtime: Bench) -> None:
    runtime.route(CLAUDE, GPT)
    runtime.server.say(Status(500), Status(500), Status(500), GOOD)
    await runtime.run(WEIGH, Complaint())
    runtime.clock.advance(timedelta(minutes=4))
    runtime.server.say(Status(500), GOOD)
    result = await runtime.run(WEIGH, Complaint())
    assert [hop.outcome for hop in result.hops] == ["model_down", "answered"]
    runtime.server.say(GOOD)
    result = await runtime.run(WEIGH, Complaint())
    assert [(hop.model, hop.outcome) for hop in result.hops] == [(str(CLAUDE), "resting"), (str(GPT), "answered")]
    runtime.clock.advance(timedelta(minutes=10))
    runtime.server.say(GOOD)
    assert (await runtime.run(WEIGH, Complaint())).source == str(CLAUDE)


@pytest.mark.promise("G4")
async def test_a_provider_that_fails_again_after_its_rest_rests_again(runtime: Bench) -> None:
    runtime.route(CLAUDE)
    for _ in range(2):
        runtime.server.say(*[Status(500)] * 3)
        await runtime.run(WEIGH, Complaint())
    assert len(runtime.server.requests) == 4
    runtime.clock.advance(timedelta(minutes=11))
    runtime.server.say(Status(500))
    assert [hop.outcome for hop in (await runtime.run(WEIGH, Complaint())).hops] == ["model_down"]
    assert [hop.outcome for hop in (await runtime.run(WEIGH, Complaint())).hops] == ["resting"]


@pytest.mark.promise("G4")
async def test_failures_long_ago_do_not_count(runtime: Bench) -> None:
    for _ in range(4):
        runtime.server.say(Status(500), GOOD)
        assert (await runtime.run(WEIGH, Complaint())).source == str(CLAUDE)
        runtime.clock.advance(timedelta(minutes=5, seconds=1))


async def test_a_busy_provider_is_asked_again_when_it_said(runtime: Bench) -> None:
    runtime.server.say(Status(429, headers={"Retry-After": "7"}), GOOD)
    assert (await runtime.run(WEIGH, Complaint())).source == str(CLAUDE)
    assert runtime.pauses == [7]


async def test_a_provider_that_is_busy_for_longer_than_patience_is_left(runtime: Bench) -> None:
    runtime.route(CLAUDE, GPT)
    runtime.server.say(Status(429, headers={"Retry-After": "120"}), GOOD)
    assert (await runtime.run(WEIGH, Complaint())).source == str(GPT)
    assert runtime.pauses == []


@pytest.mark.parametrize("status", [401, 403, 404, 400, 413])
async def test_what_will_not_get_better_is_not_tried_again(runtime: Bench, status: int) -> None:
    runtime.route(CLAUDE, GPT)
    runtime.server.say(Status(status), GOOD)
    result = await runtime.run(WEIGH, Complaint())
    assert [hop.model for hop in result.hops] == [str(CLAUDE), str(GPT)]


async def test_a_model_that_hangs_is_given_up_and_counted_as_if_it_had_charged(
    vendors: ScriptedModels, db: Database, clock: ManualClock
) -> None:
    async with bench(vendors, db, clock, waits=timedelta(seconds=0.2)) as runtime:
        vendors.say(hang(), GOOD)
        result = await runtime.run(WEIGH, Complaint())
        assert [hop.outcome for hop in result.hops] == ["model_timed_out", "answered"]
        first, second = await runtime.calls()
        assert (first.state, first.input_tokens, first.cost_nano_usd) == ("unknown", 0, None)
        assert first.counted_tokens == first.held_tokens > 0
        assert second.counted_tokens < second.held_tokens


@pytest.mark.promise("G6", "B8")
async def test_at_the_limit_nobody_is_asked(vendors: ScriptedModels, db: Database, clock: ManualClock) -> None:
    async with bench(vendors, db, clock, limits=BudgetLimits(run=SpendCap(tokens=100))) as runtime:
        with pytest.raises(RunBudgetSpent):
            await runtime.run(WEIGH, Complaint())
        assert vendors.requests == []
        assert await runtime.calls() == []


@pytest.mark.promise("G6")
async def test_the_retry_needs_budget_too(vendors: ScriptedModels, db: Database, clock: ManualClock) -> None:
    async with bench(vendors, db, clock) as runtime:
        vendors.say(GOOD)
        await runtime.run(WEIGH, Complaint())
        [asked] = await runtime.calls()
    # Enough for the first question, and not for the second.
    limits = BudgetLimits(run=SpendCap(), day=SpendCap(tokens=asked.held_tokens + 20))
    async with bench(vendors, db, clock, limits=limits) as runtime:
        vendors.say(Reply("nonsense " * 20))
        with pytest.raises(DayBudgetSpent):
            await runtime.run(WEIGH, Complaint())
        assert len(vendors.requests) == 2
        assert [row.state for row in await runtime.calls()] == ["done"]


@pytest.mark.promise("G3", "B8")
async def test_a_plan_without_the_tier_asks_the_best_that_it_has(runtime: Bench) -> None:
    runtime.route(CLAUDE, tiers=frozenset({Tier.SMALL}), small=(GPT,), weigh=(CLAUDE,))
    runtime.server.say(GOOD)
    result = await runtime.run(WEIGH, Complaint())
    assert (result.source, result.tier) == (str(GPT), Tier.SMALL)


@pytest.mark.promise("G3")
async def test_a_skill_may_have_a_route_of_its_own(runtime: Bench) -> None:
    runtime.route(CLAUDE, weigh=(GPT,))
    runtime.server.say(GOOD)
    assert (await runtime.run(WEIGH, Complaint())).source == str(GPT)
    runtime.server.say(Reply("About 3 kg."))
    assert (await runtime.run(TELL, Complaint())).source == str(CLAUDE)


async def test_without_any_model_the_skill_still_answers(runtime: Bench) -> None:
    runtime.route()
    result = await runtime.run(WEIGH, Complaint(complaint="abc"))
    assert (result.value.kilos, result.offline, result.degraded) == (3, True, False)
    [row] = await runtime.calls()
    assert (row.provider, row.state, row.cost_nano_usd) == ("offline", "done", 0)
    assert runtime.server.requests == []


@pytest.mark.promise("G8")
async def test_tool_calls_arrive_whole_checked_and_once(runtime: Bench) -> None:
    read = call("scale.read", {"scale": "S1"})
    runtime.server.say(calls(read, call("scale.list"), call("scale.read", {"scale": "S1"})))
    result = await runtime.run(WANT, Complaint())
    assert result.value == Wanted(calls=[("scale.read", {"scale": "S1"}), ("scale.list", {})])


@pytest.mark.promise("G8")
@pytest.mark.parametrize(
    "wrong",
    [
        calls(call("scale.melt")),
        calls(call("scale.read")),
        calls(call("scale.read", {"scale": 3})),
        calls(call("scale.list"), call("scale.read", {"scale": "S1", "twice": True})),
        Reply("I would read the scale."),
        Reply("", calls=(call("scale.list"),), stop="length"),
    ],
)
async def test_a_tool_call_that_does_not_fit_never_leaves_the_runtime(runtime: Bench, wrong: Reply) -> None:
    runtime.server.say(wrong, wrong)
    result = await runtime.run(WANT, Complaint())
    assert (result.trouble, result.value) == ("garbage", Wanted(calls=[("scale.list", {})]))
    runtime.server.say(wrong, calls(call("scale.list")))
    assert (await runtime.run(WANT, Complaint())).source == str(CLAUDE)


@pytest.mark.parametrize("model", [CLAUDE, GPT])
async def test_a_stream_gives_tokens_and_then_the_checked_whole(runtime: Bench, model: Any) -> None:
    runtime.route(model)
    runtime.server.say(Reply("It weighs about 3 kg, says the scale."))
    steps, result = await runtime.stream(TELL, Complaint())
    assert len(steps) > 2
    assert said(steps) == "It weighs about 3 kg, says the scale."
    assert result.value == Told(text=said(steps))


@pytest.mark.promise("G8")
@pytest.mark.parametrize("model", [CLAUDE, GPT])
async def test_a_stream_that_breaks_off_begins_anew(runtime: Bench, model: Any) -> None:
    runtime.route(model)
    runtime.server.say(Reply("It weighs 900 kg or more", cut_after=5, abrupt=True), Reply("It weighs 3 kg."))
    steps, result = await runtime.stream(TELL, Complaint())
    again = next(place for place, step in enumerate(steps) if isinstance(step, StreamReset))
    assert said(steps[again:]) == result.value.text == "It weighs 3 kg."
    assert [hop.outcome for hop in result.hops] == ["answer_cut_off", "answered"]
    costs = [row.cost_nano_usd for row in await runtime.calls()]
    assert result.nano_usd == (None if None in costs else sum(cost or 0 for cost in costs))


async def test_a_streamed_answer_that_cannot_be_used_is_taken_back(runtime: Bench) -> None:
    runtime.server.say(Reply("It is heavy."), Reply("It weighs 3 kg."))
    steps, result = await runtime.stream(TELL, Complaint())
    assert [step for step in steps if isinstance(step, StreamReset)] == [StreamReset("Say how many kg.")]
    assert result.value.text == "It weighs 3 kg."


async def test_a_stream_without_a_model_ends_with_the_whole(runtime: Bench) -> None:
    runtime.route()
    steps, result = await runtime.stream(TELL, Complaint(complaint="Too heavy."))
    assert steps == []
    assert (result.value, result.offline) == (Told(text="Too heavy."), True)


async def test_only_prose_can_be_streamed(runtime: Bench) -> None:
    with pytest.raises(TypeError):
        runtime.runner.stream(WEIGH, Complaint(), runtime.occasion)


@pytest.mark.promise("G6")
async def test_who_hangs_up_in_the_middle_has_paid(runtime: Bench) -> None:
    runtime.server.say(hang())
    asking = asyncio.create_task(runtime.run(WEIGH, Complaint()))
    await asyncio.to_thread(runtime.server.wait_for_requests, 1)
    asking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asking
    [row] = await runtime.calls()
    assert (row.state, row.error) == ("unknown", "cancelled")
    assert (await runtime.desk.counts())["run"].held_tokens == 0


@pytest.mark.promise("G6")
async def test_a_stream_that_nobody_reads_on_is_settled(runtime: Bench) -> None:
    runtime.server.say(Reply("It weighs about 3 kg, says the scale.", hang_after=5))
    stream = runtime.runner.stream(TELL, Complaint(), runtime.occasion)
    assert isinstance(await anext(stream), StreamToken)
    await stream.aclose()
    [row] = await runtime.calls()
    assert row.state == "unknown"
    assert (await runtime.desk.counts())["run"].held_tokens == 0


async def test_a_prompt_that_lacks_a_value_is_found_before_anything_is_spent(runtime: Bench) -> None:
    blocks = "{% block system %}{{ nobody }}{% endblock %}{% block message %}{% endblock %}"
    broken = Prompt("weigh", "{# version: 9 #}" + blocks)
    with pytest.raises(PromptBroken, match="nobody"):
        await runtime.runner.run(WEIGH, Complaint(), runtime.occasion, prompt=broken)
    assert runtime.server.requests == []
    assert await runtime.calls() == []


async def test_another_prompt_can_be_tried_and_its_hash_is_recorded(runtime: Bench) -> None:
    other = Prompt("weigh", "{# version: 9 #}{% block system %}Hm.{% endblock %}{% block message %}?{% endblock %}")
    runtime.server.say(GOOD)
    result = await runtime.runner.run(WEIGH, Complaint(), runtime.occasion, prompt=other)
    assert result.prompt == other.id
    assert [row.prompt_hash for row in await runtime.calls()] == [other.id.hash]


@pytest.mark.promise("G5")
async def test_the_four_breakpoints_stand_after_tools_system_envelope_and_messages(runtime: Bench) -> None:
    runtime.server.say(calls(call("scale.list")))
    await runtime.run(WANT, Complaint(notes=["The scale was moved."]))
    sent = body(runtime)
    assert "cache_control" in sent["tools"][-1]
    assert "cache_control" not in sent["tools"][0]
    assert "cache_control" in sent["system"][-1]
    [message] = sent["messages"]
    envelope, question = message["content"]
    assert "The scale was moved." in envelope["text"]
    assert "cache_control" in envelope
    assert "The scale is off" in question["text"]
    assert "cache_control" in question


async def test_models_see_what_is_concealed_nowhere(runtime: Bench) -> None:
    runtime.server.say(GOOD)
    occasion = runtime.occasion.__class__(
        runtime.desk.workspace_id,
        runtime.occasion.run_id,
        PromptRedactor(lambda text: text.replace("Ada", "[PERSON_1]")),
    )
    await runtime.runner.run(WEIGH, Complaint(complaint="Ada is heavy", notes=["Ada again"]), occasion)
    sent = runtime.server.requests[-1].body.decode()
    assert "Ada" not in sent
    assert sent.count("[PERSON_1]") == 2


async def test_structured_output_is_asked_for_in_the_vendors_own_way(runtime: Bench) -> None:
    runtime.server.say(GOOD, GOOD)
    await runtime.run(WEIGH, Complaint())
    assert body(runtime)["output_config"]["format"]["type"] == "json_schema"
    runtime.route(GPT)
    await runtime.run(WEIGH, Complaint())
    assert body(runtime)["response_format"]["json_schema"]["strict"] is True
