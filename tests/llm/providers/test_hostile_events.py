"""The readers against events of all kinds and orders: they never fail otherwise than they should."""

from contextlib import suppress
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gaby.llm.errors import ModelError
from gaby.llm.messages import ModelResponse
from gaby.llm.providers.anthropic_response import MessageStream, read_message
from gaby.llm.providers.failures import VendorStreamError
from gaby.llm.providers.openai_response import CompletionStream, read_completion
from gaby.llm.providers.response_builder import ResponseBuilder
from gaby.llm.providers.sse import ServerSentEvent
from tests.llm.providers.strategies import FIELDS, anthropic_events, anything, blocks, openai_events

pytestmark = pytest.mark.promise("G8")


def checked(answer: ModelResponse) -> None:
    assert all(isinstance(use.arguments, dict) and use.id and use.name for use in answer.uses)
    assert len({use.id for use in answer.uses}) == len(answer.uses)
    assert (answer.stop == "tools") == bool(answer.uses)
    assert answer.model


def drive(reader: MessageStream | CompletionStream, events: list[ServerSentEvent]) -> None:
    with suppress(ModelError, VendorStreamError):
        for event in events:
            reader.feed(event)
        checked(reader.answer())


START = {"type": "message_start", "message": {"model": "m", "usage": {"input_tokens": 1}}}


@given(st.lists(anthropic_events | anything, max_size=8), st.booleans())
def test_no_events_of_anthropics_break_the_reader(events: list[Any], begun: bool) -> None:
    sent = [START, *events] if begun else events
    reader = MessageStream(ResponseBuilder({}, "claude-test"))
    drive(reader, [ServerSentEvent("", orjson.dumps(each).decode()) for each in sent])


@given(st.lists(openai_events | anything, max_size=8))
def test_no_events_of_openais_break_the_reader(events: list[Any]) -> None:
    reader = CompletionStream(ResponseBuilder({}, "gpt-test"))
    drive(reader, [ServerSentEvent("", orjson.dumps(each).decode()) for each in events])


@given(st.dictionaries(st.sampled_from(FIELDS), anything, max_size=6), st.lists(blocks | anything, max_size=3))
def test_no_whole_answer_breaks_the_readers(found: dict[str, Any], content: list[Any]) -> None:
    bodies = [found, {**found, "type": "message", "content": content, "stop_reason": "tool_use"}]
    bodies.append({**found, "choices": [{"message": {"tool_calls": content, "content": "x"}, "finish_reason": "stop"}]})
    for body in bodies:
        for read in (read_message, read_completion):
            with suppress(ModelError, VendorStreamError):
                checked(read(orjson.dumps(body), ResponseBuilder({}, "a-model")))
