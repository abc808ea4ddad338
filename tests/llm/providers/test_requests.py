"""What exactly is sent, where vendors differ."""

import json
from typing import Any

import pytest

from gaby.llm.errors import RequestRefused
from gaby.llm.messages import ChatMessage, OutputSchema
from tests.llm.providers.desk import FIND, VERDICT, Desk, opened
from tests.support.models import Reply, ScriptedModels

pytestmark = pytest.mark.promise("G1")


async def sent(models: ScriptedModels, kind: Any, options: dict[str, str], **changes: Any) -> Any:
    desk = opened(models, kind, **options)
    await desk.chat(**changes)
    await desk.provider.close()
    return models.requests[-1].json


async def test_openai_and_compatible_servers_are_told_the_limit_in_their_own_words(models: ScriptedModels) -> None:
    assert (await sent(models, "openai", {}))["max_completion_tokens"] == 500
    assert (await sent(models, "compatible", {}))["max_tokens"] == 500


async def test_openai_is_asked_to_keep_nothing(models: ScriptedModels) -> None:
    assert (await sent(models, "openai", {}))["store"] is False
    assert "store" not in await sent(models, "azure", {})
    assert "store" not in await sent(models, "compatible", {})


async def test_a_temperature_goes_only_to_those_who_take_one(models: ScriptedModels) -> None:
    """Anthropic refuses any request that has one."""
    assert (await sent(models, "openai", {}, temperature=0.2))["temperature"] == 0.2
    assert "temperature" not in await sent(models, "openai", {})
    assert "temperature" not in await sent(models, "anthropic", {}, temperature=0.2)


async def test_claude_can_be_told_how_much_to_think(models: ScriptedModels) -> None:
    body = await sent(models, "anthropic", {"thinking": "disabled", "effort": "low"}, shape=VERDICT)
    assert body["thinking"] == {"type": "disabled"}
    assert body["output_config"]["effort"] == "low"
    assert body["output_config"]["format"]["type"] == "json_schema"
    assert "thinking" not in await sent(models, "anthropic", {})


async def test_a_server_that_cannot_guarantee_a_shape_is_asked_in_words(models: ScriptedModels) -> None:
    for structured, has_format in (("json_object", True), ("prompt", False)):
        body = await sent(models, "compatible", {"structured": structured}, shape=VERDICT)
        assert ("response_format" in body) == has_format
        assert '"maxLength":200' in body["messages"][0]["content"]
        assert body["messages"][0]["content"].startswith("You help at a desk.")
    body = await sent(models, "compatible", {"structured": "prompt"}, shape=VERDICT, system="")
    assert body["messages"][0]["role"] == "system"


FREE = OutputSchema(
    "free", {"type": "object", "properties": {"by_name": {"type": "object", "additionalProperties": {}}}}
)


async def test_a_shape_that_cannot_be_guaranteed_is_refused_before_it_is_sent(models: ScriptedModels) -> None:
    for kind in ("anthropic", "openai", "azure", "vertex"):
        with pytest.raises(RequestRefused, match="list of pairs"):
            await sent(models, kind, {}, shape=FREE)
    assert not models.requests
    body = await sent(models, "compatible", {}, shape=FREE)
    assert body["response_format"]["json_schema"]["schema"] == dict(FREE.schema)


async def test_names_of_shapes_are_made_to_fit(models: ScriptedModels) -> None:
    shape = OutputSchema("the verdict, finally / " + "x" * 100, VERDICT.schema)
    body = await sent(models, "openai", {}, shape=shape)
    assert body["response_format"]["json_schema"]["name"].startswith("the_verdict_finally_x")


async def test_a_server_without_tools_is_never_offered_any(models: ScriptedModels) -> None:
    with pytest.raises(RequestRefused, match="option `tools`"):
        await sent(models, "compatible", {"tools": "no"}, tools=(FIND,))
    assert not models.requests


async def test_nothing_to_ask_is_not_asked(desk: Desk) -> None:
    for messages in ((), (ChatMessage("user", " "),), (ChatMessage("user", "x"), ChatMessage("assistant", "y"))):
        with pytest.raises(RequestRefused):
            await desk.chat(messages=messages)
        with pytest.raises(RequestRefused):
            await desk.stream(messages=messages)
    assert not desk.models.requests


async def test_what_was_gathered_stands_before_the_first_message(desk: Desk) -> None:
    desk.models.say(Reply("Fine."), Reply("Fine."))
    await desk.chat(envelope="What is known: the account is locked.")
    first = json.dumps(desk.body["messages"])
    assert first.index("the account is locked") < first.index("Kevin cannot sign in")
    await desk.chat(envelope="What is known: the account is locked.", messages=())
    assert "the account is locked" in json.dumps(desk.body["messages"])


async def test_a_schema_of_a_tool_is_sent_as_it_is(desk: Desk) -> None:
    """Its arguments are checked against it when they come; demanding all of them would make optional ones required."""
    await desk.chat(tools=(FIND,))
    tool = desk.body["tools"][0]
    assert (tool.get("input_schema") or tool["function"]["parameters"]) == dict(FIND.schema)
