"""Whatever a planner writes as arguments, it gets a clear refusal, and nothing is called."""

import asyncio
from typing import Any

import pytest

from gaby.kernel.errors import GabyError
from gaby.tools import Done, ToolCall
from tests.tools.scenes import Scene

pytestmark = [pytest.mark.promise("S1"), pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)]


def nested(depth: int) -> Any:
    value: Any = "x"
    for _ in range(depth):
        value = [value]
    return value


HOSTILE: dict[str, Any] = {
    "not a number": float("nan"),
    "endless": float("inf"),
    "half a character": "a\ud800",
    "a huge integer": 10**400,
    "deep": nested(500),
    "bytes": b"x",
    "a set": {"x"},
    "an object": object(),
    "keys that are no texts": {1: 2},
    "a NUL": "a\0b",
    "a megabyte": "x" * 1_000_000,
}


NEVER_JSON = set(HOSTILE) - {"keys that are no texts", "a NUL"}


async def refusal(desk: Scene, tool: str, arguments: dict[str, Any]) -> int | None:
    """The status of the error; nothing when the call was at least decided."""
    call = ToolCall(f"desk.{tool}", arguments, desk.gaby.ids.new())
    try:
        await desk.gaby.tools.invoker.invoke(call, desk.run(words="acc-1001"))
    except GabyError as error:
        return error.status
    return None


@pytest.mark.parametrize(("tool", "name"), [("find_account", "email"), ("add_note", "text"), ("shaky", "fail")])
async def test_no_argument_is_too_hostile_to_be_refused(desk: Scene, tool: str, name: str) -> None:
    others = {"account_id": "acc-1001"} if tool == "add_note" else {}
    found = {label: await refusal(desk, tool, {**others, name: value}) for label, value in HOSTILE.items()}
    assert {label for label, status in found.items() if status == 422} == NEVER_JSON
    assert set(found.values()) == {422, None}
    assert not [line for line in desk.effects if "a\0b" not in line]


async def test_a_caller_who_changes_the_arguments_afterwards_changes_nothing(desk: Scene) -> None:
    """What was decided about is what is sent."""
    arguments = {"account_id": "acc-1001", "text": "hello"}
    run = desk.run(words="acc-1001")
    call = ToolCall("desk.add_note", arguments, desk.gaby.ids.new())
    asked = asyncio.create_task(desk.gaby.tools.invoker.invoke(call, run))
    await asyncio.sleep(0)
    arguments["account_id"] = "acc-2002"
    assert isinstance(await asked, Done)
    assert desk.effects == ["note acc-1001: hello"]


@pytest.mark.parametrize("tool", ["", "desk", "desk.", ".now", "desk.unlock.x", "DESK.unlock", "x\0", "x" * 10_000])
async def test_no_name_is_too_hostile_to_be_unknown(desk: Scene, tool: str) -> None:
    with pytest.raises(GabyError) as refused:
        await desk.gaby.tools.invoker.invoke(ToolCall(tool, {}, desk.gaby.ids.new()), desk.run())
    assert refused.value.status == 404
    assert len(refused.value.message) < 400
