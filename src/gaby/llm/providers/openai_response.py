"""Reading what the chat completions of OpenAI answer, whole or as a stream. Many other servers speak like this."""

from collections.abc import Mapping
from typing import Any

import orjson

from gaby.llm.errors import AnswerCutOff, AnswerUnreadable
from gaby.llm.messages import ModelResponse, Stop, TokenUsage
from gaby.llm.providers.failures import VendorStreamError
from gaby.llm.providers.response_builder import ResponseBuilder, document, loaded, mapping, sequence, tokens, word
from gaby.llm.providers.sse import ServerSentEvent

_END = "[DONE]"
_STOPS: Mapping[str, Stop] = {
    "stop": "end",
    "eos": "end",
    "eos_token": "end",
    "stop_sequence": "end",
    "tool_calls": "tools",
    "length": "length",
    "max_tokens": "length",
    "model_length": "length",
    "content_filter": "refusal",
}


def read_completion(body: bytes, gathering: ResponseBuilder) -> ModelResponse:
    return completion(document(body), gathering)


def completion(payload: Mapping[str, Any], gathering: ResponseBuilder) -> ModelResponse:
    gathering.billed = usage_of(payload["usage"]) if isinstance(payload.get("usage"), dict) else None
    choice = _first(payload)
    message = mapping(choice.get("message"))
    if payload.get("error") and not message:
        raise _refused(payload)
    if not message:
        raise AnswerUnreadable(usage=gathering.billed)
    gathering.model = word(payload.get("model"))
    refusal = word(message.get("refusal"))
    gathering.add_text(refusal or word(message.get("content")))
    for index, each in enumerate(sequence(message.get("tool_calls"))):
        function = mapping(mapping(each).get("function"))
        gathering.begin_call(index, mapping(each).get("id"), function.get("name"))
        gathering.add_arguments(index, function.get("arguments"))
        gathering.end_call(index)
    return gathering.answer("refusal" if refusal else _stop(choice.get("finish_reason"), gathering))


def _first(payload: Mapping[str, Any]) -> Mapping[str, Any]:
    """We never ask for more than one."""
    choices = [mapping(each) for each in sequence(payload.get("choices"))]
    return next((each for each in choices if each.get("index", 0) == 0), mapping(None))


def usage_of(usage: object) -> TokenUsage:
    """OpenAI counts what came from the cache, or went there, among the tokens of the prompt."""
    numbers = mapping(usage)
    details = mapping(numbers.get("prompt_tokens_details"))
    prompt = tokens(numbers.get("prompt_tokens"))
    cached = min(tokens(details.get("cached_tokens")), prompt)
    written = min(tokens(details.get("cache_write_tokens")), prompt - cached)
    return TokenUsage(prompt - cached - written, tokens(numbers.get("completion_tokens")), cached, written)


def _stop(reason: object, gathering: ResponseBuilder) -> Stop:
    stop = _STOPS.get(word(reason))
    if stop is None:
        raise gathering.unreadable("It gives no reason for its end that we know.")
    return stop


class CompletionStream:
    """Fed with events, it gives pieces of text, and at the end the answer."""

    def __init__(self, gathering: ResponseBuilder) -> None:
        self.gathering = gathering
        self.finished = False
        self._reason: object = None
        self._refused = False
        self._chunks = 0

    def feed(self, event: ServerSentEvent) -> str:
        if event.data.strip() == _END:
            self.finished = True
            return ""
        if not event.data:
            return ""
        payload = mapping(loaded(event.data))
        if not payload:
            raise self.gathering.unreadable("An event is not JSON.")
        return self.take(payload)

    def take(self, payload: Mapping[str, Any]) -> str:
        if payload.get("error"):
            raise self._failure(payload)
        self._chunks += 1
        self.gathering.model = self.gathering.model or word(payload.get("model"))
        if isinstance(payload.get("usage"), dict):
            self.gathering.billed = usage_of(payload["usage"])
        choice = _first(payload)
        self._reason = choice.get("finish_reason") or self._reason
        return self._continue(mapping(choice.get("delta")))

    @property
    def has_ended(self) -> bool:
        """Whether the model said why it stopped. Its vendor may still have to say what it costs."""
        return self._reason is not None

    def answer(self) -> ModelResponse:
        for index in self.gathering.calls:
            self.gathering.end_call(index)
        return self.gathering.answer("refusal" if self._refused else _stop(self._reason, self.gathering))

    def _continue(self, delta: Mapping[str, Any]) -> str:
        for each in sequence(delta.get("tool_calls")):
            self._call(mapping(each))
        refusal = word(delta.get("refusal"))
        self._refused = self._refused or bool(refusal)
        said = refusal or word(delta.get("content"))
        return self.gathering.add_text(said) if said else ""

    def _call(self, part: Mapping[str, Any]) -> None:
        """The first part of a call has its id and its name. Further ones have pieces of its arguments."""
        index = part.get("index")
        if isinstance(index, bool) or not isinstance(index, int):
            raise self.gathering.unreadable("A part of a tool call has no number.")
        function = mapping(part.get("function"))
        known = self.gathering.calls.get(index)
        if known is None:
            self.gathering.begin_call(index, part.get("id"), function.get("name"))
        elif part.get("id") not in (None, "", known.id):
            raise self.gathering.unreadable("Two tool calls have the same number.")
        if function.get("arguments") is not None:
            self.gathering.add_arguments(index, function["arguments"])

    def _failure(self, payload: Mapping[str, Any]) -> Exception:
        if self._chunks:
            return AnswerCutOff(usage=self.gathering.billed)
        return _refused(payload)


def _refused(payload: Mapping[str, Any]) -> VendorStreamError:
    return VendorStreamError(_status(mapping(payload["error"])), orjson.dumps({"error": payload["error"]}))


def _status(error: Mapping[str, Any]) -> int:
    """Servers that are compatible put the status into the code; OpenAI a word."""
    code = error.get("code")
    if isinstance(code, int) and not isinstance(code, bool) and 400 <= code < 600:
        return code
    kind = f"{word(error.get('type'))} {word(code)}"
    return next((status for words, status in _STATUS.items() if words in kind), 500)


_STATUS: Mapping[str, int] = {"rate_limit": 429, "quota": 429, "overloaded": 503, "invalid_request": 400}
