"""What the tests of the host share: workspaces, servers to launch, and waiting for something to become true."""

import asyncio
import os
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any
from uuid import UUID

import psutil
import pytest

from gaby.kernel.ids import WorkspaceId
from gaby.mcp import HostLimits, McpHost, OutcomeUnknown, ServerKey, ServerState, StdioLaunch, ToolCallResult
from gaby.mcp.calls import call

ACME = WorkspaceId(UUID("00000000-0000-7000-8000-00000000acee"))
BYTE = WorkspaceId(UUID("00000000-0000-7000-8000-00000000b17e"))
KEY = ServerKey(ACME, "nasty")
GOOD = ServerKey(ACME, "good")
ROOT = Path(__file__).parents[2]

QUICK = HostLimits(backoff_base=0.01, drain=3, farewell=0.2, start_timeout=20)


def with_limits(**changes: Any) -> pytest.MarkDecorator:
    """For a test whose host has other limits."""
    return pytest.mark.parametrize("limits", [replace(QUICK, **changes)], ids=["limited"])


def nasty(*args: str, env: dict[str, str] | None = None) -> StdioLaunch:
    return StdioLaunch(sys.executable, (str(ROOT / "tests/mcp/servers/nasty.py"), *args), env or {})


def good(env: dict[str, str] | None = None) -> StdioLaunch:
    return StdioLaunch(sys.executable, ("-m", "tests.mcp.servers.good"), env or {}, cwd=ROOT)


async def ask(
    host: McpHost, tool: str, *, key: ServerKey = KEY, repeatable: bool = True, deadline: float = 30, **arguments: Any
) -> ToolCallResult:
    """Call a tool that answers."""
    outcome = await call(host, key, tool, arguments, repeatable=repeatable, deadline=deadline)
    assert isinstance(outcome, ToolCallResult)
    return outcome


async def attempt(host: McpHost, tool: str, *, deadline: float = 30, **arguments: Any) -> OutcomeUnknown:
    """Call a tool once, with an end that nobody knows."""
    outcome = await call(host, KEY, tool, arguments, repeatable=False, deadline=deadline)
    assert isinstance(outcome, OutcomeUnknown)
    return outcome


async def until(condition: Callable[[], bool], seconds: float = 20) -> None:
    give_up = asyncio.get_running_loop().time() + seconds
    while not condition():
        assert asyncio.get_running_loop().time() < give_up, "it did not become true in time"
        await asyncio.sleep(0.01)


async def until_state(host: McpHost, state: ServerState, key: ServerKey = KEY) -> None:
    await until(lambda: host.status(key).state is state)


def path(host: McpHost, key: ServerKey = KEY) -> list[ServerState]:
    """The states it went through."""
    return [move.after for move in host.status(key).history]


def is_running(pid: int) -> bool:
    try:
        os.kill(pid, 0)
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except (ProcessLookupError, psutil.NoSuchProcess):
        return False
