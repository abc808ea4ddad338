"""What OpenAI's interface refuses in a request, in the words of its errors."""

import re
from typing import Any

import orjson

from tests.support.models.schemas import objection
from tests.support.models.vendor import demand, items

_KNOWN = {"messages", "model", "response_format", "stream", "stream_options", "temperature", "tool_choice", "tools"}
_OWN = {"max_completion_tokens", "store"}
_OTHERS = {"max_tokens"}
_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")
_FIELDS = {
    "system": {"role", "content"},
    "developer": {"role", "content"},
    "user": {"role", "content"},
    "assistant": {"role", "content", "tool_calls"},
    "tool": {"role", "content", "tool_call_id"},
}


def check_body(body: dict[str, Any], *, own: bool) -> None:
    if own and "max_tokens" in body:
        demand(False, "Unsupported parameter: 'max_tokens' is not supported with this model.", "unsupported_parameter")
    for name in sorted(set(body) - _KNOWN - (_OWN if own else _OTHERS)):
        demand(False, f"Unrecognized request argument supplied: {name}", "unknown_parameter")
    most = body.get("max_completion_tokens" if own else "max_tokens")
    demand(isinstance(most, int) and most >= 1, "max_tokens: integer below minimum value.", "integer_below_min_value")
    demand("stream_options" not in body or body.get("stream"), "'stream_options' is only allowed when streaming.")
    _check_tools(body)
    _check_messages(items(body.get("messages")))
    _check_format(body.get("response_format"), own=own)


def _check_tools(body: dict[str, Any]) -> None:
    tools = items(body.get("tools"))
    for index, tool in enumerate(tools):
        function = tool.get("function", {})
        demand(tool.get("type") == "function", f"Invalid value: 'tools[{index}].type'")
        demand(set(function) <= {"name", "description", "parameters", "strict"}, f"tools[{index}]: unknown parameter")
        fits = _NAME.fullmatch(function.get("name", ""))
        demand(fits, f"Invalid 'tools[{index}].function.name': string does not match pattern '^[a-zA-Z0-9_-]+$'.")
        schema = function.get("parameters", {})
        demand(schema.get("type") == "object", f"Invalid schema for function {index}: type must be 'object'")
        demand("properties" in schema, f"Invalid schema for function {index}: object schema missing properties")
    choice = body.get("tool_choice")
    demand(choice is None or tools, "'tool_choice' is only allowed when 'tools' are specified.")
    demand(choice in (None, "auto", "required", "none"), "Invalid value: 'tool_choice'")


def _check_messages(messages: list[Any]) -> None:
    demand(messages, "Invalid 'messages': empty array.", "empty_array")
    expected: set[str] = set()
    for index, message in enumerate(messages):
        where = f"messages[{index}]"
        role = message.get("role")
        demand(role in _FIELDS, f"Invalid value: '{role}'. Supported values are: 'system', 'assistant', ...")
        demand(set(message) <= _FIELDS[role], f"Unknown parameter: '{where}'")
        _check_message(where, message)
        if role == "tool":
            demand(message["tool_call_id"] in expected, f"{where}: 'tool' must be a response to 'tool_calls'.")
            expected.remove(message["tool_call_id"])
            continue
        demand(not expected, "'tool_calls' must be followed by tool messages responding to each 'tool_call_id'.")
        expected = {each["id"] for each in message.get("tool_calls", [])}
    demand(not expected, "'tool_calls' must be followed by tool messages responding to each 'tool_call_id'.")


def _check_message(where: str, message: dict[str, Any]) -> None:
    calls = message.get("tool_calls")
    demand(isinstance(message.get("content"), str) or calls, f"Invalid value for 'content': {where} expected a string.")
    demand(calls is None or calls, f"Invalid '{where}.tool_calls': empty array.")
    for each in items(calls):
        demand(len(each["id"]) <= 40, f"Invalid '{where}.tool_calls[0].id': string too long.")
        demand(_NAME.fullmatch(each["function"]["name"]), f"Invalid '{where}.tool_calls[0].function.name'")
        try:
            orjson.loads(each["function"]["arguments"])
        except orjson.JSONDecodeError:
            demand(False, f"Invalid '{where}.tool_calls[0].function.arguments': no JSON")


def _check_format(wanted: Any, *, own: bool) -> None:
    if wanted is None or wanted == {"type": "json_object"}:
        return
    demand(wanted.get("type") == "json_schema", "Invalid value: 'response_format.type'")
    named = wanted.get("json_schema", {})
    demand(_NAME.fullmatch(named.get("name", "")), "Invalid 'response_format.json_schema.name'")
    if own and named.get("strict"):
        said = objection(named.get("schema"))
        demand(said is None, f"Invalid schema for response_format '{named['name']}': In context=(), {said}.")


def check_embedding(body: dict[str, Any]) -> None:
    demand(set(body) <= {"input", "model", "encoding_format"}, "Unrecognized request argument supplied")
    texts = items(body.get("input"))
    fit = all(isinstance(text, str) and text for text in texts)
    demand(fit and 1 <= len(texts) <= 2048, "'$.input' is invalid.")
    demand(body.get("encoding_format", "float") == "float", "these tests know only floats")
