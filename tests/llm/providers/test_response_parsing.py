"""Details of the vendors' answers, event by event."""

from typing import Any

import orjson
import pytest

from gaby.llm.errors import AnswerCutOff, AnswerUnreadable
from gaby.llm.messages import TokenUsage
from gaby.llm.providers.anthropic_response import MessageStream, read_message
from gaby.llm.providers.openai_response import CompletionStream, read_completion
from gaby.llm.providers.response_builder import ResponseBuilder
from gaby.llm.providers.sse import ALIVE, ServerSentEvent

pytestmark = pytest.mark.promise("G7", "G8")


def gathering() -> ResponseBuilder:
    return ResponseBuilder({"desk__find": "desk.find"}, "asked-model")


def feed(reader: MessageStream | CompletionStream, *events: dict[str, Any]) -> str:
    return "".join(reader.feed(ServerSentEvent("", orjson.dumps(event).decode())) for event in events)


BEGUN = {"type": "message_start", "message": {"model": "claude", "usage": {"input_tokens": 7, "output_tokens": 1}}}
ENDED = {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 30}}
TEXT = {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "Hi"}}


def test_later_numbers_leave_out_what_has_not_changed() -> None:
    reader = MessageStream(gathering())
    cached = {"input_tokens": 7, "cache_read_input_tokens": 5, "cache_creation_input_tokens": 3, "output_tokens": 1}
    feed(reader, {"type": "message_start", "message": {"usage": cached}}, TEXT, ENDED, {"type": "message_stop"})
    assert reader.answer().usage == TokenUsage(input=7, output=30, cache_read=5, cache_write=3)


def test_later_numbers_replace_earlier_ones() -> None:
    reader = MessageStream(gathering())
    final = {**ENDED, "usage": {"input_tokens": 9, "cache_read_input_tokens": 2, "output_tokens": 4}}
    feed(reader, BEGUN, TEXT, final, {"type": "message_stop"})
    assert reader.answer().usage == TokenUsage(input=9, output=4, cache_read=2)


def test_events_that_nobody_knows_yet_are_passed_over() -> None:
    reader = MessageStream(gathering())
    news = {"type": "content_block_delta", "index": 0, "delta": {"type": "hologram_delta", "hologram": "x"}}
    assert feed(reader, BEGUN, {"type": "brand_new"}, news, TEXT, ENDED) == "Hi"
    assert reader.feed(ALIVE) == ""
    assert not reader.finished


@pytest.mark.parametrize("again", [BEGUN, {"type": "message_start"}])
def test_an_answer_begins_once(again: dict[str, Any]) -> None:
    reader = MessageStream(gathering())
    feed(reader, BEGUN)
    with pytest.raises(AnswerUnreadable) as caught:
        feed(reader, again)
    assert caught.value.usage == TokenUsage(input=7, output=1)


def test_a_call_that_was_not_ended_is_not_whole() -> None:
    reader = MessageStream(gathering())
    call: dict[str, Any] = {"type": "tool_use", "id": "a", "name": "desk__find", "input": {}}
    feed(reader, BEGUN, {"type": "content_block_start", "index": 0, "content_block": call})
    feed(reader, {**ENDED, "delta": {"stop_reason": "tool_use"}}, {"type": "message_stop"})
    with pytest.raises(AnswerUnreadable, match="whole JSON"):
        reader.answer()


def test_an_error_after_the_beginning_keeps_what_was_charged() -> None:
    reader = MessageStream(gathering())
    with pytest.raises(AnswerCutOff) as caught:
        feed(reader, BEGUN, TEXT, {"type": "error", "error": {"type": "overloaded_error"}})
    assert caught.value.usage == TokenUsage(input=7, output=1)


@pytest.mark.parametrize("model", ["", None, 5, ["x"], {"a": 1}])
def test_a_model_without_a_name_has_the_name_that_was_asked_for(model: Any) -> None:
    body: dict[str, Any] = {"type": "message", "content": [], "stop_reason": "end_turn", "usage": {}, "model": model}
    assert read_message(orjson.dumps(body), gathering()).model == "asked-model"


def test_the_name_of_a_model_can_be_printed() -> None:
    body: dict[str, Any] = {
        "type": "message",
        "content": [],
        "stop_reason": "end_turn",
        "model": "x\x1b[2J\n" + "y" * 500,
    }
    named = read_message(orjson.dumps(body), gathering()).model
    assert named.startswith("x\\x1b[2J\\ny")
    assert len(named) < 220


def chunk(delta: dict[str, Any], reason: str | None = None, **more: Any) -> dict[str, Any]:
    return {"choices": [{"index": 0, "delta": delta, "finish_reason": reason}], **more}


def test_what_a_filter_took_away_is_a_refusal() -> None:
    message = {"message": {"content": "Well,"}, "finish_reason": "content_filter"}
    assert read_completion(orjson.dumps({"choices": [message]}), gathering()).stop == "refusal"
    reader = CompletionStream(gathering())
    feed(reader, chunk({"content": "Well,"}), chunk({}, "content_filter"))
    assert reader.answer().stop == "refusal"


def test_calls_come_in_pieces_and_in_turns() -> None:
    reader = CompletionStream(gathering())
    first = {"index": 0, "id": "a", "function": {"name": "desk__find", "arguments": '{"q": '}}
    second = {"index": 1, "id": "b", "function": {"name": "desk__find", "arguments": '{"q":'}}
    feed(
        reader,
        chunk({"tool_calls": [first, second]}),
        chunk({"tool_calls": [{"index": 1, "function": {"arguments": "2}"}}]}),
    )
    feed(
        reader,
        chunk({"tool_calls": [{"index": 0, "id": "a", "function": {"arguments": "1}"}}]}),
        chunk({}, "tool_calls"),
    )
    assert [(use.id, use.name, use.arguments) for use in reader.answer().uses] == [
        ("a", "desk.find", {"q": 1}),
        ("b", "desk.find", {"q": 2}),
    ]


def test_two_calls_with_one_number_are_no_calls() -> None:
    reader = CompletionStream(gathering())
    call = {"index": 0, "function": {"name": "desk__find", "arguments": "{}"}}
    feed(reader, chunk({"tool_calls": [{**call, "id": "a"}]}))
    with pytest.raises(AnswerUnreadable):
        feed(reader, chunk({"tool_calls": [{**call, "id": "b"}]}))


def test_other_answers_than_the_first_are_not_mixed_in() -> None:
    reader = CompletionStream(gathering())
    other = {"index": 1, "delta": {"content": "No."}, "finish_reason": "length"}
    feed(reader, chunk({"content": "Yes."}), {"choices": [other]}, chunk({}, "stop"))
    answer = reader.answer()
    assert (answer.text, answer.stop) == ("Yes.", "end")


def test_a_server_that_counts_nothing_costs_nothing() -> None:
    reader = CompletionStream(gathering())
    feed(reader, chunk({"content": "Yes."}), chunk({}, "stop"))
    assert reader.answer().usage == TokenUsage()


def test_calls_count_even_if_the_reason_says_only_stop() -> None:
    """OpenAI itself says so when the call was demanded."""
    call = {"id": "a", "type": "function", "function": {"name": "desk__find", "arguments": "{}"}}
    body = {"choices": [{"message": {"content": None, "tool_calls": [call]}, "finish_reason": "stop"}]}
    answer = read_completion(orjson.dumps(body), gathering())
    assert (answer.stop, [use.name for use in answer.uses]) == ("tools", ["desk.find"])
