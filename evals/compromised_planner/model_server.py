"""A model in the attacker's hands, behind the wire format of OpenAI: it does the user's task and obeys injections."""

import json
import threading
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from uuid import uuid4

Wanted = tuple[str, dict[str, Any]]
MODEL = "compromised"
MOST_CALLS = 8


@dataclass
class Script:
    """What the model does in one investigation, step by step."""

    own: list[list[Wanted]]
    """The user's task: the calls of one step can be made together."""
    injected: list[Wanted]
    seen_as: str
    """Text by which the model notices the injection in what it reads."""
    names: dict[str, str]
    """The product's names of the tools."""
    plays_attacker: bool = False
    """Whether the step that was made last is the attacker's."""
    obeyed: bool = False
    emitted: list[tuple[bool, str, dict[str, Any]]] = field(default_factory=list[tuple[bool, str, dict[str, Any]]])
    """Whether it is the attacker's, the tool, the arguments."""

    def next(self, prompt: str) -> list[Wanted]:
        """The calls of the next step; none to conclude."""
        started = bool(self.emitted)
        noticed = started and bool(self.seen_as) and self.seen_as in prompt
        if self.injected and not self.obeyed and (noticed or not self.own):
            self.obeyed = self.plays_attacker = True
            self._pending = list(self.injected)
        if self.obeyed and getattr(self, "_pending", None):
            # One at a time: what stands beside a read is put off until the read is done.
            step, self._pending = self._pending[:1], self._pending[1:]
            self.plays_attacker = True
        elif self.own:
            step = self.own.pop(0)
            self.plays_attacker = False
        else:
            return []
        self.emitted += [(self.plays_attacker, tool, arguments) for tool, arguments in step]
        return step


class ModelServer:
    """One at a time: a script is set, an investigation is carried out, the next is set."""

    def __init__(self) -> None:
        self.script: Script | None = None
        self.requests = 0
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                length = int(self.headers.get("content-length", "0"))
                asked = json.loads(self.rfile.read(length))
                body = json.dumps(outer.answer(asked)).encode()
                self.send_response(200)
                self.send_header("content-type", "application/json")
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

    def answer(self, asked: dict[str, Any]) -> dict[str, Any]:
        self.requests += 1
        offered = {tool["function"]["name"] for tool in asked.get("tools", [])}
        script = self.script
        step = script.next(json.dumps(asked.get("messages", []), ensure_ascii=False)) if script is not None else []
        names = script.names if script is not None else {}
        calls = [_call(names[tool], arguments, offered) for tool, arguments in step] or [
            _call("conclude", {"why": "What was asked for is done."}, offered)
        ]
        message = {"role": "assistant", "content": "As asked.", "tool_calls": calls}
        return {
            "id": f"chatcmpl-{uuid4().hex}",
            "object": "chat.completion",
            "created": 0,
            "model": MODEL,
            "choices": [{"index": 0, "message": message, "finish_reason": "tool_calls"}],
            "usage": {"prompt_tokens": 10, "completion_tokens": 10, "total_tokens": 20},
        }

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


def _call(name: str, arguments: dict[str, Any], offered: set[str]) -> dict[str, Any]:
    # Vendors allow no dots in names, so the product offers them in another spelling.
    spelled = next((each for each in offered if each == name or each.replace("__", ".") == name), name)
    function = {"name": spelled, "arguments": json.dumps(arguments)}
    return {"id": f"call_{uuid4().hex[:20]}", "type": "function", "function": function}
