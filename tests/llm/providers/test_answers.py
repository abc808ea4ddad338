"""Both vendors' packages against scripted vendors: what is asked arrives, and what is answered comes back."""

import json

import pytest

from gaby.llm.messages import ChatMessage, ToolResult, ToolSpec, ToolUse
from tests.llm.providers.desk import FIND, UNLOCK, VERDICT, Desk
from tests.support.models import Call, Reply, call, calls, refusal, structured

pytestmark = pytest.mark.promise("G1")
HOW = pytest.mark.parametrize("how", ["chat", "stream"])

CONVERSATION = (
    ChatMessage("user", "Kevin cannot sign in."),
    ChatMessage(
        "assistant", "I look him up.", uses=(ToolUse("toolu_01", FIND.name, {"email": "kevin@hartwell.example"}),)
    ),
    ChatMessage("user", replies=(ToolResult("toolu_01", "locked since 09:12"),)),
    ChatMessage("assistant", uses=(ToolUse("call_2", UNLOCK.name, {}), ToolUse("call_3", FIND.name, {"email": "x"}))),
    ChatMessage("user", "Hurry.", replies=(ToolResult("call_2", "not allowed", failed=True), ToolResult("call_3", ""))),
)


@HOW
async def test_a_text_comes_back_as_it_was_said(desk: Desk, how: str) -> None:
    said = "Unlocked.\n\nTwo lines, “quotes”, a \u2028 separator, \x85 and 日本語 😀 \\n."
    desk.models.say(Reply(said, model="the-real-one-2030"))
    answer = await desk.either(how)
    assert (answer.text, answer.stop, answer.uses) == (said, "end", ())
    assert answer.model == "the-real-one-2030"


async def test_the_pieces_of_a_stream_are_its_answer(desk: Desk) -> None:
    desk.models.say(Reply("A somewhat longer text, which comes in more than one piece."))
    pieces, answer = await desk.stream()
    assert pieces == answer.text == "A somewhat longer text, which comes in more than one piece."


@HOW
async def test_tool_calls_come_back_under_our_names(desk: Desk, how: str) -> None:
    desk.models.say(calls(call(FIND.name, {"email": "kevin@hartwell.example"}), call(UNLOCK.name), text="I look."))
    answer = await desk.either(how, tools=(FIND, UNLOCK))
    assert answer.stop == "tools"
    assert answer.text == "I look."
    assert [(use.name, use.arguments) for use in answer.uses] == [
        (FIND.name, {"email": "kevin@hartwell.example"}),
        (UNLOCK.name, {}),
    ]
    assert len({use.id for use in answer.uses}) == 2


@HOW
async def test_a_tool_that_nobody_offered_comes_back_under_the_name_that_the_model_used(desk: Desk, how: str) -> None:
    """Whether it exists is for those to say who know all tools."""
    desk.models.say(calls(Call("rm_minus_rf", '{"path": "/"}')))
    answer = await desk.either(how, tools=(FIND,))
    assert [use.name for use in answer.uses] == ["rm_minus_rf"]


async def test_a_whole_conversation_with_tools_is_accepted(desk: Desk) -> None:
    """The vendors check that calls and results fit together, and so does this one."""
    desk.models.say(Reply("Done."))
    answer = await desk.chat(messages=CONVERSATION, tools=(FIND, UNLOCK), envelope="What is known: nothing.")
    assert answer.text == "Done."
    sent = json.dumps(desk.body)
    assert '"is_error": true' in sent or "The call failed. not allowed" in sent


@pytest.mark.parametrize(
    "name", ["plain", "a.b", "a.b.c", "a__b", "a/b", "_x", "x" * 200, "sp ace", "日本", "a_.b", "a._b", "-", "a.b-c_d"]
)
async def test_tools_of_any_name_can_be_offered_and_called(desk: Desk, name: str) -> None:
    desk.models.say(calls(call(name)))
    history = (ChatMessage("user", "go"), ChatMessage("assistant", uses=(ToolUse("an id: " + "x" * 60, name, {}),)))
    replied = ChatMessage("user", replies=(ToolResult("an id: " + "x" * 60, "ok"),))
    tools = (ToolSpec(name, "A tool.", {"type": "object"}), FIND)
    answer = await desk.chat(messages=(*history, replied), tools=tools)
    assert [use.name for use in answer.uses] == [name]


async def test_a_model_can_be_made_to_use_a_tool(desk: Desk) -> None:
    desk.models.say(calls(call(FIND.name)))
    await desk.chat(tools=(FIND,), must_use_tool=True)
    assert desk.body["tool_choice"] in ("required", {"type": "any"})


@HOW
async def test_a_shape_is_demanded_in_the_words_of_the_vendor(desk: Desk, how: str) -> None:
    """The scripted vendors refuse schemas that the real ones refuse, and this one has a minimum and a default."""
    desk.models.say(structured({"verdict": "resolved", "reason": "unlocked", "score": 1}))
    answer = await desk.either(how, shape=VERDICT)
    assert json.loads(answer.text)["verdict"] == "resolved"
    wanted = desk.body.get("response_format") or desk.body["output_config"]["format"]
    assert wanted["type"] == "json_schema"


@HOW
@pytest.mark.promise("G8")
async def test_a_refusal_is_no_answer(desk: Desk, how: str) -> None:
    desk.models.say(refusal("I cannot help with that."))
    answer = await desk.either(how, tools=(FIND,))
    assert (answer.stop, answer.uses) == ("refusal", ())


@HOW
@pytest.mark.promise("G8")
async def test_a_refusal_calls_no_tools(desk: Desk, how: str) -> None:
    desk.models.say(Reply("No.", calls=(call(UNLOCK.name),), stop="refusal"))
    answer = await desk.either(how, tools=(UNLOCK,))
    assert (answer.stop, answer.uses) == ("refusal", ())


@HOW
@pytest.mark.promise("G8")
@pytest.mark.parametrize("most", [1, 4, 5, 7])
async def test_an_answer_that_was_too_long_calls_no_tools(desk: Desk, how: str, most: int) -> None:
    """Wherever it was cut: in the text, in the arguments, between two calls."""
    long = calls(call(UNLOCK.name), call(FIND.name, {"email": "kevin@hartwell.example"}), text="I try.")
    desk.models.say(long)
    answer = await desk.either(how, tools=(FIND, UNLOCK), max_output_tokens=most)
    assert (answer.stop, answer.uses) == ("length", ())
    assert answer.usage.output <= most


async def test_thoughts_of_a_model_are_not_its_answer(claude: Desk) -> None:
    for how in ("chat", "stream"):
        claude.models.say(Reply("Unlocked.", thoughts="The user seems to be in a hurry."))
        assert (await claude.either(how)).text == "Unlocked."


async def test_empty_parts_are_left_out(desk: Desk) -> None:
    messages = (
        ChatMessage("user", "Hello."),
        ChatMessage("assistant", "  "),
        ChatMessage("user", "\n"),
        ChatMessage("user", "Hello?"),
    )
    assert (await desk.chat(system=" ", messages=messages)).text == "Fine."
    assert "system" not in json.dumps(desk.body)


async def test_a_conversation_may_begin_with_the_assistant(desk: Desk) -> None:
    messages = (ChatMessage("assistant", "How can I help?"), ChatMessage("user", "Kevin cannot sign in."))
    assert (await desk.chat(messages=messages, envelope="What is known: nothing.")).text == "Fine."
