"""The model in the attacker's hands, behind the wire format of OpenAI. It answers every skill as the script says."""

import json
import re
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from uuid import uuid4

from evals.attacks.attack import ModelScript

MODEL = "attacker"
_SOURCE = re.compile(r"^Source \[(s\d+)\]:", re.MULTILINE)
_SKILLS = {
    "You plan a support investigation": "plan",
    "You sort the support tickets": "triage",
    "You give the verdict": "judge",
    "You look once more": "complete",
    "You write for": "summarise",
    "You compare statements": "compare",
    "You find the typed values": "find_entities",
    "You judge which passages": "rank_passages",
    "You turn a support ticket": "search_queries",
}


class UnknownQuestion(Exception):
    """The product asks something that the attacker's model has no answer for. Add it to `_SKILLS`."""


class AttackerModel:
    """One script at a time."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._script = ModelScript()
        self._searched = False
        self._at = 0
        self.made = 0
        self.prompts: list[str] = []
        self.unknown: list[str] = []
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                length = int(self.headers.get("content-length", "0"))
                asked = json.loads(self.rfile.read(length))
                try:
                    status, kind, body = outer.respond(asked)
                except UnknownQuestion as error:
                    outer.unknown.append(str(error))
                    status, kind, body = 400, "application/json", b'{"error": {"message": "unknown"}}'
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

    def play(self, script: ModelScript, *, afresh: bool = True) -> None:
        with self._lock:
            self._script, self._searched, self._at = script, False, 0
            if afresh:
                self.prompts, self.made = [], 0

    def respond(self, asked: dict[str, Any]) -> tuple[int, str, bytes]:
        prompt = "\n".join(str(message.get("content") or "") for message in asked["messages"])
        skill = next((name for start, name in _SKILLS.items() if start in prompt[:400]), None)
        if skill is None:
            raise UnknownQuestion(prompt[:200])
        with self._lock:
            self.prompts.append(prompt)
            text, calls = self._answer(skill, prompt, asked)
        if asked.get("stream"):
            return 200, "text/event-stream", _streamed(text)
        return 200, "application/json", json.dumps(_whole(text, calls)).encode()

    def _answer(self, skill: str, prompt: str, asked: dict[str, Any]) -> tuple[str, list[dict[str, Any]]]:
        script = self._script
        if skill == "plan":
            offered = [tool["function"]["name"] for tool in asked.get("tools", [])]
            return "As asked.", [_call(name, arguments, offered) for name, arguments in self._step()]
        if skill == "summarise":
            return _cited(script, prompt), []
        sorted_as = {"intent": script.intent, "urgency": "low", "worth_investigating": True}
        answers: dict[str, object] = {
            "triage": {**sorted_as, "confidence": 1.0, "reasons": ["It is a question."]},
            "judge": {"verdict": script.verdict, "confidence": 1.0, "reasons": ["It is done."]},
            "complete": {"complete": True, "why": "Everything was answered."},
            "compare": {"contradictions": []},
            "find_entities": {"entities": []},
            "rank_passages": {"helpful": list(range(max(prompt.count("\nPassage "), 1)))},
            "search_queries": {"queries": list(script.searches) or ["account"]},
        }
        return json.dumps(answers[skill]), []

    def _step(self) -> list[tuple[str, dict[str, Any]]]:
        script = self._script
        if script.searches and not self._searched:
            self._searched = True
            return [("search_knowledge", {"queries": list(script.searches)})]
        if self._at < len(script.steps):
            self._at += 1
            self.made += 1
            return list(script.steps[self._at - 1])
        return [("conclude", {"why": "What was asked for is done."})]

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


def _cited(script: ModelScript, prompt: str) -> str:
    """Each sentence with a source that was given. Which one is the attacker's to choose."""
    if script.writes_badly:
        return "This names no source at all."
    parts = _SOURCE.split(prompt)
    sources = list(zip(parts[1::2], parts[2::2], strict=True))
    if not sources:
        return "Nothing was found that answers this."
    fitting = [name for name, text in sources if script.cites and script.cites in text]
    source = fitting[0] if fitting else sources[-1][0]
    return "\n".join(f"{sentence} [{source}]" for sentence in script.reply)


def _call(name: str, arguments: dict[str, Any], offered: list[str]) -> dict[str, Any]:
    # Vendors allow no dots in names, so the product offers them in another spelling.
    spelled = next((each for each in offered if each == name or each.replace("__", ".") == name), name)
    function = {"name": spelled, "arguments": json.dumps(arguments)}
    return {"id": f"call_{uuid4().hex[:20]}", "type": "function", "function": function}


def _whole(text: str, calls: list[dict[str, Any]]) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": text}
    if calls:
        message["tool_calls"] = calls
    return {
        **_head("chat.completion"),
        "choices": [{"index": 0, "message": message, "finish_reason": "tool_calls" if calls else "stop"}],
        "usage": {"prompt_tokens": 10, "completion_tokens": 10, "total_tokens": 20},
    }


def _streamed(text: str) -> bytes:
    head = _head("chat.completion.chunk")
    choices: list[dict[str, Any]] = [
        {"index": 0, "delta": {"role": "assistant", "content": text}, "finish_reason": None},
        {"index": 0, "delta": {}, "finish_reason": "stop"},
    ]
    events: list[dict[str, Any]] = [{**head, "choices": [choice], "usage": None} for choice in choices]
    usage = {"prompt_tokens": 10, "completion_tokens": 10, "total_tokens": 20}
    events.append({**head, "choices": [], "usage": usage})
    return b"".join(f"data: {json.dumps(event)}\n\n".encode() for event in events) + b"data: [DONE]\n\n"


def _head(kind: str) -> dict[str, Any]:
    return {"id": f"chatcmpl-{uuid4().hex}", "object": kind, "created": 0, "model": MODEL}
