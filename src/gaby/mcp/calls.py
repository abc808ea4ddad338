"""Calling a tool, with every way that it can go wrong. Only the one path to tools may import this module."""

import asyncio
import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import orjson

from gaby.kernel.errors import GabyError
from gaby.kernel.ids import WorkspaceId
from gaby.mcp.errors import (
    ConnectorAuthExpired,
    ConnectorError,
    ConnectorTimedOut,
    ConnectorUnavailable,
    ResultTooLarge,
    SpillFailed,
)
from gaby.mcp.host import McpHost
from gaby.mcp.launch import ServerKey
from gaby.mcp.registry import server_of
from gaby.mcp.results import (
    ConnectionLost,
    Outcome,
    OutcomeUnknown,
    RawToolResult,
    ToolCallResult,
    auth_expired,
    error_detail,
)
from gaby.mcp.server import ServerSupervisor
from gaby.mcp.spill import preview

if TYPE_CHECKING:
    from gaby.mcp.connection import ServerConnection

__all__ = ["Outcome", "OutcomeUnknown", "ToolCallResult", "call"]


async def call(
    host: McpHost,
    key: ServerKey,
    tool: str,
    arguments: Mapping[str, Any],
    *,
    repeatable: bool,
    deadline: float | None = None,
) -> Outcome:
    """Call a tool and wait for its answer, for `deadline` seconds at most, starts and a second try included.

    `repeatable` says that a second call does no harm: then a connector that fails in the middle is asked once more,
    and what goes wrong is raised. If not, whatever goes wrong after the call was sent is an `OutcomeUnknown`.
    A `GabyError` for such a call therefore means that nothing was done.
    """
    server = server_of(host, key)
    ends_at = asyncio.get_running_loop().time() + (host.limits.call_deadline if deadline is None else deadline)
    status = "cancelled"
    try:
        reply = await _reply(server, tool, arguments, ends_at, repeatable=repeatable)
        status = "unknown" if isinstance(reply, OutcomeUnknown) else "error" if reply.is_error else "ok"
    except GabyError as error:
        status = error.code
        raise
    finally:
        known = server.definitions is not None and tool in server.definitions.by_name
        labels = (str(key.workspace_id), key.connector, tool if known else "?", status)
        host.metrics.connector_calls.labels(*labels).inc()
    if isinstance(reply, OutcomeUnknown):
        return reply
    return await _answered(host, key.workspace_id, reply)


async def _reply(
    server: ServerSupervisor, tool: str, arguments: Mapping[str, Any], ends_at: float, *, repeatable: bool
) -> RawToolResult | OutcomeUnknown:
    name = server.key.connector
    try:
        try:
            return await _attempt(server, tool, arguments, ends_at)
        except ConnectionLost as lost:
            # What was never sent may be sent again, whatever it does. What was too large would be so again.
            if lost.sent and (not repeatable or isinstance(lost.cause, ResultTooLarge)):
                raise
            return await _attempt(server, tool, arguments, ends_at)
    except ConnectionLost as lost:
        if not lost.sent:
            message = f"{name} cannot be reached: {lost.cause.message} Nothing was sent to it."
            raise ConnectorUnavailable(message, connector=name) from lost
        cause = lost.cause
    except _ProtocolViolation as error:
        cause = error.cause
    if repeatable:
        raise cause
    return OutcomeUnknown(f"It is not known whether {tool} of {name} was done: {cause.message}", cause)


async def _attempt(server: ServerSupervisor, tool: str, arguments: Mapping[str, Any], ends_at: float) -> RawToolResult:
    name = server.key.connector
    if asyncio.get_running_loop().time() >= ends_at:
        raise ConnectorUnavailable(f"There was no time left to ask {name}.", connector=name)
    link = server.live_link() or await _started(server, ends_at)
    server.begin(link)
    try:
        async with asyncio.timeout_at(ends_at):
            reply = await link.ask(tool, arguments)
    except TimeoutError:
        late = ConnectorTimedOut(f"{name} did not answer {tool} in time and was stopped.", connector=name)
        link.end(late)
        raise _ProtocolViolation(late) from None
    except ConnectorAuthExpired:
        raise
    except ConnectorError as error:
        raise _ProtocolViolation(error) from error
    finally:
        server.finish(link)
    if auth_expired(reply):
        message = f"{name} is no longer signed in: {reply.text[:200]}. An admin must connect it again."
        raise ConnectorAuthExpired(message, connector=name)
    return reply


async def _started(server: ServerSupervisor, ends_at: float) -> "ServerConnection":
    name = server.key.connector
    try:
        async with asyncio.timeout_at(ends_at):
            return await server.link()
    except TimeoutError:
        message = f"{name} was not ready before the deadline of the call. Nothing was sent to it."
        raise ConnectorUnavailable(message, connector=name) from None


class _ProtocolViolation(Exception):
    """It was sent, and what came back, if anything, is of no use."""

    def __init__(self, cause: ConnectorError) -> None:
        super().__init__(cause.message)
        self.cause = cause


async def _answered(host: McpHost, workspace_id: WorkspaceId, reply: RawToolResult) -> ToolCallResult:
    encoded = b"" if reply.structured is None else _json(reply.structured)
    size = len(reply.text.encode("utf-8", "replace")) + len(encoded)
    detail = error_detail(reply)
    if size <= host.limits.spill_above:
        return ToolCallResult(reply.text, reply.structured, reply.is_error, detail, size)
    whole = _whole_text(reply, encoded)
    pointer, failed = None, None
    try:
        if host.spill is None:
            raise SpillFailed
        pointer = await host.spill.store(workspace_id, whole)
    except SpillFailed as error:
        failed = error
    head, tail = preview(whole, host.limits.preview)
    text = f"{head}\n[... {size} bytes in all; the middle is left out ...]\n{tail}"
    return ToolCallResult(text, None, reply.is_error, detail, size, pointer, failed)


def _json(value: Any) -> bytes:
    try:
        return orjson.dumps(value)
    except TypeError:
        # Numbers of more than 64 bits.
        return json.dumps(value, separators=(",", ":")).encode()


def _whole_text(reply: RawToolResult, encoded: bytes) -> str:
    """The text, and after it the structured part unless the text is just that."""
    if not encoded:
        return reply.text
    try:
        if orjson.loads(reply.text) == reply.structured:
            return reply.text
    except orjson.JSONDecodeError:
        pass
    return f"{reply.text}\n{encoded.decode()}" if reply.text else encoded.decode()
