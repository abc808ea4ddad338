"""Prompt caching: where the breakpoints stand, and what ten turns of an investigation cost with them."""

from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gaby.llm.messages import ChatMessage, ModelRequest, ToolResult, ToolUse
from gaby.llm.providers.anthropic_request import message_params
from tests.llm.providers.desk import FIND, UNLOCK, Desk, opened
from tests.support.models import ScriptedModels

pytestmark = pytest.mark.promise("G5")

KNOWN = "What is known: " + "the account was locked after seven failures. " * 20
RULES = "You help at a desk. " + "Never guess. " * 30


def breakpoints(body: Any) -> list[str]:
    """The places of all of them, in the order of the prompt."""
    blocks = [("tools", tool) for tool in body.get("tools", [])]
    blocks += [("system", block) for block in body.get("system", [])]
    for number, message in enumerate(body["messages"]):
        blocks += [(f"message {number} block {place}", block) for place, block in enumerate(message["content"])]
    return [place for place, block in blocks if "cache_control" in block]


async def test_a_breakpoint_stands_at_the_end_of_each_part(claude: Desk) -> None:
    messages = (
        ChatMessage("user", "Kevin cannot sign in."),
        ChatMessage("assistant", "I look.", uses=(ToolUse("a", FIND.name, {}), ToolUse("b", UNLOCK.name, {}))),
        ChatMessage("user", "Hurry.", replies=(ToolResult("a", "locked"), ToolResult("b", "no"))),
    )
    await claude.chat(tools=(FIND, UNLOCK), system=RULES, envelope=KNOWN, messages=messages)
    assert breakpoints(claude.body) == ["tools", "system", "message 0 block 0", "message 2 block 1"]
    # What is asked behind the answers of tools is new each time.
    assert "cache_control" in claude.body["tools"][-1]
    assert claude.body["messages"][0]["content"][0]["text"] == KNOWN


async def test_empty_parts_get_no_breakpoint(claude: Desk) -> None:
    await claude.chat(system="")
    assert breakpoints(claude.body) == ["message 0 block 0"]
    await claude.chat(system="", envelope=KNOWN)
    assert breakpoints(claude.body) == ["message 0 block 0", "message 0 block 1"]
    await claude.chat(tools=(FIND,), envelope=KNOWN, messages=())
    assert breakpoints(claude.body) == ["tools", "system", "message 0 block 0"]


texts = st.sampled_from(["", " ", "Hello.", "A longer text with many words."])
turn = st.tuples(texts, texts)


@given(system=texts, envelope=texts, offered=st.integers(0, 3), turns=st.lists(turn, max_size=4))
def test_there_are_never_more_than_four(system: str, envelope: str, offered: int, turns: list[tuple[str, str]]) -> None:
    messages = [
        ChatMessage(role, text) for pair in turns for role, text in zip(("user", "assistant"), pair, strict=True)
    ]
    tools = (FIND, UNLOCK, FIND)[:offered]
    asked = (*messages, ChatMessage("user", "And now?"))
    body: Any = message_params(ModelRequest("m", system, asked, 10, envelope=envelope, tools=tools))
    assert len(breakpoints(body)) == 1 + bool(tools) + bool(system.strip()) + bool(envelope.strip())


async def investigate(desk: Desk, turns: int) -> list[Any]:
    """An investigation whose every turn adds a call and its result."""
    usages: list[Any] = []
    messages: list[ChatMessage] = [ChatMessage("user", "Kevin cannot sign in. Please find out why.")]
    for number in range(turns):
        answer = await desk.chat(tools=(FIND, UNLOCK), system=RULES, envelope=KNOWN, messages=tuple(messages))
        usages.append(answer.usage)
        use = ToolUse(f"call_{number}", FIND.name, {"email": f"kevin{number}@hartwell.example"})
        messages.append(ChatMessage("assistant", "I look further.", uses=(use,)))
        messages.append(ChatMessage("user", replies=(ToolResult(use.id, f"entry {number}: locked at 09:{number:02}"),)))
    return usages


@pytest.mark.promise("G7")
async def test_ten_turns_read_what_they_have_sent_before_from_the_cache(claude: Desk) -> None:
    usages = await investigate(claude, 10)
    assert usages[0].cache_read == 0
    for before, after in pairwise(usages):
        assert after.cache_read == before.cache_read + before.cache_write
        assert after.input == 0
    paid = sum(usage.input + 1.25 * usage.cache_write + 0.1 * usage.cache_read for usage in usages)
    sent = sum(usage.input + usage.cache_write + usage.cache_read for usage in usages)
    assert paid < sent / 3
    assert [(bill.input, bill.cache_read, bill.cache_write) for bill in claude.models.billed] == [
        (usage.input, usage.cache_read, usage.cache_write) for usage in usages
    ]


async def test_another_ticket_still_finds_the_tools_and_the_rules(claude: Desk) -> None:
    first = (await claude.chat(tools=(FIND,), system=RULES, envelope=KNOWN)).usage
    other = (await claude.chat(tools=(FIND,), system=RULES, envelope="What is known: nothing at all.")).usage
    assert first.cache_read == 0
    assert 0 < other.cache_read < first.cache_write


@pytest.mark.promise("G7")
async def test_openai_recognises_prefixes_by_itself_and_we_record_it(models: ScriptedModels) -> None:
    desk = opened(models, "openai")
    usages = await investigate(desk, 5)
    await desk.provider.close()
    assert usages[0].cache_read == 0
    assert all(usage.cache_read > usage.input for usage in usages[1:])
    assert [(bill.input, bill.cache_read, bill.cache_write) for bill in models.billed] == [
        (usage.input, usage.cache_read, 0) for usage in usages
    ]
