"""`python connector.py URL`: a connector for the shop's database, which is outside of Gaby. It keeps nothing itself.

Nothing but the standard library, since it is killed and started again all the time. `credit_order` is the dangerous
tool for whoever recovers from a crash: each call pays once more.
"""

import json
import sys
from http.client import HTTPConnection
from threading import Lock, Thread
from typing import Any
from urllib.parse import quote, urlsplit

_TEXT = {"type": "string", "minLength": 2, "maxLength": 200}
_ORDER = {"type": "object", "properties": {"id": _TEXT, "email": _TEXT, "status": _TEXT}}
_TOOLS = [
    {
        "name": "find_orders",
        "description": "Find the orders of a customer by e-mail address, with their status.",
        "inputSchema": {"type": "object", "properties": {"query": _TEXT}, "required": ["query"]},
        "outputSchema": {"type": "object", "properties": {"orders": {"type": "array", "items": _ORDER}}},
    },
    {
        "name": "credit_order",
        "description": "Credit an order that was charged twice to the customer's card. Every call pays.",
        "inputSchema": {
            "type": "object",
            "properties": {"order_id": {"type": "string", "pattern": "^ord_[0-9]{4}$"}},
            "required": ["order_id"],
        },
        "outputSchema": {"type": "object", "properties": {"order_id": _TEXT, "done": _TEXT}},
    },
]
_PATIENCE = 120
_saying = Lock()


def main(url: str) -> None:
    for line in sys.stdin:
        message = json.loads(line)
        if "id" in message:
            # Not waited for when Gaby is gone: what was asked of the shop goes on there by itself.
            Thread(target=_serve, args=(url, message), daemon=True).start()


def _serve(url: str, message: dict[str, Any]) -> None:
    try:
        result = _answer(url, message["method"], message.get("params") or {})
    except LookupError:
        _say({"id": message["id"], "error": {"code": -32601, "message": "Method not found"}})
    except OSError as error:
        _say({"id": message["id"], "result": {"content": [_text(f"The shop is closed: {error}")], "isError": True}})
    else:
        _say({"id": message["id"], "result": result})


def _answer(url: str, method: str, params: dict[str, Any]) -> dict[str, Any]:
    match method:
        case "initialize":
            info = {"name": "shop", "version": "1"}
            capabilities: dict[str, Any] = {"tools": {}}
            return {"protocolVersion": "2025-06-18", "capabilities": capabilities, "serverInfo": info}
        case "ping":
            return {}
        case "tools/list":
            return {"tools": _TOOLS}
        case "tools/call":
            return _call(url, params["name"], params.get("arguments") or {})
        case _:
            raise LookupError(method)


def _call(url: str, tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
    if tool == "find_orders":
        found = _ask(url, "GET", f"/orders?query={quote(arguments['query'])}")
    else:
        found = _ask(url, "POST", "/credits", {"order_id": arguments["order_id"]})
    return {"content": [_text(json.dumps(found))], "structuredContent": found}


def _ask(url: str, method: str, path: str, body: dict[str, Any] | None = None) -> dict[str, Any]:
    connection = HTTPConnection(urlsplit(url).netloc, timeout=_PATIENCE)
    try:
        connection.request(method, path, json.dumps(body or {}), {"Content-Type": "application/json"})
        return json.loads(connection.getresponse().read())
    finally:
        connection.close()


def _text(text: str) -> dict[str, str]:
    return {"type": "text", "text": text}


def _say(message: dict[str, Any]) -> None:
    with _saying:
        sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main(sys.argv[1])
