"""A plain HTTP/1.1 server on loopback, in a thread of its own, that can also misbehave."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from threading import Condition, Event, Thread
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

import orjson

_PATIENCE = 30.0


@dataclass(frozen=True)
class Received:
    method: str
    path: str
    query: Mapping[str, str]
    headers: Mapping[str, str]
    """Their names in small letters."""
    body: bytes

    @cached_property
    def json(self) -> Any:
        """None when it is no JSON."""
        try:
            return orjson.loads(self.body)
        except orjson.JSONDecodeError:
            return None


class Gone(Exception):
    """The client hung up."""


class Exchange:
    """One request on its connection, and the ways of answering it."""

    def __init__(self, received: Received, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.received = received
        self.keep_open = True
        self._reader = reader
        self._writer = writer

    async def send(self, status: int, headers: Mapping[str, str], body: bytes, *, cut: bool = False) -> None:
        """Whole, or only its first half, after which the connection is over."""
        head = {**headers, "Content-Length": str(len(body))}
        await self.raw(_head(status, head) + (body[: len(body) // 2] if cut else body))
        self.keep_open = not cut

    async def begin(self, headers: Mapping[str, str]) -> None:
        await self.raw(_head(200, {**headers, "Transfer-Encoding": "chunked"}))

    async def chunk(self, data: bytes) -> None:
        await self.raw(b"%x\r\n%b\r\n" % (len(data), data))

    async def end(self) -> None:
        await self.raw(b"0\r\n\r\n")

    async def raw(self, data: bytes) -> None:
        try:
            self._writer.write(data)
            await self._writer.drain()
        except ConnectionError:
            raise Gone from None

    def abort(self) -> None:
        self.keep_open = False
        self._writer.transport.abort()

    async def wait(self, something: Awaitable[None] | None = None) -> None:
        """Until it happens, or the client hangs up."""
        waiting: list[asyncio.Future[Any]] = [asyncio.ensure_future(self._reader.read(1))]
        if something is not None:
            waiting.append(asyncio.ensure_future(something))
        try:
            done, _ = await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for each in waiting:
                each.cancel()
        if waiting[0] in done:
            raise Gone


Answering = Callable[[Exchange], Awaitable[None]]


class HttpServer:
    def __init__(self, answering: Answering) -> None:
        self._answering = answering
        self._changed = Condition()
        self._connections = 0
        self._loop = asyncio.new_event_loop()
        self._tasks: set[asyncio.Task[None]] = set()
        self._stop = asyncio.Event()
        self._ready = Event()
        self._port = 0
        self._thread = Thread(target=self._run, name="scripted-models", daemon=True)
        self._thread.start()
        self._ready.wait(_PATIENCE)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._port}"

    @property
    def connections(self) -> int:
        with self._changed:
            return self._connections

    def wait_for_connections(self, count: int) -> None:
        with self._changed:
            assert self._changed.wait_for(lambda: self._connections == count, _PATIENCE), self._connections

    def close(self) -> None:
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join(_PATIENCE)

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        self._loop.run_until_complete(self._serve())
        self._loop.close()

    async def _serve(self) -> None:
        server = await asyncio.start_server(self._connected, "127.0.0.1", 0)
        self._port = server.sockets[0].getsockname()[1]
        self._ready.set()
        await self._stop.wait()
        server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        self._count(1)
        try:
            while await self._exchange(reader, writer):
                pass
        except (asyncio.IncompleteReadError, asyncio.CancelledError, ConnectionError, Gone):
            pass
        finally:
            writer.transport.abort()
            self._tasks.discard(task)
            self._count(-1)

    async def _exchange(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        exchange = Exchange(await _read(reader), reader, writer)
        await self._answering(exchange)
        if not exchange.keep_open:
            await writer.drain()
            writer.close()
        return exchange.keep_open

    def _count(self, change: int) -> None:
        with self._changed:
            self._connections += change
            self._changed.notify_all()


async def _read(reader: asyncio.StreamReader) -> Received:
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
    method, target, _ = head[0].split(" ")
    pairs = (line.partition(":") for line in head[1:] if line)
    headers = {name.strip().lower(): value.strip() for name, _, value in pairs}
    body = await reader.readexactly(int(headers.get("content-length", "0")))
    parts = urlsplit(target)
    return Received(method, unquote(parts.path), dict(parse_qsl(parts.query)), headers, body)


def _head(status: int, headers: Mapping[str, str]) -> bytes:
    lines = [f"HTTP/1.1 {status} Scripted", *(f"{name}: {value}" for name, value in headers.items()), "", ""]
    return "\r\n".join(lines).encode("latin-1")
