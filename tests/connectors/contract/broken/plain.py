"""An honest connector in a hundred lines of plain Python; the others beside it each spoil one thing."""

import json
import sys
from typing import Any, cast

READ = {"scope": "read"}
WRITE = {
    "scope": "write",
    "steering": ["item_id"],
    "content": ["name"],
    "supports_dry_run": True,
    "idempotent": True,
}
ITEM = {"type": "string", "examples": ["item_1"]}
KEYS = {"idempotency_key": {"type": "string"}, "dry_run": {"type": "boolean"}}


def tool(name: str, manifest: dict[str, Any], properties: dict[str, Any], required: list[str]) -> dict[str, Any]:
    schema = {"type": "object", "properties": properties, "required": required, "additionalProperties": False}
    return {"name": name, "description": f"To {name}.", "inputSchema": schema, "_meta": {"gaby/tool": manifest}}


class Refused(Exception):
    pass


class Plain:
    def __init__(self) -> None:
        self.items = {"item_1": "A lamp"}
        self.renamed = 0
        self.remembered: dict[str, Any] = {}

    def tools(self) -> list[dict[str, Any]]:
        return [
            tool("healthcheck", READ, {}, []),
            tool("get_item", READ, {"item_id": ITEM}, ["item_id"]),
            tool("rename_item", WRITE, {"item_id": ITEM, "name": {"type": "string"}, **KEYS}, ["item_id", "name"]),
        ]

    def check(self, known: dict[str, Any], given: dict[str, Any]) -> None:
        schema = known["inputSchema"]
        if set(given) - set(schema["properties"]) or set(schema["required"]) - set(given):
            raise Refused("Bad arguments.")
        if any(type(value) not in (str, bool) for value in given.values()):
            raise Refused("Bad arguments.")

    def call(self, name: str, given: dict[str, Any]) -> dict[str, Any]:
        if name == "healthcheck":
            return self.result({"ok": True})
        if given["item_id"] not in self.items:
            raise Refused("There is no such item.")
        if name == "get_item":
            return self.result({"id": "item_1", "name": self.items["item_1"], "renamed": self.renamed})
        return self.result(self.rename(given))

    def rename(self, given: dict[str, Any]) -> dict[str, Any]:
        if given.get("dry_run"):
            return {"id": "item_1", "dry_run": True}
        key = given.get("idempotency_key", "")
        if key not in self.remembered:
            self.items["item_1"] = given["name"]
            self.renamed += 1
            self.remembered[key] = {"id": "item_1", "dry_run": False}
        return self.remembered[key]

    def result(self, structured: Any) -> dict[str, Any]:
        return {"content": [{"type": "text", "text": json.dumps(structured)}], "structuredContent": structured}

    def initialized(self) -> dict[str, Any]:
        capabilities = {"tools": {}, "experimental": {"gaby/manifest": {"version": "1.0.0"}}}
        info = {"name": type(self).__name__, "version": "1.0.0"}
        return {"protocolVersion": "2025-06-18", "capabilities": capabilities, "serverInfo": info}

    def answer(self, method: str, params: dict[str, Any]) -> dict[str, Any] | None:
        match method:
            case "initialize":
                return self.initialized()
            case "tools/list":
                return {"tools": self.tools()}
            case "tools/call":
                return self.called(params["name"], params.get("arguments") or {})
            case "ping":
                return {}
            case _:
                return None

    def called(self, name: str, given: dict[str, Any]) -> dict[str, Any]:
        try:
            known = next((tool for tool in self.tools() if tool["name"] == name), None)
            if known is None:
                raise Refused("There is no such tool.")
            self.check(known, given)
            return self.call(name, given)
        except Refused as refused:
            return {"content": [{"type": "text", "text": str(refused)}], "isError": True}

    def read(self, line: str) -> Any:
        try:
            return json.loads(line)
        except ValueError:
            return None

    def say(self, message: dict[str, Any]) -> None:
        sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
        sys.stdout.flush()

    def run(self) -> None:
        for line in sys.stdin:
            read = self.read(line)
            message = cast("dict[str, Any]", read) if isinstance(read, dict) else {}
            if not isinstance(message.get("id"), int | str):
                continue
            found = self.answer(str(message.get("method")), message.get("params") or {})
            failed = {"error": {"code": -32601, "message": "Method not found"}}
            self.say({"id": message["id"], **(failed if found is None else {"result": found})})


if __name__ == "__main__":
    Plain().run()
