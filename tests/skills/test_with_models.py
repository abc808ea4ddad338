"""With a model: its answer is taken when it fits the input, and asked about when it does not."""

import json
from typing import Any

import pytest

from gaby.llm.skill import Skill
from gaby.skills import plan, review, search_queries, summarise, triage
from tests.llm.conftest import runtime, vendors
from tests.llm.scenes import Bench
from tests.support.models.replies import Reply, call, calls, structured

pytestmark = [
    pytest.mark.promise("G2", "G8"),
    pytest.mark.parametrize("database_url", ["sqlite"], indirect=True),
]
__all__ = ["runtime", "vendors"]

FIND = call("directory.find_user", {"email": "ada@lanternfish.example"})
END = {"verdict": "needs_tech", "why": "Nothing is left to do.", "reply": "A colleague goes on."}
REVIEWED = {
    "sentences": [
        {"number": 1, "support": "supported", "why": ""},
        {"number": 2, "support": "not_needed", "why": ""},
    ],
    "complete": True,
    "why": "It was unlocked, and that was seen.",
}
GOOD: list[tuple[Skill[Any, Any], Reply]] = [
    (
        triage.skill,
        structured(
            {"intent": "outage", "urgency": "high", "worth_investigating": True, "confidence": 0.9, "reasons": ["All."]}
        ),
    ),
    (summarise.skill, Reply("The account is locked [directory.find_user#1].")),
    (summarise.skill, Reply("Nothing was found that answers this.")),
    (search_queries.skill, structured({"queries": ["webhook 401 after key rotation"]})),
    (plan.skill, calls(FIND)),
    (plan.skill, calls(call("search_knowledge", {"queries": ["account locked"]}))),
    (plan.skill, calls(call("conclude", END))),
    (review.skill, structured(REVIEWED)),
    (review.skill, Reply(f"Here it is:\n\n{json.dumps(REVIEWED)}\n\nAsk if anything is unclear.")),
]
BAD: list[tuple[Skill[Any, Any], Reply, str]] = [
    (triage.skill, structured({"intent": "party", "urgency": "high"}), "intent"),
    (summarise.skill, Reply("The account is locked [kb://made-up]."), "no source"),
    (
        summarise.skill,
        Reply("The account is locked [directory.find_user#1]. All is well otherwise."),
        "lacks its source",
    ),
    (search_queries.skill, structured({"queries": ["x"] * 9}), "queries"),
    (plan.skill, calls(call("directory.delete_user", {"email": "x"})), "no tool"),
    (plan.skill, calls(call("search_knowledge", {"queries": []})), "do not fit"),
    (plan.skill, calls(*(call("directory.find_user", {"email": f"a{n}@b.example"}) for n in range(9))), "calls"),
    (plan.skill, Reply("Nothing is left to do."), "called no tool"),
    (plan.skill, calls(call("conclude", {**END, "reply": "It is so [c9]."})), "no source"),
    (
        plan.skill,
        calls(call("directory.find_user", {"mail": "x"}), call("directory.guess", {})),
        "There is no tool 'directory__guess'",
    ),
    (review.skill, structured({**REVIEWED, "complete": "perhaps"}), "complete"),
    (review.skill, structured({**REVIEWED, "sentences": []}), "Say of the sentences 1, 2"),
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
