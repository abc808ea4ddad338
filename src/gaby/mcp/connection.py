"""A live connection to one server: the handshake, its tools, and one question at a time per caller.

This module loads the MCP SDK; whoever needs it loads it late.
"""

import asyncio
from collections.abc import Mapping
from typing import Any, cast

from mcp.client import Client
from mcp.client.session import ClientSession, IncomingMessage
from mcp.client.subscriptions import ListenNotSupportedError, SubscriptionLost
from mcp.shared.exceptions import MCPError
from mcp_types import (
    CONNECTION_CLOSED,
    HEADER_MISMATCH,
    CallToolRequest,
    CallToolRequestParams,
    CallToolResult,
    InputRequiredResult,
    PaginatedRequestParams,
    ToolListChangedNotification,
)
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from pydantic import TypeAdapter, ValidationError

from gaby.mcp.content import text_of
from gaby.mcp.definitions import MAX_TOOLS, ServerDefinitions, read_definitions
from gaby.mcp.errors import (
    ConnectorAuthExpired,
    ConnectorCrashed,
    ConnectorError,
    ConnectorProtocolError,
    ConnectorTimedOut,
    DefinitionsRefused,
    ResultTooLarge,
)
from gaby.mcp.http import TRACE, RequestTrace
from gaby.mcp.launch import HttpLaunch, Launch, StdioLaunch, hide, secrets_of
from gaby.mcp.limits import HostLimits
from gaby.mcp.pending_requests import UnreadableAnswer
from gaby.mcp.results import ConnectionLost, RawToolResult, refused_by_status
from gaby.mcp.schemas import compiled
from gaby.mcp.stdio import StdioTransport

_RESULT: TypeAdapter[CallToolResult | InputRequiredResult] = TypeAdapter(CallToolResult | InputRequiredResult)

_MAX_PAGES = 64
_FROM_SDK = "Server returned an error response"
"""What the SDK says when an HTTP status came without a message of the protocol."""


class ServerConnection:
    def __init__(self, connector: str, launch: Launch, limits: HostLimits) -> None:
        self.connector = connector
        self.definitions: ServerDefinitions | None = None
        self.in_flight = 0
        self.quiet = asyncio.Event()
        """Set while no call is under way."""
        self.quiet.set()
        self.stirred = asyncio.Event()
        """Set when the owner has to look: the connection ended, or the tools changed."""
        self.ended = False
        self.closed = asyncio.Event()
        """Set when nothing of it is left."""
        self.failure: ConnectorError | None = None
        self.tools_changed = False
        self.stdio = StdioTransport(launch, limits, connector) if isinstance(launch, StdioLaunch) else None
        self._is_http = isinstance(launch, HttpLaunch)
        self._secrets = secrets_of(launch)
        self._limits = limits
        self._client: Client | None = None
        self._validators: dict[str, Any] = {}
        if self.stdio is not None:
            self.stdio.on_end = self._ended_by_itself

    @property
    def usable(self) -> bool:
        return not self.ended and self._client is not None

    @property
    def _session(self) -> ClientSession:
        if self._client is None:
            raise ConnectionLost(ConnectorCrashed(connector=self.connector), sent=False)
        return self._client.session

    def end(self, failure: ConnectorError | None, *, grace: float | None = None) -> None:
        """Tell the owner to close this connection: because of a failure, or since it is not needed."""
        if not self.ended:
            self.ended, self.failure = True, failure
            if self.stdio is not None:
                # One that let a deadline pass does not listen; no need to ask it first.
                self.stdio.hurry = isinstance(failure, ConnectorTimedOut)
                self.stdio.grace = self._limits.drain if grace is None else grace
            self.stirred.set()

    async def ask(self, tool: str, arguments: Mapping[str, Any]) -> RawToolResult:
        """Raises `ConnectionLost` when no answer came, a `ConnectorError` when one came that is not acceptable."""
        if not self.usable:
            raise ConnectionLost(self.failure or ConnectorCrashed(connector=self.connector), sent=False)
        trace = RequestTrace()
        token = TRACE.set(trace) if self._is_http else None
        try:
            result = await self._call(tool, dict(arguments))
        except MCPError as error:
            return self._judge(error, trace)
        except UnreadableAnswer:
            raise self._protocol_error("sent an answer that is no JSON, or is nested too deeply") from None
        except ValidationError as error:
            raise self._protocol_error(f"sent a result that is none: {error.error_count()} faults") from None
        finally:
            if token is not None:
                TRACE.reset(token)
        if isinstance(result, InputRequiredResult):
            raise self._protocol_error("asks Gaby to answer questions, which no connector may")
        self._check_structure(tool, result)
        return RawToolResult(text_of(result.content), result.structured_content, result.is_error, result.meta or {})

    async def _call(self, tool: str, arguments: dict[str, Any]) -> CallToolResult | InputRequiredResult:
        if self.stdio is not None:
            answer = await self.stdio.ask("tools/call", {"name": tool, "arguments": arguments})
            return _RESULT.validate_python(answer, by_name=False)
        request = CallToolRequest(params=CallToolRequestParams(name=tool, arguments=arguments))
        # Not `call_tool`, which checks results with a slower validator and may list the tools in between.
        return await self._session.send_request(request, _RESULT)

    async def ping(self) -> None:
        session, version = self._session, self._session.protocol_version
        trace = RequestTrace()
        token = TRACE.set(trace)
        try:
            async with asyncio.timeout(self._limits.ping_timeout):
                if version in MODERN_PROTOCOL_VERSIONS:
                    await session.send_discover(version or "")
                else:
                    await session.send_ping()
        except TimeoutError:
            raise ConnectorTimedOut(f"{self.connector} does not answer.", connector=self.connector) from None
        except MCPError as error:
            # An error in the words of the protocol is a sign of life too.
            if trace.lost or trace.status == 401 or error.message == _FROM_SDK or self._session_is_gone(trace):
                self._judge(error, trace)
        finally:
            TRACE.reset(token)

    async def list_tools(self) -> None:
        """Learn the tools: all pages, read with suspicion."""
        try:
            await self._list_tools(self._session)
        except DefinitionsRefused as error:
            raise DefinitionsRefused(f"{self.connector}: {error.message}", connector=self.connector) from None

    async def _list_tools(self, session: ClientSession) -> None:
        tools: list[dict[str, Any]] = []
        cursor: str | None = None
        self.tools_changed = False
        for _ in range(_MAX_PAGES):
            try:
                page = await session.list_tools(params=PaginatedRequestParams(cursor=cursor))
            except ValidationError as error:
                where = ".".join(str(part) for part in error.errors()[0]["loc"])
                raise DefinitionsRefused(f"The list of tools does not follow the protocol, at {where}.") from None
            except MCPError as error:
                refusal = self._judge(error, TRACE.get() or RequestTrace())
                raise self._protocol_error(f"does not list its tools: {refusal.text}") from None
            tools.extend(tool.model_dump(by_alias=True, mode="json", exclude_none=True) for tool in page.tools)
            cursor = page.next_cursor
            if cursor is None or len(tools) > MAX_TOOLS:
                break
        else:
            raise DefinitionsRefused(f"The list of tools has more than {_MAX_PAGES} pages.")
        info, capabilities = session.server_info, session.server_capabilities
        self.definitions = read_definitions(
            tools,
            server_name=info.name if info else "",
            server_version=info.version if info else "",
            experimental=capabilities.experimental if capabilities else None,
        )
        self._validators.clear()

    async def hear(self, message: IncomingMessage) -> None:
        if isinstance(message, ToolListChangedNotification):
            self.note_change()

    def note_change(self) -> None:
        self.tools_changed = True
        self.stirred.set()

    async def listen(self) -> None:
        """With the newer protocol, servers tell of changes only to those who ask to be told."""
        if self._client is None or self._session.protocol_version not in MODERN_PROTOCOL_VERSIONS:
            return
        capabilities = self._session.server_capabilities
        if capabilities is None or capabilities.tools is None or not capabilities.tools.list_changed:
            return
        try:
            async with self._client.listen(tools_list_changed=True) as changes:
                async for _ in changes:
                    self.note_change()
        except (MCPError, ListenNotSupportedError, SubscriptionLost, TimeoutError):
            return

    def attach(self, client: Client) -> None:
        self._client = client

    def explain(self, error: BaseException) -> str:
        """What the SDK says went wrong, safe to show."""
        if isinstance(error, BaseExceptionGroup):
            return self.explain(cast("BaseExceptionGroup[BaseException]", error).exceptions[0])
        return hide(f"{type(error).__name__}: {error}", self._secrets)[:500]

    def _ended_by_itself(self) -> None:
        if self.stdio is not None:
            self.end(self.stdio.failure())

    def _judge(self, error: MCPError, trace: RequestTrace) -> RawToolResult:
        """An error in place of a result: a refusal in words, or a sign that the connection is gone."""
        name = self.connector
        if trace.status == 401:
            raise ConnectorAuthExpired(f"{name} refused the credentials (401). Connect it again.", connector=name)
        if trace.too_large or (self._is_http and "SSE" in error.message and "exceed" in error.message):
            size = self._limits.biggest_message
            raise ResultTooLarge(f"{name} sent an answer of more than {size} bytes. Ask for less.", connector=name)
        if trace.lost:
            gone = ConnectorCrashed(f"The connection to {name} was lost: {trace.lost}.", connector=name)
            if trace.not_sent:
                self.end(gone)
            raise ConnectionLost(gone, sent=not trace.not_sent)
        if self._session_is_gone(trace):
            gone = ConnectorCrashed(f"{name} has forgotten the session; it was started anew.", connector=name)
            self.end(gone)
            raise ConnectionLost(gone, sent=False)
        if self._is_http and error.message == _FROM_SDK and (trace.status or 0) >= 500:
            raise ConnectionLost(
                ConnectorCrashed(f"{name} answered with HTTP {trace.status}.", connector=name), sent=True
            )
        if error.code == CONNECTION_CLOSED and (self._is_http or not self.usable or self._stdio_ended()):
            raise ConnectionLost(self.failure or ConnectorCrashed(connector=name), sent=True)
        if error.code == HEADER_MISMATCH:
            self.note_change()
        if error.message == _FROM_SDK and trace.status is not None:
            return refused_by_status(trace.status, trace.retry_after)
        return RawToolResult(hide(error.message, self._secrets), None, is_error=True, meta={})

    def _session_is_gone(self, trace: RequestTrace) -> bool:
        """In the older protocol, 404 says that the server does not know the session. It did nothing then."""
        return trace.status == 404 and self._session.protocol_version not in MODERN_PROTOCOL_VERSIONS

    def _stdio_ended(self) -> bool:
        return self.stdio is not None and self.stdio.ended

    def _check_structure(self, tool: str, result: CallToolResult) -> None:
        definition = self.definitions.by_name.get(tool) if self.definitions else None
        if result.is_error or definition is None or definition.output_schema is None:
            return
        validator = self._validators.get(tool)
        if validator is None:
            validator = self._validators[tool] = compiled(definition.output_schema)
        if "structured_content" not in result.model_fields_set:
            raise self._protocol_error(f"promises a structured result for {tool} and sent none")
        if not validator.is_valid(result.structured_content):
            raise self._protocol_error(f"sent a result of {tool} that is not as its schema says")

    def _protocol_error(self, what: str) -> ConnectorProtocolError:
        return ConnectorProtocolError(f"{self.connector} {what}.", connector=self.connector)
