"""The good server over Streamable HTTP on a real socket, behind a gate that can misbehave."""

import asyncio
import json
import socket
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass

import uvicorn
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from tests.mcp.scenes import until
from tests.mcp.servers.good import make_server


@dataclass
class Gate:
    """Stands before the server, and answers in its place when told to."""

    token: str | None = None
    status: int | None = None
    """Answered to every call of a tool."""
    big_answer: int = 0
    """So many bytes in place of the answer to a call."""
    cut_off: bool = False
    """Begins to answer a call and ends the connection."""
    legacy: bool = False
    """As a server that knows only the older protocol."""
    hang: bool = False
    calls: int = 0
    app: ASGIApp | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or self.app is None:
            assert self.app is not None
            await self.app(scope, receive, send)
            return
        headers = {name.decode(): value.decode() for name, value in scope["headers"]}
        if self.token is not None and headers.get("authorization") != f"Bearer {self.token}":
            await _answer(send, 401)
            return
        body = await _body(receive)
        method = json.loads(body).get("method") if body else None
        self.calls += method == "tools/call"
        if self.legacy and method == "server/discover":
            await _answer(send, 404)
        elif self.hang and method is not None:
            await asyncio.sleep(600)
        elif method == "tools/call" and await self._misbehave(send):
            return
        else:
            await self.app(scope, _replay(body, receive), send)

    async def _misbehave(self, send: Send) -> bool:
        if self.status is not None:
            await _answer(send, self.status)
        elif self.big_answer:
            await _answer(send, 200, b"x" * self.big_answer)
        elif self.cut_off:
            start = {"type": "http.response.start", "status": 200}
            await send({**start, "headers": [(b"content-type", b"application/json"), (b"content-length", b"100")]})
            await send({"type": "http.response.body", "body": b"{", "more_body": True})
        else:
            return False
        return True


async def _answer(send: Send, status: int, body: bytes = b"") -> None:
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    headers.append((b"retry-after", b"7"))
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


async def _body(receive: Receive) -> bytes:
    body = b""
    while True:
        message = await receive()
        body += message.get("body", b"")
        if not message.get("more_body"):
            return body


def _replay(body: bytes, receive: Receive) -> Receive:
    told = False

    async def replay() -> Message:
        nonlocal told
        if told:
            return await receive()
        told = True
        return {"type": "http.request", "body": body, "more_body": False}

    return replay


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        return listening.getsockname()[1]


@asynccontextmanager
async def serving(gate: Gate, port: int, *, json_response: bool = False) -> AsyncGenerator[str]:
    """The address of the server, which is gone when the body ends."""
    gate.app = make_server().streamable_http_app(json_response=json_response)
    config = uvicorn.Config(gate, log_level="critical", timeout_graceful_shutdown=1, lifespan="on")
    server = uvicorn.Server(config)
    listening = socket.create_server(("127.0.0.1", port))
    task = asyncio.create_task(server.serve(sockets=[listening]))
    await until(lambda: server.started)
    try:
        yield f"http://127.0.0.1:{port}/mcp"
    finally:
        server.should_exit = True
        server.force_exit = True
        await task
        listening.close()
