"""OpenAI's chat completions and embeddings, as OpenAI, Azure and compatible servers have them."""

from hashlib import sha256
from typing import Any

import orjson

from tests.support.models.billing import Bill, Block
from tests.support.models.http_server import Received
from tests.support.models.openai_rules import check_body, check_embedding
from tests.support.models.replies import Reply, Status
from tests.support.models.vendor import Asked, Problem, Sent, bearer, demand, dumped, output_tokens, pieces

_STOPS = {"end": "stop", "tools": "tool_calls", "length": "length", "refusal": "stop"}
DIMENSIONS = 8


class OpenAI:
    name = "openai"
    tells_at_first = False
    own = True

    def check(self, received: Received, key: str, models: frozenset[str]) -> Asked:
        self.authenticate(received, key)
        demand(isinstance(received.json, dict), "We could not parse the JSON body of your request.")
        body: dict[str, Any] = received.json
        self.know(received, body, models)
        if received.path.endswith("/embeddings"):
            check_embedding(body)
            return Asked(body["model"], False, 0, [Block(text) for text in body["input"]])
        check_body(body, own=self.own)
        most: int = body["max_completion_tokens" if self.own else "max_tokens"]
        reports = bool(body.get("stream_options", {}).get("include_usage"))
        return Asked(body["model"], body.get("stream") is True, most, _blocks(body), reports)

    def authenticate(self, received: Received, key: str) -> None:
        given = bearer(received)
        shown = f"{given[:8]}***{given[-4:]}"
        demand(given == key, f"Incorrect API key provided: {shown}.", "invalid_api_key", 401)

    def know(self, received: Received, body: dict[str, Any], models: frozenset[str]) -> None:
        model = body.get("model")
        missing = f"The model `{model}` does not exist or you do not have access to it."
        demand(model in models, missing, "model_not_found", 404)

    def whole(self, asked: Asked, reply: Reply, bill: Bill) -> dict[str, Any]:
        refused = reply.stopped == "refusal"
        message: dict[str, Any] = {
            "role": "assistant",
            "content": None if refused else reply.text or None,
            "refusal": reply.text if refused else None,
        }
        if reply.calls:
            message["tool_calls"] = [
                {
                    "id": each.id or f"call_{number:04}",
                    "type": "function",
                    "function": {"name": each.name, "arguments": each.arguments},
                }
                for number, each in enumerate(reply.calls)
            ]
        choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": _STOPS[reply.stopped]}
        usage = reply.usage if reply.usage is not None else _usage(bill, output_tokens(reply))
        return {**self._head(asked, reply, "chat.completion"), "choices": [choice], "usage": usage}

    def _head(self, asked: Asked, reply: Reply, kind: str) -> dict[str, Any]:
        return {"id": "chatcmpl-0001", "object": kind, "created": 1_900_000_000, "model": reply.model or asked.model}

    def events(self, asked: Asked, reply: Reply, bill: Bill) -> list[Sent]:
        said = "refusal" if reply.stopped == "refusal" else "content"
        deltas: list[dict[str, Any]] = [{"role": "assistant", said: ""}]
        deltas += [{said: each} for each in pieces(reply.text)]
        for number, each in enumerate(reply.calls):
            begun = {"index": number, "id": each.id or f"call_{number:04}", "type": "function"}
            deltas.append({"tool_calls": [{**begun, "function": {"name": each.name, "arguments": ""}}]})
            parts = [{"index": number, "function": {"arguments": piece}} for piece in pieces(each.arguments)]
            deltas += [{"tool_calls": [part]} for part in parts]
        head = {**self._head(asked, reply, "chat.completion.chunk"), "usage": None}
        choices: list[dict[str, Any]] = [{"index": 0, "delta": delta, "finish_reason": None} for delta in deltas]
        choices.append({"index": 0, "delta": {}, "finish_reason": _STOPS[reply.stopped]})
        events = [_event({**head, "choices": [choice]}) for choice in choices]
        events[0] = Sent(events[0].data, "begun")
        if asked.reports_usage:
            usage = reply.usage if reply.usage is not None else _usage(bill, output_tokens(reply))
            events.append(Sent(_event({**head, "choices": [], "usage": usage}).data, "all"))
        return [*events, Sent(b"data: [DONE]\n\n", events[-1].told)]

    def vectors(self, asked: Asked, reply: Reply, bill: Bill) -> dict[str, Any]:
        rows = [_vector(block.content) for block in asked.blocks]
        data = [{"object": "embedding", "index": index, "embedding": row} for index, row in enumerate(rows)]
        usage = {"prompt_tokens": bill.input, "total_tokens": bill.input}
        said = reply.usage if reply.usage is not None else usage
        return {"object": "list", "data": data, "model": asked.model, "usage": said}

    def problem(self, problem: Problem) -> dict[str, Any]:
        kind = "invalid_request_error"
        return {"error": {"message": problem.message, "type": kind, "param": None, "code": problem.kind}}

    def status(self, status: Status) -> dict[str, Any]:
        kind = {429: "rate_limit_exceeded", 500: "server_error"}.get(status.status, "invalid_request_error")
        return {"error": {"message": status.message, "type": kind, "param": None, "code": None}}

    def failure(self, kind: str) -> Sent:
        return _event({"error": {"message": "The server had an error.", "type": kind, "param": None, "code": None}})

    def ping(self) -> Sent:
        return Sent(b": still here\n\n")


class Compatible(OpenAI):
    """Such as vLLM or llama.cpp: other parameters, and a key only where one is set."""

    name = "compatible"
    own = False


class Azure(OpenAI):
    """The deployment is in the path, the key in a header of its own."""

    name = "azure"

    def authenticate(self, received: Received, key: str) -> None:
        demand("api-version" in received.query, "Resource not found", "404", 404)
        demand(received.headers.get("api-key") == key, "Access denied due to invalid subscription key.", "401", 401)

    def know(self, received: Received, body: dict[str, Any], models: frozenset[str]) -> None:
        deployment = received.path.split("/")[3]
        demand(deployment in models, "The API deployment for this resource does not exist.", "DeploymentNotFound", 404)


class Voyage(OpenAI):
    name = "voyage"

    def vectors(self, asked: Asked, reply: Reply, bill: Bill) -> dict[str, Any]:
        made = super().vectors(asked, reply, bill)
        return made if reply.usage is not None else {**made, "usage": {"total_tokens": bill.input}}

    def problem(self, problem: Problem) -> dict[str, Any]:
        return {"detail": problem.message}

    def status(self, status: Status) -> dict[str, Any]:
        return {"detail": status.message}


def _usage(bill: Bill, output: int) -> dict[str, Any]:
    prompt = bill.input + bill.cache_read + bill.cache_write
    return {
        "prompt_tokens": prompt,
        "completion_tokens": output,
        "total_tokens": prompt + output,
        "prompt_tokens_details": {"cached_tokens": bill.cache_read, "audio_tokens": 0},
        "completion_tokens_details": {"reasoning_tokens": 0},
    }


def _blocks(body: dict[str, Any]) -> list[Block]:
    """Prefixes are recognised wherever a message ends."""
    return [Block(dumped(each), breakpoint=True) for each in [*body.get("tools", []), *body["messages"]]]


def _vector(text: str) -> list[float]:
    return [round(byte / 255 - 0.5, 6) for byte in sha256(text.encode()).digest()[:DIMENSIONS]]


def _event(data: dict[str, Any]) -> Sent:
    return Sent(b"data: " + orjson.dumps(data) + b"\n\n")
