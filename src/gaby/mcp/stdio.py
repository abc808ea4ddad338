"""The stdio transport: the SDK's pair of streams on top of a child process, without tasks or queues in between.

The SDK has one of its own, but it keeps a line without end in memory. This module loads the SDK.
"""

import asyncio
import json
import re
from collections.abc import Mapping
from types import TracebackType
from typing import Any, Self

import anyio
import orjson
from mcp.shared.exceptions import MCPError
from mcp.shared.message import SessionMessage
from mcp_types import (
    CONNECTION_CLOSED,
    METHOD_NOT_FOUND,
    ErrorData,
    JSONRPCError,
    JSONRPCMessage,
    JSONRPCNotification,
    JSONRPCRequest,
    JSONRPCResponse,
    RequestId,
    jsonrpc_message_adapter,
)
from pydantic import ValidationError

from gaby.mcp.child import ChildProcess
from gaby.mcp.errors import (
    ConnectorCommandNotFound,
    ConnectorCrashed,
    ConnectorError,
    ConnectorProtocolError,
    ResultTooLarge,
)
from gaby.mcp.launch import StdioLaunch, secrets_of
from gaby.mcp.limits import HostLimits
from gaby.mcp.output_tail import OutputTail
from gaby.mcp.pending_requests import Answer, PendingRequests

# Nothing in Gaby listens to them, and a server may send very many.
_UNHEARD = frozenset({"notifications/message", "notifications/progress"})
_NUMBER = re.compile(r"[0-9]{1,15}")
_OF_THE_PROTOCOL = "io.modelcontextprotocol/"


class StdioTransport:
    """`mcp.Client(StdioTransport(...))`. Once only: a server that ended gets a new one."""

    def __init__(self, launch: StdioLaunch, limits: HostLimits, connector: str = "") -> None:
        self.tail = OutputTail(limits.stderr_tail, secrets_of(launch))
        self.bad_lines = 0
        self.hurry = False
        """Whether to leave out the wait for a server that has shown that it does not listen."""
        self.grace = limits.drain
        """How long it may take to end by itself when told to."""
        self._launch = launch
        self._limits = limits
        self._connector = connector
        self._child: ChildProcess | None = None
        self._fault: ConnectorError | None = None
        self._asked: set[RequestId] = set()
        self._highest = 0
        self._questions = PendingRequests()
        self._with_each: dict[str, Any] = {}

    @property
    def pid(self) -> int | None:
        return self._child.pid if self._child else None

    @property
    def ended(self) -> bool:
        return self._child is None or self._child.ended

    def failure(self) -> ConnectorError:
        """Why the connection ended by itself."""
        child, name = self._child, self._connector
        if self._fault is not None:
            return self._fault
        if child is not None and child.fault is not None:
            size = self._limits.biggest_message
            return ResultTooLarge(f"{name} sent a message of more than {size} bytes. Ask for less.", connector=name)
        code = child.returncode if child is not None else None
        how = f"with exit code {code}" if code is not None else "its output"
        words = self.tail.last()
        suffix = f" It said: {words}" if words else " It said nothing on stderr."
        return ConnectorCrashed(f"{name} ended {how}.{suffix}", connector=name, returncode=code)

    async def __aenter__(self) -> tuple["_Incoming", "_Outgoing"]:
        launch = self._launch
        try:
            self._child = await ChildProcess.start(
                [launch.command, *launch.args],
                launch.environment(),
                launch.cwd,
                lambda: ChildProcess(self.tail, self._limits.biggest_message, self._questions.take, self._ended),
            )
        except (OSError, ValueError) as error:
            why = error.strerror if isinstance(error, OSError) else "it holds a NUL character"
            message = f"The command of {self._connector} cannot be run: {launch.command}: {why}."
            raise ConnectorCommandNotFound(message, connector=self._connector) from error
        return _Incoming(self, self._child), _Outgoing(self, self._child)

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._child is None:
            return
        # Also when the server is gone already: something of its group may be left.
        farewell = 0 if self.hurry else self._limits.farewell
        with anyio.CancelScope(shield=True):
            await self._child.stop(self.grace, farewell)

    def on_end(self) -> None:
        """Told when no message will come any more. To be replaced by whoever wants to know."""

    async def ask(self, method: str, params: Mapping[str, Any]) -> Answer:
        """Past the SDK, once it has shaken hands. Raises `MCPError` as it would."""
        child = self._child
        if child is None or not child.can_write:
            raise MCPError(CONNECTION_CLOSED, "Connection closed")
        number, answer = self._questions.new()
        asked = {**params, "_meta": self._with_each} if self._with_each else params
        try:
            child.write(_line({"jsonrpc": "2.0", "id": number, "method": method, "params": asked}))
            await child.written()
            received = await answer
        except asyncio.CancelledError:
            # Not waited for: a server that does not listen must not hold a caller who gives up.
            if child.can_write:
                cancellation = {"requestId": number, "reason": "nobody waits for it any more"}
                child.write(_line({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": cancellation}))
            raise
        finally:
            self._questions.give_up(number)
        if isinstance(received, ErrorData):
            raise MCPError(received.code, received.message, received.data)
        return received

    def note_request(self, request: JSONRPCRequest) -> None:
        number = request.id
        meta: dict[str, Any] = (request.params or {}).get("_meta") or {}
        self._asked.add(number)
        if isinstance(number, int):
            self._highest = max(self._highest, number)
        # The newer protocol wants to be told with each question what was agreed on; the SDK knows it.
        self._with_each = {name: value for name, value in meta.items() if name.startswith(_OF_THE_PROTOCOL)}

    def read(self, line: bytes) -> JSONRPCMessage | None:
        """The message on this line, unless it is none, or none that concerns anybody."""
        try:
            message = jsonrpc_message_adapter.validate_json(line, by_name=False)
        except ValidationError:
            self._forgive("lines that are no messages")
            return None
        match message:
            case JSONRPCResponse() | JSONRPCError():
                return message if self._was_asked(message) else None
            case JSONRPCRequest():
                self._refuse(message)
                return None
            case JSONRPCNotification():
                return None if message.method in _UNHEARD else message

    def _was_asked(self, message: JSONRPCResponse | JSONRPCError) -> bool:
        """Whether it answers a question of the SDK."""
        number = message.id
        # A server may send the number back as text.
        if isinstance(number, str) and _NUMBER.fullmatch(number) and number not in self._asked:
            number = int(number)
        if number in self._asked:
            self._asked.discard(number)
            return True
        if isinstance(number, int) and self._questions.was_asked(number):
            answer = message.result if isinstance(message, JSONRPCResponse) else message.error
            known = self._questions.answer(number, answer)
        elif isinstance(number, int) and 0 < number <= self._highest:
            known = False
        else:
            self._break(f"{self._connector} answered a question that was never asked.")
            return False
        if not known:
            self._forgive("several answers to one question")
        return False

    def _ended(self) -> None:
        self.on_end()
        self._questions.close()

    def _refuse(self, request: JSONRPCRequest) -> None:
        """A connector may not make Gaby's model or its operator work for it. Only a sign of life is given."""
        child = self._child
        if child is None or child.unwritten > self._limits.biggest_message:
            self._break(f"{self._connector} asks without end and does not listen to the answers.")
            return
        if request.method == "ping":
            answer: JSONRPCMessage = JSONRPCResponse(jsonrpc="2.0", id=request.id, result={})
        else:
            error = ErrorData(code=METHOD_NOT_FOUND, message="This client answers no requests.")
            answer = JSONRPCError(jsonrpc="2.0", id=request.id, error=error)
        if child.can_write:
            child.write(encode(answer))

    def _forgive(self, what: str) -> None:
        self.bad_lines += 1
        if self.bad_lines > self._limits.bad_lines:
            self._break(f"{self._connector} sent {what}, more than {self._limits.bad_lines} times.")

    def _break(self, message: str) -> None:
        if self._fault is None and self._child is not None:
            self._fault = ConnectorProtocolError(message, connector=self._connector)
            self._child.hang_up()


def _line(message: Mapping[str, Any]) -> bytes:
    try:
        return orjson.dumps(message, option=orjson.OPT_APPEND_NEWLINE)
    except TypeError:
        # Numbers of more than 64 bits, and halves of characters.
        return json.dumps(message, separators=(",", ":")).encode() + b"\n"


def encode(message: JSONRPCMessage) -> bytes:
    return message.model_dump_json(by_alias=True, exclude_unset=True).encode() + b"\n"


class _Stream:
    def __init__(self, transport: StdioTransport, child: ChildProcess) -> None:
        self._transport = transport
        self._child = child

    async def aclose(self) -> None:
        """Nothing to do: the pipes close with the transport."""

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()


class _Incoming(_Stream):
    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> SessionMessage | Exception:
        child, read = self._child, self._transport.read
        while True:
            line = child.take()
            if line is not None:
                if (message := read(line)) is not None:
                    return SessionMessage(message)
            elif not await child.wait():
                raise StopAsyncIteration

    async def receive(self) -> SessionMessage | Exception:
        try:
            return await self.__anext__()
        except StopAsyncIteration:
            raise anyio.EndOfStream from None


class _Outgoing(_Stream):
    async def send(self, item: SessionMessage, /) -> None:
        message, child = item.message, self._child
        if not child.can_write:
            raise anyio.BrokenResourceError
        if isinstance(message, JSONRPCRequest):
            self._transport.note_request(message)
            child.write(encode(message))
            await child.written()
        else:
            # Not waited for: a caller who gives up must not be held by a server that does not listen.
            child.write(encode(message))
