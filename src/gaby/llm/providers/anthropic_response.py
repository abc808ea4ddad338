"""Reading what the Messages interface of Anthropic answers, whole or as a stream."""

from collections.abc import Mapping
from typing import Any

import orjson

from gaby.llm.errors import AnswerCutOff, AnswerUnreadable
from gaby.llm.messages import ModelResponse, Stop, TokenUsage
from gaby.llm.providers.failures import VendorStreamError
from gaby.llm.providers.response_builder import ResponseBuilder, document, loaded, mapping, sequence, tokens, word
from gaby.llm.providers.sse import ServerSentEvent

_STOPS: Mapping[str, Stop] = {
    "end_turn": "end",
    "stop_sequence": "end",
    "tool_use": "tools",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "refusal": "refusal",
}
_STATUS: Mapping[str, int] = {
    "invalid_request_error": 400,
    "authentication_error": 401,
    "billing_error": 402,
    "permission_error": 403,
    "not_found_error": 404,
    "request_too_large": 413,
    "rate_limit_error": 429,
    "timeout_error": 504,
    "overloaded_error": 529,
}
_PARTS = frozenset(
    {
        "message_start",
        "content_block_start",
        "content_block_delta",
        "content_block_stop",
        "message_delta",
        "message_stop",
    }
)


def read_message(body: bytes, gathering: ResponseBuilder) -> ModelResponse:
    message = document(body)
    gathering.billed = usage_of(message["usage"]) if "usage" in message else None
    if message.get("type") != "message" or not isinstance(message.get("content"), list):
        raise AnswerUnreadable(usage=gathering.billed)
    gathering.model = word(message.get("model"))
    for index, each in enumerate(sequence(message["content"])):
        _read_block(index, mapping(each), gathering)
    return gathering.answer(_stop(message.get("stop_reason"), gathering))


def _read_block(index: int, block: Mapping[str, Any], gathering: ResponseBuilder) -> None:
    """Other blocks, such as what the model thought, are not for us."""
    if block.get("type") == "text" and isinstance(block.get("text"), str):
        gathering.add_text(block["text"])
    elif block.get("type") == "tool_use":
        gathering.begin_call(index, block.get("id"), block.get("name"))
        gathering.add_arguments(index, orjson.dumps(block.get("input")).decode())
        gathering.end_call(index)


def usage_of(usage: object) -> TokenUsage:
    """Anthropic's numbers are disjoint already."""
    numbers = mapping(usage)
    return TokenUsage(
        input=tokens(numbers.get("input_tokens")),
        output=tokens(numbers.get("output_tokens")),
        cache_read=tokens(numbers.get("cache_read_input_tokens")),
        cache_write=tokens(numbers.get("cache_creation_input_tokens")),
    )


def _stop(reason: object, gathering: ResponseBuilder) -> Stop:
    stop = _STOPS.get(word(reason))
    if stop is None:
        raise gathering.unreadable("It gives no reason for its end that we know.")
    return stop


class MessageStream:
    """Fed with events, it gives pieces of text, and at the end the answer."""

    def __init__(self, gathering: ResponseBuilder) -> None:
        self.gathering = gathering
        self.finished = False
        self._reason: object = None

    def feed(self, event: ServerSentEvent) -> str:
        payload = mapping(loaded(event.data))
        kind = word(payload.get("type"))
        if event.data and not kind:
            raise self.gathering.unreadable("An event is not JSON, or has no type.")
        if kind == "error":
            raise self._failure(event)
        if kind in _PARTS and (self.gathering.billed is None) != (kind == "message_start"):
            raise self.gathering.unreadable("Its parts come in the wrong order.")
        return self._take(kind, payload)

    def _take(self, kind: str, payload: Mapping[str, Any]) -> str:
        match kind:
            case "message_start":
                message = mapping(payload.get("message"))
                self.gathering.model = word(message.get("model"))
                self.gathering.billed = usage_of(message.get("usage"))
            case "content_block_start":
                self._begin(payload.get("index"), mapping(payload.get("content_block")))
            case "content_block_delta":
                return self._continue(payload.get("index"), mapping(payload.get("delta")))
            case "content_block_stop":
                self.gathering.end_call(self._index(payload.get("index")), if_empty="{}")
            case "message_delta":
                self._reason = mapping(payload.get("delta")).get("stop_reason") or self._reason
                self._bill(mapping(payload.get("usage")))
            case "message_stop":
                self.finished = True
            case _:
                pass
        return ""

    def answer(self) -> ModelResponse:
        return self.gathering.answer(_stop(self._reason, self.gathering))

    def _begin(self, index: object, block: Mapping[str, Any]) -> None:
        if block.get("type") == "tool_use":
            self.gathering.begin_call(self._index(index), block.get("id"), block.get("name"))

    def _continue(self, index: object, delta: Mapping[str, Any]) -> str:
        if delta.get("type") == "text_delta" and isinstance(delta.get("text"), str):
            return self.gathering.add_text(delta["text"])
        if delta.get("type") == "input_json_delta" and self._index(index) in self.gathering.calls:
            self.gathering.add_arguments(self._index(index), delta.get("partial_json"))
        return ""

    def _index(self, index: object) -> int:
        if isinstance(index, bool) or not isinstance(index, int):
            raise self.gathering.unreadable("A part of it has no number.")
        return index

    def _bill(self, numbers: Mapping[str, Any]) -> None:
        """These are totals so far. Later ones may leave out what has not changed."""
        before = self.gathering.billed or TokenUsage()
        usage = usage_of(numbers)
        self.gathering.billed = TokenUsage(
            input=usage.input if _says(numbers, "input_tokens") else before.input,
            output=max(usage.output, before.output),
            cache_read=usage.cache_read if _says(numbers, "cache_read_input_tokens") else before.cache_read,
            cache_write=usage.cache_write if _says(numbers, "cache_creation_input_tokens") else before.cache_write,
        )

    def _failure(self, event: ServerSentEvent) -> Exception:
        if self.gathering.billed is not None:
            return AnswerCutOff(usage=self.gathering.billed)
        kind = mapping(mapping(loaded(event.data)).get("error")).get("type")
        return VendorStreamError(_STATUS.get(word(kind), 500), event.data.encode())


def _says(numbers: Mapping[str, Any], name: str) -> bool:
    return numbers.get(name) is not None
