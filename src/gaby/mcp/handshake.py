"""From a launch to a live connection and back: the start of a server, the handshake, and the end.

This module loads the MCP SDK.
"""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

from mcp.client import Client
from mcp.client.streamable_http import streamable_http_client
from mcp_types import Implementation

from gaby import __version__
from gaby.mcp.connection import ServerConnection
from gaby.mcp.errors import (
    ConnectorAuthExpired,
    ConnectorCrashed,
    ConnectorError,
    ConnectorStartFailed,
    ConnectorStartTimedOut,
)
from gaby.mcp.http import TRACE, RequestTrace, http_client
from gaby.mcp.launch import HttpLaunch, InProcessLaunch, Launch, StdioLaunch
from gaby.mcp.limits import HostLimits

_CLIENT = Implementation(name="gaby", version=__version__)


@asynccontextmanager
async def open_link(link: ServerConnection, launch: Launch, limits: HostLimits) -> AsyncGenerator[ServerConnection]:
    """Start the server, shake hands and learn its tools; at the end, stop it. All in the task that enters.

    A failure to start is raised as the `ConnectorError` that explains it.
    """
    trace = RequestTrace()
    token = TRACE.set(trace)
    started, failed = False, None
    try:
        async with AsyncExitStack() as stack:
            # Caught before the connection is taken down, which would cover the reason with its own consequences.
            try:
                async with asyncio.timeout(limits.start_timeout):
                    await _complete_handshake(stack, link, launch, limits)
                started = True
                async with _listening(link):
                    yield link
            except ConnectorError as error:
                failed = error
                failed.connector = failed.connector or link.connector
                link.end(failed)
    except (Exception, BaseExceptionGroup) as error:
        if not started:
            raise _start_failure(link, error, trace, limits) from error
        link.end(ConnectorCrashed(f"{link.connector} failed: {link.explain(error)}", connector=link.connector))
    finally:
        link.end(None)
        link.closed.set()
        TRACE.reset(token)
    if failed is not None:
        raise failed


async def _complete_handshake(
    stack: AsyncExitStack, link: ServerConnection, launch: Launch, limits: HostLimits
) -> None:
    transport = await _transport(stack, link, launch, limits)
    client = Client(transport, cache=None, message_handler=link.hear, client_info=_CLIENT)
    link.attach(await stack.enter_async_context(client))
    await link.list_tools()


@asynccontextmanager
async def _listening(link: ServerConnection) -> AsyncGenerator[None]:
    task = asyncio.create_task(link.listen(), name=f"listen to {link.connector}")
    try:
        yield
    finally:
        task.cancel()
        await asyncio.wait([task])


async def _transport(stack: AsyncExitStack, link: ServerConnection, launch: Launch, limits: HostLimits) -> Any:
    match launch:
        case StdioLaunch():
            return link.stdio
        case HttpLaunch():
            client = await stack.enter_async_context(http_client(launch, limits))
            return streamable_http_client(launch.url, http_client=client, max_sse_event_size=limits.biggest_message)
        case InProcessLaunch():
            return launch.make_server()


def _start_failure(
    link: ServerConnection, error: BaseException, trace: RequestTrace, limits: HostLimits
) -> ConnectorError:
    name = link.connector
    if trace.status == 401:
        message = f"{name} refused the credentials (401). Connect it again."
        return ConnectorAuthExpired(message, connector=name)
    if link.stdio is not None and not isinstance(error, TimeoutError):
        failure = link.stdio.failure()
        return ConnectorStartFailed(f"{name} did not start: {failure.message}", connector=name)
    if isinstance(error, TimeoutError):
        words = link.stdio.tail.last() if link.stdio else ""
        suffix = f" It said: {words}" if words else ""
        message = f"{name} was not ready within {limits.start_timeout:g} seconds.{suffix}"
        return ConnectorStartTimedOut(message, connector=name)
    why = f"the connection failed ({trace.lost})" if trace.lost else f"HTTP {trace.status}" if trace.status else ""
    return ConnectorStartFailed(f"{name} did not start: {why or link.explain(error)}.", connector=name)
