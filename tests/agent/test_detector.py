"""Going round in circles is noticed: first a word, then the tool is withdrawn, then the verdict."""

from uuid import UUID

import pytest

from gaby.agent.detector import LoopSignals, notice
from gaby.agent.memory import CallRecord
from gaby.kernel.outcomes import CallOutcome

pytestmark = pytest.mark.promise("L9")


def calls(*told: str) -> list[CallRecord]:
    """`list:1` reads with that argument; `!` failed, `x` was denied, `w` is a change."""
    return [call(number, each) for number, each in enumerate(told, 1)]


def call(number: int, told: str) -> CallRecord:
    tool, _, argument = told.rstrip("!xw").partition(":")
    outcomes: dict[str, CallOutcome] = {"!": "failed", "x": "denied"}
    return CallRecord(
        id=UUID(int=number),
        number=number,
        tool=f"company.{tool}",
        arguments={"id": argument},
        access="write" if told.endswith("w") else "read",
        outcome=outcomes.get(told[-1], "done"),
    )


@pytest.mark.parametrize(
    "told",
    [
        [],
        ["list:1"],
        ["list:1", "list:1"],
        ["list:1", "list:2", "list:3"],
        ["list:1", "get:1", "list:2", "get:2"],
        ["list:1", "list:1", "unlock:1w", "list:1", "list:1"],
        ["list:1!", "list:2!", "list:3", "list:4!", "list:5!"],
        ["list:1!", "get:1!", "list:2!", "get:2!"],
    ],
)
def test_ordinary_work_is_left_alone(told: list[str]) -> None:
    assert notice(calls(*told), [], []) == LoopSignals()


CIRCLES = [
    (["list:1", "get:1", "list:1", "see:1", "list:1"], "company.list"),
    (["list:1", "get:1", "list:1", "get:1"], "company.get"),
    (["list:1!", "list:2!", "list:3x"], "company.list"),
]


@pytest.mark.parametrize(("told", "tool"), CIRCLES, ids=["repeats", "turns", "failures"])
def test_first_a_word_then_the_tool_is_withdrawn_then_it_ends(told: list[str], tool: str) -> None:
    made = calls(*told)
    first = notice(made, [], [])
    assert len(first.nudges) == 1
    assert tool in first.nudges[0]
    assert (first.withdraw, first.enough) == ((), None)

    second = notice(made, first.nudges, [])
    assert (second.nudges, second.withdraw, second.enough) == ((), (tool,), None)
    assert notice(made, first.nudges, [tool]) == LoopSignals()
    assert notice(made, first.nudges, ["company.one", "company.two"]).enough == "It goes round in circles."


def test_when_nothing_works_it_ends_whichever_tools_were_tried() -> None:
    made = calls("a:1!", "b:1!", "c:1x", "d:1!", "e:1x", "f:1!")
    assert notice(made, [], []).enough == "Nothing that is tried works."
    assert notice(calls("a:1", "b:1!", "c:1x", "d:1!", "e:1x", "f:1!"), [], []).enough is None
