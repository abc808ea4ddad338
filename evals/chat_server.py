"""A scripted model behind the wire format of OpenAI's chat completions, on a socket of this machine."""

import json
import threading
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self
from uuid import uuid4

Call = tuple[str, dict[str, Any]]
"""The product's name of a tool, and the arguments."""


@dataclass(frozen=True)
class ChatAnswer:
    text: str
    calls: Collection[Call] = ()
    prompt_tokens: int = 10
    cached_tokens: int = 0


class ChatServer:
    """Serves from its making until it is closed. Whatever `answer` raises reaches the client as a bad request."""

    def __init__(self, answer: Callable[[Mapping[str, Any]], ChatAnswer]) -> None:
        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                asked = json.loads(self.rfile.read(int(self.headers.get("content-length", "0"))))
                status, kind, body = _response(asked, answer)
                self.send_response(status)
                self.send_header("content-type", kind)
                self.send_header("content-length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)
        self._thread.start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}/v1"

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


def _response(asked: Mapping[str, Any], answer: Callable[[Mapping[str, Any]], ChatAnswer]) -> tuple[int, str, bytes]:
    try:
        given = answer(asked)
    except Exception as error:  # noqa: BLE001
        return 400, "application/json", json.dumps({"error": {"message": repr(error)}}).encode()
    calls = [_call(*each, offered=asked.get("tools", [])) for each in given.calls]
    head = {"id": f"chatcmpl-{uuid4().hex}", "created": 0, "model": asked["model"]}
    if asked.get("stream"):
        return 200, "text/event-stream", _events(head, given, calls)
    message = {"role": "assistant", "content": given.text} | ({"tool_calls": calls} if calls else {})
    choice = {"index": 0, "message": message, "finish_reason": "tool_calls" if calls else "stop"}
    whole = {**head, "object": "chat.completion", "choices": [choice], "usage": _usage(given)}
    return 200, "application/json", json.dumps(whole).encode()


def _usage(given: ChatAnswer) -> dict[str, Any]:
    written = max(10, len(given.text) // 4)
    return {
        "prompt_tokens": given.prompt_tokens,
        "completion_tokens": written,
        "total_tokens": given.prompt_tokens + written,
        "prompt_tokens_details": {"cached_tokens": given.cached_tokens},
    }


def _events(head: dict[str, Any], given: ChatAnswer, calls: list[dict[str, Any]]) -> bytes:
    delta: dict[str, Any] = {"role": "assistant", "content": given.text}
    if calls:
        delta["tool_calls"] = [{"index": index, **each} for index, each in enumerate(calls)]
    choices: list[dict[str, Any]] = [
        {"index": 0, "delta": delta, "finish_reason": None},
        {"index": 0, "delta": {}, "finish_reason": "tool_calls" if calls else "stop"},
    ]
    head = {**head, "object": "chat.completion.chunk"}
    events: list[dict[str, Any]] = [{**head, "choices": [each], "usage": None} for each in choices]
    events.append({**head, "choices": [], "usage": _usage(given)})
    return b"".join(f"data: {json.dumps(event)}\n\n".encode() for event in events) + b"data: [DONE]\n\n"


def _call(name: str, arguments: dict[str, Any], *, offered: Collection[Mapping[str, Any]]) -> dict[str, Any]:
    # Vendors allow no dots in names, so the product offers them in another spelling.
    names = [tool["function"]["name"] for tool in offered]
    spelled = next((each for each in names if each == name or each.replace("__", ".") == name), name)
    function = {"name": spelled, "arguments": json.dumps(arguments)}
    return {"id": f"call_{uuid4().hex[:20]}", "type": "function", "function": function}
