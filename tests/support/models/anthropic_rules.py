"""What Anthropic's Messages interface refuses in a request, in the words of its errors."""

import re
from typing import Any, cast

from tests.support.models.schemas import objection
from tests.support.models.vendor import demand, items

_KNOWN = {
    "cache_control", "container", "max_tokens", "messages", "metadata", "model", "output_config", "service_tier",
    "stop_sequences", "stream", "system", "thinking", "tool_choice", "tools",
}  # fmt: skip
_TOOL_NAME = re.compile(r"[a-zA-Z0-9_-]{1,128}")
_USE_ID = re.compile(r"[a-zA-Z0-9_-]+")
_MOST_BREAKPOINTS = 4
_BLOCKS = {
    "text": {"type", "text", "cache_control"},
    "tool_use": {"type", "id", "name", "input", "cache_control"},
    "tool_result": {"type", "tool_use_id", "content", "is_error", "cache_control"},
}


def check_body(body: dict[str, Any]) -> None:
    for name in sorted(set(body) - _KNOWN):
        demand(False, f"{name}: Extra inputs are not permitted")
    demand("max_tokens" in body, "max_tokens: Field required")
    demand(_is_count(body["max_tokens"]), "max_tokens: Input should be greater than or equal to 1")
    _check_system(body.get("system"))
    _check_tools(body)
    _check_messages(items(body.get("messages")))
    _check_output(body)
    found = _breakpoints(body)
    demand(found <= _MOST_BREAKPOINTS, f"A maximum of 4 blocks with cache_control may be provided. Found {found}.")


def _check_system(system: object) -> None:
    blocks = items(system)
    demand(system is None or isinstance(system, str) or blocks, "system: Input should be a valid string")
    for block in blocks:
        _check_block("system", block, {"text"})


def _check_tools(body: dict[str, Any]) -> None:
    tools = items(body.get("tools"))
    names = [tool.get("name") for tool in tools]
    demand(len(set(names)) == len(names), "tools: Tool names must be unique.")
    for index, tool in enumerate(tools):
        extra = set(tool) - {"name", "description", "input_schema", "cache_control", "type", "strict"}
        demand(not extra, f"tools.{index}: Extra inputs are not permitted: {sorted(extra)}")
        fits = isinstance(tool["name"], str) and _TOOL_NAME.fullmatch(tool["name"])
        demand(fits, f"tools.{index}.custom.name: String should match pattern '^[a-zA-Z0-9_-]{{1,128}}$'")
        schema = tool.get("input_schema", {})
        demand(schema.get("type") == "object", f"tools.{index}.custom.input_schema.type: Field required")
    choice = body.get("tool_choice")
    if choice is not None:
        demand(tools, "tool_choice: may only be specified while providing tools")
        demand(choice.get("type") in ("auto", "any", "tool", "none"), "tool_choice: unknown type")


def _check_messages(messages: list[Any]) -> None:
    demand(messages, "messages: at least one message is required")
    demand(messages[0].get("role") == "user", "messages: first message must use the user role")
    demand(messages[-1].get("role") == "user", "This model does not support assistant message prefill.")
    expected: set[str] = set()
    for index, message in enumerate(messages):
        where = f"messages.{index}"
        demand(set(message) == {"role", "content"}, f"{where}: Extra inputs are not permitted")
        demand(message["role"] in ("user", "assistant"), f"{where}.role: Input should be 'user' or 'assistant'")
        expected = _check_content(where, message, expected)
    demand(not expected, f"`tool_use` ids were found without `tool_result` blocks immediately after: {expected}")


def _check_content(where: str, message: dict[str, Any], expected: set[str]) -> set[str]:
    """The ids of tool calls in it, which the next message must answer."""
    content = message["content"]
    blocks: list[Any] = [{"type": "text", "text": content}] if isinstance(content, str) else items(content)
    demand(blocks, f"{where}: all messages must have non-empty content")
    allowed = {"text", "tool_result"} if message["role"] == "user" else {"text", "tool_use"}
    for block in blocks:
        _check_block(where, block, allowed)
    answered = [block["tool_use_id"] for block in blocks if block["type"] == "tool_result"]
    missing = expected - set(answered)
    demand(not missing, f"`tool_use` ids were found without `tool_result` blocks immediately after: {missing}")
    demand(set(answered) <= expected, f"{where}: unexpected `tool_use_id` found in `tool_result` blocks")
    demand(len(set(answered)) == len(answered), f"{where}: each tool_use must have a single result")
    kinds = [block["type"] for block in blocks]
    demand(kinds[: len(answered)] == ["tool_result"] * len(answered), f"{where}: tool_result blocks must come first")
    uses = [block["id"] for block in blocks if block["type"] == "tool_use"]
    demand(len(set(uses)) == len(uses), f"{where}: `tool_use` ids must be unique")
    return set(uses)


def _check_block(where: str, block: Any, allowed: set[str]) -> None:
    kind = block.get("type")
    demand(kind in allowed, f"{where}: Input tag {kind!r} found using 'type' does not match any of the expected tags")
    demand(set(block) <= _BLOCKS[kind], f"{where}: Extra inputs are not permitted")
    if kind == "text":
        demand(isinstance(block["text"], str), f"{where}.text: Input should be a valid string")
        demand(block["text"].strip(), f"{where}: text content blocks must contain non-whitespace text")
    if kind == "tool_use":
        demand(_USE_ID.fullmatch(block["id"]), f"{where}.id: String should match pattern '^[a-zA-Z0-9_-]+$'")
        demand(_TOOL_NAME.fullmatch(block["name"]), f"{where}.name: String should match pattern")
        demand(isinstance(block["input"], dict), f"{where}.input: Input should be a valid dictionary")
    if kind == "tool_result":
        demand(isinstance(block.get("content", ""), str), f"{where}.content: these tests know only texts here")
    if "cache_control" in block:
        demand(block["cache_control"] == {"type": "ephemeral"}, f"{where}.cache_control: Input should be ephemeral")


def _check_output(body: dict[str, Any]) -> None:
    config = body.get("output_config", {})
    demand(set(config) <= {"format", "effort"}, "output_config: Extra inputs are not permitted")
    demand(config.get("effort", "low") in ("low", "medium", "high", "xhigh", "max"), "output_config.effort: unknown")
    wanted = config.get("format")
    if wanted is not None:
        demand(wanted.get("type") == "json_schema", "output_config.format.type: Input should be 'json_schema'")
        said = objection(wanted.get("schema"))
        demand(said is None, f"output_config.format.schema: {said}")
    demand(body.get("thinking", {"type": "disabled"}) == {"type": "disabled"}, "thinking: unknown configuration")


def _breakpoints(body: object) -> int:
    if not isinstance(body, dict):
        return sum(_breakpoints(each) for each in items(body))
    named = cast("dict[str, Any]", body)
    return ("cache_control" in named) + sum(_breakpoints(each) for each in named.values())


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 1
