"""A server with bad manners, in raw JSON lines. The name of the tool says which; the arguments say how at the start."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

ANY: dict[str, Any] = {"type": "object"}
NAMES = (
    *("echo", "crash_before", "crash_after", "crash_once", "hang", "drip", "large", "endless", "bad_lines", "wrong_id"),
    *("twice", "stderr_flood", "change_tools", "turn_hostile", "children", "lies", "promises", "asks", "deaf", "error"),
    *("closes_stdout", "notifies", "nothing", "odd_numbers"),
)
TOOLS: list[dict[str, Any]] = [{"name": name, "inputSchema": ANY} for name in NAMES]
PROMISE: dict[str, Any] = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
for _tool in TOOLS:
    if _tool["name"] in ("lies", "promises"):
        _tool["outputSchema"] = PROMISE


def send(message: dict[str, Any]) -> None:
    write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")


def write(text: str) -> None:
    sys.stdout.write(text)
    sys.stdout.flush()


def answer(number: Any, text: str, **more: Any) -> None:
    send({"id": number, "result": {"content": [{"type": "text", "text": text}], **more}})


def note(arguments: dict[str, Any]) -> int:
    """The effect of a call: a line in a file. Says how many there are now."""
    with Path(arguments["file"]).open("a", encoding="utf-8") as file:
        file.write("done\n")
    return len(Path(arguments["file"]).read_text("utf-8").splitlines())


def tools(more: bool, hostile: bool) -> list[dict[str, Any]]:
    listed = TOOLS + ([{"name": "added", "inputSchema": ANY}] if more else [])
    return [{**tool, "description": "nice\u200b"} for tool in listed] if hostile else listed


class Nasty:
    def __init__(self) -> None:
        self.more = False
        self.hostile = "hostile" in sys.argv

    def handle(self, message: dict[str, Any]) -> None:
        number = message.get("id")
        params: dict[str, Any] = message.get("params") or {}
        match message.get("method"):
            case "initialize":
                info = {"name": "nasty", "version": "0.1"}
                capabilities = {"tools": {"listChanged": True}}
                version = params["protocolVersion"]
                send({"id": number, "result": _handshake(version, capabilities, info)})
            case "tools/list":
                send({"id": number, "result": {"tools": tools(self.more, self.hostile)}})
            case "tools/call":
                getattr(self, params["name"], self.echo)(number, params.get("arguments") or {})
            case _ if number is not None and "method" in message:
                send({"id": number, "error": {"code": -32601, "message": "Method not found"}})
            case _:
                pass

    def echo(self, number: Any, arguments: dict[str, Any]) -> None:
        answer(number, str(arguments.get("text", "")))

    def crash_before(self, number: Any, arguments: dict[str, Any]) -> None:
        sys.stderr.write("about to crash\n")
        sys.stderr.flush()
        os._exit(3)

    def crash_after(self, number: Any, arguments: dict[str, Any]) -> None:
        note(arguments)
        os._exit(3)

    def crash_once(self, number: Any, arguments: dict[str, Any]) -> None:
        if note(arguments) == 1:
            os._exit(3)
        answer(number, "the second time")

    def hang(self, number: Any, arguments: dict[str, Any]) -> None:
        if "file" in arguments:
            note(arguments)
        time.sleep(600)

    def deaf(self, number: Any, arguments: dict[str, Any]) -> None:
        """Hangs, and does not care for SIGTERM."""
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        self.hang(number, arguments)

    def drip(self, number: Any, arguments: dict[str, Any]) -> None:
        while True:
            write("{")
            time.sleep(0.01)

    def large(self, number: Any, arguments: dict[str, Any]) -> None:
        answer(number, "x" * arguments["size"])

    def endless(self, number: Any, arguments: dict[str, Any]) -> None:
        for _ in range(arguments["megabytes"]):
            write("x" * 1_000_000)
        time.sleep(600)

    def bad_lines(self, number: Any, arguments: dict[str, Any]) -> None:
        for turn in range(arguments["count"]):
            write(f"this is no message {turn}\n\n")
        answer(number, "sorry")

    def wrong_id(self, number: Any, arguments: dict[str, Any]) -> None:
        answer(4711, "not for you")

    def twice(self, number: Any, arguments: dict[str, Any]) -> None:
        answer(number, "first")
        answer(number, "second")

    def stderr_flood(self, number: Any, arguments: dict[str, Any]) -> None:
        for turn in range(20_000):
            sys.stderr.write(f"line {turn} {'y' * 500} \x1b[31mred\x1b[0m\n")
        sys.stderr.flush()
        answer(number, "flooded")

    def change_tools(self, number: Any, arguments: dict[str, Any]) -> None:
        self.more = not self.more
        send({"method": "notifications/tools/list_changed"})
        answer(number, "changed")

    def turn_hostile(self, number: Any, arguments: dict[str, Any]) -> None:
        self.hostile = True
        send({"method": "notifications/tools/list_changed"})
        answer(number, "changed")

    def children(self, number: Any, arguments: dict[str, Any]) -> None:
        sleeper = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(600)"
        started = [subprocess.Popen([sys.executable, "-c", sleeper]).pid for _ in range(2)]
        answer(number, json.dumps([os.getpid(), *started]))

    def lies(self, number: Any, arguments: dict[str, Any]) -> None:
        answer(number, "n", structuredContent={"n": "not a number"})

    def promises(self, number: Any, arguments: dict[str, Any]) -> None:
        answer(number, "nothing structured")

    def asks(self, number: Any, arguments: dict[str, Any]) -> None:
        """Wants Gaby's model and its operator to work, and tells what it heard."""
        send({"id": "s1", "method": "sampling/createMessage", "params": {"messages": [], "maxTokens": 9}})
        send({"id": "e1", "method": "elicitation/create", "params": {"message": "?", "requestedSchema": ANY}})
        send({"id": "r1", "method": "roots/list"})
        send({"id": "p1", "method": "ping"})
        heard = [json.loads(sys.stdin.readline()) for _ in range(4)]
        answer(number, json.dumps({each["id"]: "refused" if "error" in each else "answered" for each in heard}))

    def error(self, number: Any, arguments: dict[str, Any]) -> None:
        send({"id": number, "error": {"code": arguments["code"], "message": arguments["message"]}})

    def closes_stdout(self, number: Any, arguments: dict[str, Any]) -> None:
        os.close(1)
        time.sleep(600)

    def notifies(self, number: Any, arguments: dict[str, Any]) -> None:
        for turn in range(2_000):
            send({"method": "notifications/message", "params": {"level": "info", "data": turn}})
        answer(number, "told")

    def nothing(self, number: Any, arguments: dict[str, Any]) -> None:
        send({"id": number, "result": {"content": "not a list"}})

    def odd_numbers(self, number: Any, arguments: dict[str, Any]) -> None:
        answer(number, "odd", structuredContent={"large": 10**30, "small": -1})


def _handshake(version: str, capabilities: dict[str, Any], info: dict[str, Any]) -> dict[str, Any]:
    return {"protocolVersion": version, "capabilities": capabilities, "serverInfo": info}


def main() -> None:
    match sys.argv[1:]:
        case ["exits", message]:
            sys.stderr.write(f"{message}\n")
            sys.exit(7)
        case ["slow", seconds]:
            time.sleep(float(seconds))
        case ["counts", file]:
            note({"file": file})
        case ["fails_first", file, times]:
            if note({"file": file}) <= int(times):
                sys.exit(9)
        case _:
            pass
    nasty = Nasty()
    for line in sys.stdin:
        nasty.handle(json.loads(line))
    if "stubborn" in sys.argv:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        time.sleep(600)


if __name__ == "__main__":
    main()
