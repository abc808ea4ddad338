"""With a model: its answer is taken when it fits the input, and asked about when it does not."""

from typing import Any

import pytest

from gaby.llm.skill import Skill
from gaby.skills import choose_tools, compare, complete, find_entities, judge, plan, search_queries, summarise, triage
from tests.llm.conftest import runtime, vendors
from tests.llm.scenes import Bench
from tests.support.models.replies import Reply, call, calls, structured

pytestmark = [
    pytest.mark.promise("G2", "G8"),
    pytest.mark.parametrize("database_url", ["sqlite"], indirect=True),
]
__all__ = ["runtime", "vendors"]

FIND = call("directory.find_user", {"email": "ada@lanternfish.example"})
GOOD: list[tuple[Skill[Any, Any], Reply]] = [
    (
        triage.skill,
        structured(
            {"intent": "outage", "urgency": "high", "worth_investigating": True, "confidence": 0.9, "reasons": ["All."]}
        ),
    ),
    (find_entities.skill, structured({"entities": [{"kind": "id", "value": "INV-2041"}]})),
    (choose_tools.skill, calls(FIND)),
    (choose_tools.skill, Reply("None of them would help.")),
    (summarise.skill, Reply("The account is locked [directory.find_user#1].")),
    (summarise.skill, Reply("Nothing was found that answers this.")),
    (judge.skill, structured({"verdict": "auto_resolved", "confidence": 0.9, "reasons": ["Unlocked."]})),
    (
        compare.skill,
        structured({"contradictions": [{"first": 0, "second": 1, "kind": "negation", "why": "locked or active"}]}),
    ),
    (search_queries.skill, structured({"queries": ["webhook 401 after key rotation"]})),
    (plan.skill, calls(FIND)),
    (plan.skill, calls(call("search_knowledge", {"queries": ["account locked"]}))),
    (plan.skill, calls(call("conclude", {"why": "Nothing is left to do."}))),
    (plan.skill, Reply("Nothing is left to do.")),
    (complete.skill, structured({"complete": True, "why": "It was unlocked, and that was seen."})),
]
BAD: list[tuple[Skill[Any, Any], Reply, str]] = [
    (triage.skill, structured({"intent": "party", "urgency": "high"}), "intent"),
    (find_entities.skill, structured({"entities": [{"kind": "id", "value": "INV-9999"}]}), "stand in the text"),
    (choose_tools.skill, calls(call("directory.delete_user", {"email": "x"})), "no tool"),
    (choose_tools.skill, calls(call("directory.find_user", {"mail": "x"})), "do not fit"),
    (summarise.skill, Reply("The account is locked [kb://made-up]."), "no source"),
    (
        summarise.skill,
        Reply("The account is locked [directory.find_user#1]. All is well otherwise."),
        "lacks its source",
    ),
    (
        compare.skill,
        structured({"contradictions": [{"first": 0, "second": 9, "kind": "value", "why": "x"}]}),
        "numbers",
    ),
    (search_queries.skill, structured({"queries": ["x"] * 9}), "queries"),
    (plan.skill, calls(call("directory.delete_user", {"email": "x"})), "no tool"),
    (plan.skill, calls(call("search_knowledge", {"queries": []})), "do not fit"),
    (plan.skill, calls(*(call("directory.find_user", {"email": f"a{n}@b.example"}) for n in range(9))), "calls"),
    (complete.skill, structured({"complete": "perhaps", "why": "Who knows."}), "complete"),
]


@pytest.mark.parametrize(("skill", "reply"), GOOD, ids=lambda each: getattr(each, "name", ""))
async def test_an_answer_that_fits_is_taken(runtime: Bench, skill: Skill[Any, Any], reply: Reply) -> None:
    runtime.server.say(reply)
    result = await runtime.run(skill, skill.example)
    assert result.source == "anthropic/claude-test"
    assert len(runtime.server.requests) == 1


@pytest.mark.parametrize(("skill", "reply", "wrong"), BAD, ids=lambda each: getattr(each, "name", ""))
async def test_an_answer_that_does_not_fit_is_asked_about_and_then_left(
    runtime: Bench, skill: Skill[Any, Any], reply: Reply, wrong: str
) -> None:
    runtime.server.say(reply, reply)
    result = await runtime.run(skill, skill.example)
    assert (result.offline, result.trouble) == (True, "garbage")
    assert wrong in runtime.server.requests[-1].body.decode()


async def test_no_model_calls_resolved_what_waits_for_a_person(runtime: Bench) -> None:
    waiting = judge.Case(steps=[judge.Step(tool="billing.refund", outcome="asked", changes=True)])
    resolved = structured({"verdict": "auto_resolved", "confidence": 1, "reasons": ["I say so."]})
    runtime.server.say(resolved, resolved)
    result = await runtime.run(judge.skill, waiting)
    assert (result.trouble, result.value.verdict) == ("garbage", "needs_tech")
