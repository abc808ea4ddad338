"""Anthropic's Messages interface, version 2026-10-21: what it refuses, and how it answers."""

from typing import Any

import orjson

from tests.support.models.anthropic_rules import check_body
from tests.support.models.billing import Bill, Block
from tests.support.models.http_server import Received
from tests.support.models.replies import Reply, Status
from tests.support.models.vendor import Asked, Problem, Sent, bearer, demand, dumped, output_tokens, pieces

_STOPS = {"end": "end_turn", "tools": "tool_use", "length": "max_tokens", "refusal": "refusal"}
_KINDS = {
    401: "authentication_error",
    402: "billing_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    500: "api_error",
    504: "timeout_error",
    529: "overloaded_error",
}


Part = dict[str, Any]


class Anthropic:
    name = "anthropic"
    tells_at_first = True

    def check(self, received: Received, key: str, models: frozenset[str]) -> Asked:
        given = received.headers.get("x-api-key") or bearer(received)
        demand(given == key, "invalid x-api-key", "authentication_error", 401)
        body = self.body(received)
        demand(body.get("model") in models, f"model: {body.get('model')}", "not_found_error", 404)
        check_body(body)
        return Asked(body["model"], body.get("stream") is True, body["max_tokens"], _blocks(body))

    def body(self, received: Received) -> dict[str, Any]:
        version = received.headers.get("anthropic-version")
        demand(version, "anthropic-version: header is required")
        demand(version == "2026-10-21", f"anthropic-version: {version} is not a version that these tests know")
        demand(isinstance(received.json, dict), "The request body is not valid JSON")
        return received.json

    def whole(self, asked: Asked, reply: Reply, bill: Bill) -> dict[str, Any]:
        content: list[dict[str, Any]] = []
        if reply.thoughts:
            content.append({"type": "thinking", "thinking": reply.thoughts, "signature": "c2lnbmVk"})
        if reply.text:
            content.append({"type": "text", "text": reply.text, "citations": None})
        for number, each in enumerate(reply.calls):
            block = {"type": "tool_use", "id": each.id or f"toolu_{number:04}", "name": each.name}
            content.append({**block, "input": _loaded(each.arguments)})
        return {
            **self._message(asked, reply),
            "content": content,
            "stop_reason": _STOPS[reply.stopped],
            "usage": reply.usage if reply.usage is not None else _usage(bill, output_tokens(reply)),
        }

    def _message(self, asked: Asked, reply: Reply) -> dict[str, Any]:
        model = reply.model or asked.model
        return {"id": "msg_0001", "type": "message", "role": "assistant", "model": model, "stop_sequence": None}

    def events(self, asked: Asked, reply: Reply, bill: Bill) -> list[Sent]:
        begun = reply.usage if reply.usage is not None else _usage(bill, min(1, output_tokens(reply)))
        message: Part = {**self._message(asked, reply), "content": [], "stop_reason": None, "usage": begun}
        events = [_event("message_start", {"message": message}, told="begun")]
        for index, (block, deltas) in enumerate(_streamed(reply)):
            events.append(_event("content_block_start", {"index": index, "content_block": block}))
            events += [_event("content_block_delta", {"index": index, "delta": delta}) for delta in deltas]
            events.append(_event("content_block_stop", {"index": index}))
        ended = {"stop_reason": _STOPS[reply.stopped], "stop_sequence": None}
        costs = reply.usage if reply.usage is not None else _usage(bill, output_tokens(reply))
        events.append(_event("message_delta", {"delta": ended, "usage": costs}, told="all"))
        return [*events, _event("message_stop", {}, told="all")]

    def problem(self, problem: Problem) -> dict[str, Any]:
        error = {"type": problem.kind, "message": problem.message}
        return {"type": "error", "error": error, "request_id": "req_0001"}

    def status(self, status: Status) -> dict[str, Any]:
        return self.problem(Problem(status.status, _KINDS.get(status.status, "invalid_request_error"), status.message))

    def failure(self, kind: str) -> Sent:
        return _event("error", {"error": {"type": kind, "message": "Overloaded"}})

    def ping(self) -> Sent:
        return _event("ping", {})


class Bedrock(Anthropic):
    name = "bedrock"


class Vertex(Anthropic):
    """The model is in the path, the version in the body."""

    name = "vertex"

    def body(self, received: Received) -> dict[str, Any]:
        model, _, verb = received.path.rpartition("/")[2].partition(":")
        body: dict[str, Any] = dict(received.json)
        demand(body.pop("anthropic_version", None) == "2026-10-21", "anthropic_version: Field required")
        demand("model" not in body, "model: Extra inputs are not permitted")
        demand((verb == "streamRawPredict") == bool(body.get("stream")), "stream: does not fit the path")
        return {**body, "model": model}


def _usage(bill: Bill, output: int) -> dict[str, Any]:
    return {
        "input_tokens": bill.input,
        "cache_creation_input_tokens": bill.cache_write,
        "cache_read_input_tokens": bill.cache_read,
        "output_tokens": output,
        "service_tier": "standard",
    }


def _streamed(reply: Reply) -> list[tuple[Part, list[Part]]]:
    """The blocks of an answer as they begin, and what is then added to each."""
    blocks: list[tuple[Part, list[Part]]] = []
    if reply.thoughts:
        thought: list[Part] = [{"type": "thinking_delta", "thinking": each} for each in pieces(reply.thoughts)]
        thought.append({"type": "signature_delta", "signature": "c2lnbmVk"})
        blocks.append(({"type": "thinking", "thinking": "", "signature": ""}, thought))
    if reply.text:
        said: list[Part] = [{"type": "text_delta", "text": each} for each in pieces(reply.text)]
        blocks.append(({"type": "text", "text": ""}, said))
    for number, each in enumerate(reply.calls):
        block: Part = {"type": "tool_use", "id": each.id or f"toolu_{number:04}", "name": each.name, "input": {}}
        written = "" if each.arguments == "{}" else each.arguments
        parts: list[Part] = [{"type": "input_json_delta", "partial_json": piece} for piece in ["", *pieces(written)]]
        blocks.append((block, parts))
    return blocks


def _blocks(body: dict[str, Any]) -> list[Block]:
    """The prompt in the order in which prefixes are recognised."""
    system = body.get("system", [])
    parts: list[Any] = [*body.get("tools", [])]
    parts += [{"type": "text", "text": system}] if isinstance(system, str) else system
    for message in body["messages"]:
        content = message["content"]
        blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
        parts += [{**block, "role": message["role"]} for block in blocks]
    return [
        Block(dumped({key: value for key, value in part.items() if key != "cache_control"}), "cache_control" in part)
        for part in parts
    ]


def _event(name: str, data: dict[str, Any], told: Any = "nothing") -> Sent:
    return Sent(f"event: {name}\ndata: {orjson.dumps({'type': name, **data}).decode()}\n\n".encode(), told)


def _loaded(arguments: str) -> Any:
    """A whole answer holds JSON, so arguments that are none can only be a text in it."""
    try:
        return orjson.loads(arguments)
    except orjson.JSONDecodeError:
        return arguments
