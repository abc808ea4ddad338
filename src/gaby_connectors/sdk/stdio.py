"""The pipes of a connector: JSON-RPC lines in and out, and nothing else on stdout.

Unlike the SDK's own transport this one answers what is under way before it ends, can be ended by a signal while it
waits for input, and bounds the length of a line.
"""

import asyncio
import os
import sys
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from io import FileIO

import anyio
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.shared.message import SessionMessage
from mcp.types import JSONRPCError, JSONRPCNotification, JSONRPCRequest, JSONRPCResponse
from mcp.types.jsonrpc import jsonrpc_message_adapter
from pydantic import ValidationError

Incoming = MemoryObjectReceiveStream[SessionMessage | Exception]
Outgoing = MemoryObjectSendStream[SessionMessage]

LONGEST_LINE = 8 * 1024 * 1024
DRAIN_SECONDS = 8.0


class StdioPipes:
    """Reads requests until the other side hangs up or `stop` is called, then waits for their answers."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer
        self._stopping = asyncio.Event()
        self._unanswered: set[int | str] = set()
        self._all_answered = asyncio.Event()
        self._all_answered.set()

    def stop(self) -> None:
        self._stopping.set()

    async def read_into(self, stream: MemoryObjectSendStream[SessionMessage | Exception]) -> None:
        async with stream:
            reading = asyncio.create_task(self._read(stream))
            stopped = asyncio.create_task(self._stopping.wait())
            try:
                await asyncio.wait((reading, stopped), return_when=asyncio.FIRST_COMPLETED)
                await self._drain()
            finally:
                reading.cancel()
                stopped.cancel()
                await asyncio.gather(reading, stopped, return_exceptions=True)

    async def write_from(self, stream: MemoryObjectReceiveStream[SessionMessage]) -> None:
        async with stream:
            async for item in stream:
                message = item.message
                line = message.model_dump_json(by_alias=True, exclude_unset=True)
                try:
                    self._writer.write(line.encode() + b"\n")
                    await self._writer.drain()
                except ConnectionError:
                    # Nobody listens any more; what is under way is still finished.
                    self.stop()
                if isinstance(message, JSONRPCResponse | JSONRPCError):
                    self._answered(message.id)

    async def _read(self, stream: MemoryObjectSendStream[SessionMessage | Exception]) -> None:
        async for line in _lines(self._reader):
            try:
                message = jsonrpc_message_adapter.validate_json(line, by_name=False)
            except ValidationError as error:
                await stream.send(error)
                continue
            self._note(message)
            await stream.send(SessionMessage(message))

    def _note(self, message: object) -> None:
        if isinstance(message, JSONRPCRequest):
            self._unanswered.add(message.id)
            self._all_answered.clear()
        elif isinstance(message, JSONRPCNotification) and message.method == "notifications/cancelled":
            self._answered((message.params or {}).get("requestId"))

    def _answered(self, request: int | str | None) -> None:
        if request is not None:
            self._unanswered.discard(request)
        if not self._unanswered:
            self._all_answered.set()

    async def _drain(self) -> None:
        try:
            await asyncio.wait_for(self._all_answered.wait(), DRAIN_SECONDS)
        except TimeoutError:
            sys.stderr.write(f"{len(self._unanswered)} calls were cut off at the end.\n")


@asynccontextmanager
async def pipes() -> AsyncGenerator[tuple[StdioPipes, Incoming, Outgoing]]:
    """Takes stdin and stdout for the protocol. What anything else prints goes to stderr from here on."""
    loop = asyncio.get_running_loop()
    stdin, stdout = _take(0, os.devnull, "rb"), _take(1, None, "wb")
    reader = asyncio.StreamReader(limit=LONGEST_LINE)
    read_transport, _ = await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), stdin)
    write_transport, protocol = await loop.connect_write_pipe(
        lambda: asyncio.StreamReaderProtocol(asyncio.StreamReader()), stdout
    )
    ends = StdioPipes(reader, asyncio.StreamWriter(write_transport, protocol, None, loop))
    inbox, incoming = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    outgoing, outbox = anyio.create_memory_object_stream[SessionMessage](0)
    try:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(ends.read_into, inbox)
            tasks.start_soon(ends.write_from, outbox)
            yield ends, incoming, outgoing
    finally:
        read_transport.close()
        write_transport.close()


def _take(descriptor: int, instead: str | None, mode: str) -> FileIO:
    """A private copy of a standard stream; the standard one is pointed elsewhere."""
    own = os.dup(descriptor)
    other = os.open(instead, os.O_RDONLY) if instead is not None else os.dup(2)
    os.dup2(other, descriptor)
    os.close(other)
    return FileIO(own, mode)


async def _lines(reader: asyncio.StreamReader) -> AsyncIterator[bytes]:
    """Lines of a bounded length; a longer one is skipped to its end and told as a line that is no JSON."""
    skipping = False
    while True:
        try:
            line = await reader.readuntil(b"\n")
        except asyncio.LimitOverrunError as error:
            await reader.readexactly(error.consumed)
            skipping = True
            continue
        except asyncio.IncompleteReadError:
            return
        if skipping:
            skipping = False
            yield b"(a line that is too long)"
        elif line.strip():
            yield line
