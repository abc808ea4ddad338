"""Our question in the words of Anthropic's Messages interface, with cache breakpoints where its parts end."""

from typing import Any

from anthropic.types import MessageParam, TextBlockParam, ToolParam
from anthropic.types.message_create_params import MessageCreateParamsBase

from gaby.llm.messages import ChatMessage, ModelRequest, ToolResult, ToolSpec, ToolUse
from gaby.llm.providers.common_request import demanded, turns
from gaby.llm.providers.names import vendor_id, vendor_name
from gaby.llm.providers.strict_schemas import plain

Block = dict[str, Any]

_BREAKPOINT = {"type": "ephemeral"}


def message_params(request: ModelRequest) -> MessageCreateParamsBase:
    """The four breakpoints stand at the end of the tools, the system prompt, the envelope and the last message.
    A part that is empty gets none. There is no temperature: this interface has dropped it."""
    params: MessageCreateParamsBase = {
        "model": request.model,
        "max_tokens": request.max_output_tokens,
        "messages": _messages(request),
    }
    if request.tools:
        params["tools"] = _tools(request.tools)
        params["tool_choice"] = {"type": "any"} if request.must_use_tool else {"type": "auto"}
    if request.system.strip():
        params["system"] = [_system(request.system)]
    if request.shape is not None:
        params["output_config"] = {"format": {"type": "json_schema", "schema": demanded(request.shape)}}
    return params


def _system(text: str) -> TextBlockParam:
    return {"type": "text", "text": text, "cache_control": {"type": "ephemeral"}}


def _tools(tools: tuple[ToolSpec, ...]) -> list[ToolParam]:
    tool_params = [_tool(tool) for tool in tools]
    tool_params[-1]["cache_control"] = {"type": "ephemeral"}
    return tool_params


def _tool(tool: ToolSpec) -> ToolParam:
    return {
        "name": vendor_name(tool.name),
        "description": tool.description,
        "input_schema": {**plain(tool.schema), "type": "object"},
    }


def _messages(request: ModelRequest) -> list[MessageParam]:
    said = turns(request)
    blocks = [_blocks(message) for message in said]
    if request.envelope.strip():
        blocks[0].insert(0, {"type": "text", "text": request.envelope, "cache_control": _BREAKPOINT})
    # What is asked behind the answers of tools changes each time; the answers stay.
    last = said[-1]
    place = len(last.replies) - 1 if last.replies and last.text.strip() else -1
    blocks[-1][place]["cache_control"] = _BREAKPOINT
    message_params: list[Any] = [
        {"role": message.role, "content": each} for message, each in zip(said, blocks, strict=True)
    ]
    return message_params


def _blocks(message: ChatMessage) -> list[Block]:
    blocks = [_reply(reply) for reply in message.replies]
    if message.text.strip():
        blocks.append({"type": "text", "text": message.text})
    return [*blocks, *(_use(use) for use in message.uses)]


def _reply(reply: ToolResult) -> Block:
    block: Block = {"type": "tool_result", "tool_use_id": vendor_id(reply.use_id)}
    if reply.text.strip():
        block["content"] = reply.text
    return {**block, "is_error": True} if reply.failed else block


def _use(use: ToolUse) -> Block:
    return {
        "type": "tool_use",
        "id": vendor_id(use.id),
        "name": vendor_name(use.name),
        "input": plain(use.arguments),
    }
