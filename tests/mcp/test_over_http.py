"""Servers over Streamable HTTP: lost connections, refused credentials, restarts, slow and large answers."""

import asyncio
from collections.abc import AsyncGenerator
from datetime import timedelta

import pytest

from gaby.kernel.clock import ManualClock
from gaby.mcp import (
    ConnectorAuthExpired,
    ConnectorCrashed,
    ConnectorStartFailed,
    ConnectorTimedOut,
    ConnectorUnavailable,
    HttpLaunch,
    McpHost,
    OutcomeUnknown,
    ResultTooLarge,
    ServerKey,
    ServerState,
)
from gaby.mcp.calls import call
from gaby_connectors.sdk.manifest import ErrorKind
from tests.mcp.over_http import Gate, free_port, serving
from tests.mcp.scenes import ACME, ask, path, until_state, with_limits

pytestmark = pytest.mark.promise("M1")

REMOTE = ServerKey(ACME, "remote")


@pytest.fixture
def port() -> int:
    return free_port()


@pytest.fixture(params=["new protocol", "old protocol"])
def gate(request: pytest.FixtureRequest) -> Gate:
    return Gate(legacy=request.param == "old protocol")


@pytest.fixture
async def remote(host: McpHost, gate: Gate, port: int) -> AsyncGenerator[McpHost]:
    async with serving(gate, port) as url:
        await host.configure(REMOTE, HttpLaunch(url))
        yield host
        await host.remove(REMOTE)


async def call_once(host: McpHost, tool: str, *, deadline: float = 20, **arguments: object) -> OutcomeUnknown:
    outcome = await call(host, REMOTE, tool, arguments, repeatable=False, deadline=deadline)
    assert isinstance(outcome, OutcomeUnknown)
    return outcome


async def test_a_remote_server_is_used_like_any_other(remote: McpHost) -> None:
    answers = await asyncio.gather(*(ask(remote, "add", key=REMOTE, a=number, b=1) for number in range(20)))
    assert [each.structured["sum"] for each in answers] == list(range(1, 21))
    assert (await remote.definitions(REMOTE)).server_name == "good"
    assert remote.status(REMOTE).pid is None


async def test_a_large_answer_over_http_goes_to_disk(remote: McpHost) -> None:
    answered = await ask(remote, "big", key=REMOTE, size=2_000_000)
    assert answered.spilled is not None
    assert answered.spilled.size == 2_000_000


async def test_refused_credentials_at_the_start_are_an_expired_sign_in(remote: McpHost, gate: Gate) -> None:
    gate.token = "the right one"
    for _ in range(2):
        with pytest.raises(ConnectorAuthExpired, match=r"remote refused the credentials \(401\)"):
            await ask(remote, "echo", key=REMOTE)
    await until_state(remote, ServerState.DEGRADED, REMOTE)


async def test_refused_credentials_in_the_middle_are_an_expired_sign_in(remote: McpHost, gate: Gate, port: int) -> None:
    await ask(remote, "echo", key=REMOTE)
    gate.token = "the right one"
    with pytest.raises(ConnectorAuthExpired):
        await call(remote, REMOTE, "echo", {}, repeatable=False)
    # New credentials make it a new server.
    headers = {"Authorization": "Bearer the right one"}
    await remote.configure(REMOTE, HttpLaunch(f"http://127.0.0.1:{port}/mcp", headers))
    assert (await ask(remote, "echo", key=REMOTE, text="in again")).text == "in again"


async def test_a_server_that_was_restarted_is_found_again_and_even_a_write_is_done_once(
    host: McpHost, gate: Gate, port: int
) -> None:
    async with serving(gate, port) as url:
        await host.configure(REMOTE, HttpLaunch(url))
        await ask(host, "echo", key=REMOTE)
    async with serving(gate, port):
        # It has forgotten the session, if there was one, so it did nothing yet.
        answered = await ask(host, "echo", key=REMOTE, text="welcome back", repeatable=False)
        assert answered.text == "welcome back"
        await host.remove(REMOTE)


async def test_a_server_that_is_gone_was_not_sent_anything(host: McpHost, gate: Gate, port: int) -> None:
    async with serving(gate, port) as url:
        await host.configure(REMOTE, HttpLaunch(url))
        await ask(host, "echo", key=REMOTE)
    with pytest.raises(ConnectorUnavailable, match="remote"):
        await call(host, REMOTE, "echo", {}, repeatable=False, deadline=20)
    assert ServerState.CRASHED in path(host, REMOTE)
    await host.remove(REMOTE)


async def test_nobody_at_the_address_is_a_start_that_failed(host: McpHost, port: int) -> None:
    await host.configure(REMOTE, HttpLaunch(f"http://127.0.0.1:{port}/mcp"))
    with pytest.raises(ConnectorStartFailed, match=r"remote did not start: the connection failed \(ConnectError\)"):
        await host.definitions(REMOTE)


async def test_a_slow_answer_meets_the_deadline_and_the_next_call_works(remote: McpHost) -> None:
    with pytest.raises(ConnectorTimedOut):
        await ask(remote, "wait", key=REMOTE, seconds=60, deadline=0.5)
    assert (await ask(remote, "echo", key=REMOTE, text="next")).text == "next"
    assert isinstance((await call_once(remote, "wait", seconds=60, deadline=0.5)).cause, ConnectorTimedOut)


async def test_a_failure_of_the_server_is_unknown_for_a_write_and_tried_twice_for_a_read(
    remote: McpHost, gate: Gate
) -> None:
    await ask(remote, "echo", key=REMOTE)
    gate.status, gate.calls = 502, 0
    unknown = await call_once(remote, "echo")
    assert "HTTP 502" in unknown.reason
    assert gate.calls == 1
    with pytest.raises(ConnectorCrashed, match="HTTP 502"):
        await ask(remote, "echo", key=REMOTE)
    assert gate.calls == 3


async def test_a_refusal_by_status_is_an_answer(remote: McpHost, gate: Gate) -> None:
    for status, kind in ((400, ErrorKind.INVALID), (403, ErrorKind.DENIED), (429, ErrorKind.RATE_LIMITED)):
        gate.status = status
        answered = await ask(remote, "echo", key=REMOTE, repeatable=False)
        assert answered.is_error
        assert answered.text == f"HTTP {status}"
        assert answered.error is not None
        assert answered.error.kind is kind
        assert answered.error.retry_after == 7


async def test_an_answer_that_breaks_off_is_unknown(remote: McpHost, gate: Gate) -> None:
    await ask(remote, "echo", key=REMOTE)
    gate.cut_off = True
    unknown = await call_once(remote, "echo")
    assert isinstance(unknown.cause, ConnectorCrashed)
    gate.cut_off = False
    # The session goes on.
    assert (await ask(remote, "echo", key=REMOTE, text="on")).text == "on"
    assert ServerState.CRASHED not in path(remote, REMOTE)


@with_limits(biggest_message=300_000)
@pytest.mark.promise("M7")
async def test_an_answer_that_is_too_large_is_not_read_to_its_end(remote: McpHost, gate: Gate) -> None:
    with pytest.raises(ResultTooLarge):
        await ask(remote, "big", key=REMOTE, size=1_000_000)
    gate.big_answer = 50_000_000
    with pytest.raises(ResultTooLarge):
        await ask(remote, "echo", key=REMOTE)
    gate.big_answer = 0
    assert (await ask(remote, "echo", key=REMOTE, text="fine")).text == "fine"


@pytest.mark.promise("M2")
@with_limits(ping_timeout=0.5, start_timeout=2)
async def test_a_ping_every_thirty_seconds_notices_a_server_that_hangs(
    remote: McpHost, gate: Gate, clock: ManualClock
) -> None:
    await ask(remote, "echo", key=REMOTE)
    clock.advance(timedelta(seconds=30))
    await remote.health_check()
    assert remote.status(REMOTE).state is ServerState.READY
    gate.hang = True
    await remote.health_check()
    assert remote.status(REMOTE).state is ServerState.READY
    clock.advance(timedelta(seconds=30))
    await remote.health_check()
    await until_state(remote, ServerState.TIMEOUT, REMOTE)
    gate.hang = False
    assert (await ask(remote, "echo", key=REMOTE, text="better")).text == "better"


@pytest.mark.promise("M2")
async def test_a_ping_notices_a_server_that_is_gone(host: McpHost, gate: Gate, port: int, clock: ManualClock) -> None:
    async with serving(gate, port) as url:
        await host.configure(REMOTE, HttpLaunch(url))
        await ask(host, "echo", key=REMOTE)
    clock.advance(timedelta(seconds=30))
    await host.health_check()
    await until_state(host, ServerState.DEGRADED, REMOTE)
    await host.remove(REMOTE)
