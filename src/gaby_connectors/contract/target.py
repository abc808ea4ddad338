"""What is checked: a command to start, or an address to call, and a session with it."""

import tempfile
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, TextIO

import httpx2
from mcp.client.session import ClientSession, IncomingMessage
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp.types import InitializeResult


@dataclass(frozen=True)
class StdioTarget:
    command: Sequence[str]
    env: Mapping[str, str] = field(default_factory=dict[str, str])

    def __str__(self) -> str:
        return " ".join(self.command)


@dataclass(frozen=True)
class HttpTarget:
    url: str
    headers: Mapping[str, str] = field(default_factory=dict[str, str])

    def __str__(self) -> str:
        return self.url


Target = StdioTarget | HttpTarget


@dataclass
class UnsolicitedOutput:
    """Everything that came from the server beside its answers."""

    stray: list[str] = field(default_factory=list[str])
    stderr: str = ""

    async def note(self, message: IncomingMessage) -> None:
        if isinstance(message, Exception):
            self.stray.append(f"{type(message).__name__}: {message}"[:300])


@asynccontextmanager
async def connected(target: Target, heard: UnsolicitedOutput) -> AsyncGenerator[tuple[ClientSession, InitializeResult]]:
    """A session that has been initialized. What the server says on stderr is kept, up to a megabyte."""
    with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as errors:
        try:
            async with (
                _streams(target, errors) as (reading, writing),
                ClientSession(reading, writing, message_handler=heard.note) as session,
            ):
                yield session, await session.initialize()
        finally:
            errors.seek(0)
            heard.stderr += errors.read(1_000_000)


@asynccontextmanager
async def _streams(target: Target, errors: TextIO) -> AsyncGenerator[Any]:
    if isinstance(target, HttpTarget):
        async with (
            httpx2.AsyncClient(headers=dict(target.headers), timeout=30) as client,
            streamable_http_client(target.url, http_client=client) as streams,
        ):
            yield streams
        return
    parameters = StdioServerParameters(command=target.command[0], args=list(target.command[1:]), env=dict(target.env))
    async with stdio_client(parameters, errors) as streams:
        yield streams
