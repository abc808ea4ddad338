"""Our question in the words of OpenAI's chat completions, for OpenAI itself and for servers that speak like it."""

import json
from dataclasses import dataclass
from typing import Any

from openai.types.chat import ChatCompletionFunctionToolParam
from openai.types.chat.completion_create_params import CompletionCreateParamsBase, ResponseFormat

from gaby.llm.errors import RequestRefused
from gaby.llm.messages import ChatMessage, ModelRequest, OutputSchema, ToolResult, ToolSpec, ToolUse
from gaby.llm.providers.common_request import demanded, shape_name, turns, wished
from gaby.llm.providers.names import vendor_id, vendor_name
from gaby.llm.providers.strict_schemas import SchemaNotStrict, plain, strict_schema

Turn = dict[str, Any]


@dataclass(frozen=True)
class OpenAIDialect:
    """How OpenAI's own servers differ from those that are compatible."""

    own: bool
    """One of OpenAI's, also at Azure. They guarantee shapes, and know no `max_tokens`."""
    structured: str = "json_schema"
    tools: bool = True
    keeps: bool | None = None
    """What `store` says; nothing when the server has no such thing."""


def completion_params(request: ModelRequest, dialect: OpenAIDialect) -> CompletionCreateParamsBase:
    params: CompletionCreateParamsBase = {"model": request.model, "messages": _messages(request, dialect)}
    if dialect.own:
        params["max_completion_tokens"] = request.max_output_tokens
    else:
        params["max_tokens"] = request.max_output_tokens
    if dialect.keeps is not None:
        params["store"] = dialect.keeps
    if request.tools:
        if not dialect.tools:
            raise RequestRefused("The models of this provider cannot call tools, says its option `tools`.")
        params["tools"] = [_tool(tool) for tool in request.tools]
        params["tool_choice"] = "required" if request.must_use_tool else "auto"
    if request.temperature is not None:
        params["temperature"] = request.temperature
    if request.shape is not None and dialect.structured != "prompt":
        params["response_format"] = _format(request.shape, dialect)
    return params


def _format(shape: OutputSchema, dialect: OpenAIDialect) -> ResponseFormat:
    if dialect.structured == "json_object":
        return {"type": "json_object"}
    if dialect.own:
        named = {"name": shape_name(shape), "schema": demanded(shape), "strict": True}
    else:
        named = {"name": shape_name(shape), "schema": _tolerated(shape), "strict": True}
    response_format: Any = {"type": "json_schema", "json_schema": named}
    return response_format


def _tolerated(shape: OutputSchema) -> dict[str, Any]:
    """Other servers make grammars of schemas, and can do without strictness where it is impossible."""
    try:
        return strict_schema(shape.schema)
    except SchemaNotStrict:
        return plain(shape.schema)


def _messages(request: ModelRequest, dialect: OpenAIDialect) -> list[Any]:
    said = turns(request)
    if request.envelope.strip():
        # As text before the text: servers that are compatible do not all take a message in parts.
        begun = "\n\n".join(each for each in (request.envelope, said[0].text) if each.strip())
        said[0] = ChatMessage("user", begun, replies=said[0].replies)
    all_turns = [turn for message in said for turn in _turns(message)]
    system = _system(request, dialect)
    return [{"role": "system", "content": system}, *all_turns] if system.strip() else all_turns


def _system(request: ModelRequest, dialect: OpenAIDialect) -> str:
    if request.shape is None or dialect.structured == "json_schema":
        return request.system
    return "\n\n".join(each for each in (request.system, wished(request.shape)) if each.strip())


def _turns(message: ChatMessage) -> list[Turn]:
    if message.role == "assistant":
        said: Turn = {"role": "assistant"}
        if message.text.strip():
            said["content"] = message.text
        return [{**said, "tool_calls": [_use(use) for use in message.uses]} if message.uses else said]
    turns = [_reply(reply) for reply in message.replies]
    return [*turns, {"role": "user", "content": message.text}] if message.text.strip() else turns


def _reply(reply: ToolResult) -> Turn:
    # There is no other place for saying that the call failed.
    text = f"The call failed. {reply.text}" if reply.failed else reply.text
    return {"role": "tool", "tool_call_id": vendor_id(reply.use_id), "content": text}


def _use(use: ToolUse) -> Turn:
    function = {"name": vendor_name(use.name), "arguments": json.dumps(plain(use.arguments), ensure_ascii=False)}
    return {"id": vendor_id(use.id), "type": "function", "function": function}


def _tool(tool: ToolSpec) -> ChatCompletionFunctionToolParam:
    schema: dict[str, object] = {"properties": dict[str, object](), **plain(tool.schema), "type": "object"}
    return {
        "type": "function",
        "function": {"name": vendor_name(tool.name), "description": tool.description, "parameters": schema},
    }
