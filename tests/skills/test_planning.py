"""The planner does nothing twice, looks again after a change, and answers without a model as the offline mind does."""

from typing import Any, Literal

import pytest

from gaby import mind
from gaby.llm.embeddings.local import DEFAULT, find_embedder
from gaby.llm.messages import Answer, ToolUse, Usage
from gaby.llm.outside import dressed, from_inside
from gaby.llm.skill import Unacceptable
from gaby.skills import complete, plan

pytestmark = pytest.mark.promise("L4", "L12", "G2")

EXAMPLE = plan.skill.example or plan.Envelope(title="", text="")
ADA = {"email": "ada@lanternfish.example"}
LOCKED = '{"users": [{"id": "u1", "email": "ada@lanternfish.example", "state": "locked"}]}'
Outcome = Literal["done", "simulated", "asked", "denied", "failed", "unknown"]


def made(number: int, tool: str, outcome: Outcome = "done", result: str = "") -> plan.MadeCall:
    lane = "write" if tool == "unlock_user" else "read"
    return plan.MadeCall(
        number=number, tool=f"directory.{tool}", arguments=ADA, outcome=outcome, lane=lane, result=result
    )


def after(*calls: plan.MadeCall) -> plan.Envelope:
    return EXAMPLE.model_copy(update={"calls": list(calls)})


def step(tool: str) -> plan.Step:
    return plan.Step(kind="call", calls=[plan.Call(tool=f"directory.{tool}", arguments=ADA)])


@pytest.mark.parametrize(
    ("calls", "tool"),
    [
        ([made(1, "find_user")], "find_user"),
        ([made(1, "find_user", "denied")], "find_user"),
        ([made(1, "unlock_user")], "unlock_user"),
        ([made(1, "unlock_user", "asked")], "unlock_user"),
        ([made(1, "unlock_user", "unknown")], "unlock_user"),
        ([made(1, "unlock_user"), made(2, "find_user")], "find_user"),
        ([], "delete_user"),
    ],
)
def test_what_was_settled_is_not_done_again(calls: list[plan.MadeCall], tool: str) -> None:
    with pytest.raises(Unacceptable):
        plan.check(after(*calls), step(tool))


@pytest.mark.parametrize(
    "calls", [[], [made(1, "find_user", "failed")], [made(1, "find_user"), made(2, "unlock_user")]]
)
def test_a_second_look_after_a_change_and_a_second_try_are_fine(calls: list[plan.MadeCall]) -> None:
    plan.check(after(*calls), step("find_user"))


def test_without_a_model_it_follows_the_runbook_to_the_end() -> None:
    embed = find_embedder(DEFAULT).embed
    first = plan.offline(EXAMPLE, embed)
    assert [call.tool for call in first.calls] == ["directory.find_user"]
    seen = made(1, "find_user", result=LOCKED)
    second = plan.offline(after(seen), embed)
    assert [(call.tool, call.arguments) for call in second.calls] == [("directory.unlock_user", ADA)]
    third = plan.offline(after(seen, made(2, "unlock_user")), embed)
    assert [call.tool for call in third.calls] == ["directory.find_user"]
    done = after(seen, made(2, "unlock_user"), made(3, "find_user", result=LOCKED.replace("locked", "active")))
    assert plan.offline(done, embed).kind == "conclude"
    assert mind.conclude(plan.situation(done), embed).judgement.verdict == "auto_resolved"


def read(*uses: tuple[str, dict[str, Any]], text: str = "") -> plan.Step:
    told = tuple(ToolUse(str(place), name, arguments) for place, (name, arguments) in enumerate(uses))
    return plan.read(EXAMPLE, Answer(text, "end", Usage(), "m", told))


def test_calls_come_before_a_search_and_a_search_before_the_end() -> None:
    search, end = ("search_knowledge", {"queries": ["a", "a"]}), ("conclude", {"why": "Done."})
    assert read(end, search, ("directory.find_user", ADA), text="Why not.").kind == "call"
    assert read(end, search).queries == ["a"]
    assert read(end).why == "Done."
    assert read(text="I am done.") == plan.Step(kind="conclude", why="I am done.")


@pytest.mark.promise("G8")
@pytest.mark.parametrize(
    "text",
    [
        "",
        "  \n",
        '{"name": "directory.find_user", "argu',
        '```json\n{"name": "conclude"}\n```',
        '[{"tool": ',
        "<tool_call>",
    ],
)
def test_a_call_that_was_only_written_down_is_no_end(text: str) -> None:
    """Broken off in its middle, it was once taken for a conclusion."""
    with pytest.raises(Unacceptable):
        read(text=text)


def test_what_stays_the_same_stands_first_in_the_prompt() -> None:
    """So that each step of a run reads all but its end from the vendor's cache."""

    def rendered(envelope: plan.Envelope) -> tuple[str, str, str]:
        values = dressed(envelope, lambda text: text)
        shown = plan.skill.prompt.render(values, inside=from_inside(values))
        return shown.system, shown.envelope, shown.message

    one, two = made(1, "find_user", result=LOCKED), made(2, "unlock_user")
    earlier, later = rendered(after(one)), rendered(after(one, two))
    assert earlier[:2] == later[:2]
    assert later[2].startswith(earlier[2].rpartition("What is")[0].rstrip())
    assert plan.specs(after(one)) == plan.specs(after(one, two))


def test_no_model_calls_complete_what_waits_or_was_not_judged_resolved() -> None:
    yes = complete.Completion(complete=True, why="I say so.")
    example = complete.skill.example
    assert example is not None
    complete.check(example, yes)
    waiting = example.model_copy(update={"changes": [complete.Made(tool="billing.refund", outcome="asked")]})
    for ending in (waiting, example.model_copy(update={"verdict": "needs_tech"})):
        with pytest.raises(Unacceptable):
            complete.check(ending, yes)
        complete.check(ending, complete.Completion(complete=False, why="It waits."))
