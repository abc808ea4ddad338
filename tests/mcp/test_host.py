"""The host: one server per connector and workspace, secrets that stay secret, tools that are seen when they change."""

import asyncio
import os
import subprocess
import sys

import pytest

from gaby.kernel.metrics import Metrics
from gaby.mcp import (
    ConnectorAuthExpired,
    ConnectorError,
    ConnectorStartFailed,
    DefinitionsRefused,
    HttpLaunch,
    InProcessLaunch,
    McpHost,
    ServerDefinitions,
    ServerKey,
    ServerState,
    StdioLaunch,
)
from gaby.mcp import errors as every_error
from gaby_connectors.sdk.manifest import ErrorKind
from tests.mcp.scenes import ACME, BYTE, GOOD, KEY, ROOT, ask, good, nasty, path, until, until_state
from tests.mcp.servers import changing
from tests.mcp.servers.good import make_server

SECRET = "s3cr3t-of-acme"


@pytest.mark.promise("M1")
async def test_two_workspaces_never_share_a_process(host: McpHost) -> None:
    keys = [ServerKey(ACME, "good"), ServerKey(BYTE, "good"), ServerKey(ACME, "other")]
    for key in keys:
        await host.configure(key, good())
    pids = [(await ask(host, "whoami", key=key)).text for key in keys]
    assert len(set(pids)) == 3
    # And each call of one workspace reaches the same process again.
    assert [(await ask(host, "whoami", key=key)).text for key in keys] == pids


@pytest.mark.promise("M1")
async def test_a_server_inside_of_gaby_is_used_like_any_other(host: McpHost) -> None:
    key = ServerKey(ACME, "inside")
    await host.configure(key, InProcessLaunch(make_server))
    assert (await ask(host, "add", key=key, a=20, b=22)).structured == {"sum": 42}
    assert (await ask(host, "whoami", key=key)).text == str(os.getpid())
    await asyncio.gather(*(ask(host, "echo", key=key, text="x") for _ in range(20)))
    assert host.status(key).state is ServerState.READY
    with pytest.raises(ConnectorError, match="did not answer wait in time"):
        await ask(host, "wait", key=key, seconds=60, deadline=0.2)
    assert (await ask(host, "echo", key=key, text="back")).text == "back"


@pytest.mark.promise("M1")
async def test_fifty_calls_at_one_time_share_one_session(host: McpHost) -> None:
    await host.configure(GOOD, good())
    answers = await asyncio.gather(*(ask(host, "add", key=GOOD, a=number, b=1) for number in range(50)))
    assert [each.structured["sum"] for each in answers] == list(range(1, 51))
    assert ServerState.CRASHED not in path(host, GOOD)


@pytest.mark.promise("M9")
async def test_a_child_gets_its_own_environment_and_not_that_of_gaby(
    host: McpHost, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GABY_MASTER_KEY", "of Gaby alone")
    await host.configure(GOOD, good({"TOKEN": SECRET}))
    environment = (await ask(host, "whoami", key=GOOD)).structured
    assert environment["TOKEN"] == SECRET
    assert environment["PATH"] == os.environ["PATH"]
    assert not [name for name in environment if name.startswith("GABY")]


@pytest.mark.promise("M9")
async def test_secrets_are_in_no_repr_no_error_and_no_log(host: McpHost) -> None:
    launches = [
        StdioLaunch("x", env={"TOKEN": SECRET}),
        HttpLaunch("http://127.0.0.1/mcp", {"Authorization": f"Bearer {SECRET}"}),
    ]
    assert all(SECRET not in repr(launch) for launch in launches)
    await host.configure(KEY, nasty("exits", f"cannot sign in with {SECRET}", env={"TOKEN": SECRET}))
    with pytest.raises(ConnectorStartFailed) as raised:
        await ask(host, "echo")
    told = str(raised.value) + host.logs(KEY) + repr(host.status(KEY)) + repr(host.statuses())
    assert "cannot sign in with" in told
    assert SECRET not in told


@pytest.mark.promise("M3")
async def test_a_change_of_tools_is_seen_and_told(host: McpHost) -> None:
    seen: list[ServerDefinitions] = []

    async def learned(key: ServerKey, definitions: ServerDefinitions) -> None:
        seen.append(definitions)

    host.on_definitions(learned)
    before = await host.definitions(KEY)
    await ask(host, "change_tools")
    await until(lambda: len(seen) == 2)
    after = await host.definitions(KEY)
    assert "added" not in before.by_name
    assert "added" in after.by_name
    assert [each.fingerprint for each in seen] == [before.fingerprint, after.fingerprint]
    await ask(host, "change_tools")
    await until(lambda: len(seen) == 3)
    assert (await host.definitions(KEY)).fingerprint == before.fingerprint
    assert ServerState.CRASHED not in path(host)


@pytest.mark.promise("M3")
@pytest.mark.parametrize("way", ["as a process", "inside"])
async def test_a_change_of_tools_is_told_in_the_newer_protocol_too(host: McpHost, way: str) -> None:
    key = ServerKey(ACME, "changing")
    process = StdioLaunch(sys.executable, ("-m", "tests.mcp.servers.changing"), cwd=ROOT)
    await host.configure(key, process if way == "as a process" else InProcessLaunch(changing.make_server))
    assert set((await host.definitions(key)).by_name) == {"grow"}
    await ask(host, "grow", key=key)
    fingerprint = host.status(key).fingerprint
    await until(lambda: host.status(key).fingerprint != fingerprint)
    assert set((await host.definitions(key)).by_name) == {"grow", "grown"}
    assert (await ask(host, "grown", key=key)).text == "here"


@pytest.mark.promise("S10")
async def test_tools_with_hidden_characters_are_not_accepted(host: McpHost) -> None:
    await host.configure(KEY, nasty("hostile"))
    with pytest.raises(DefinitionsRefused, match=r"nasty: .*invisible character U\+200B"):
        await host.definitions(KEY)
    await until_state(host, ServerState.DEGRADED)


@pytest.mark.promise("S10")
async def test_tools_that_become_hostile_stop_the_server(host: McpHost) -> None:
    await ask(host, "turn_hostile")
    await until_state(host, ServerState.DEGRADED)
    assert "U+200B" in host.status(KEY).reason
    with pytest.raises(ConnectorError, match="U\\+200B"):
        await ask(host, "echo")


@pytest.mark.promise("M9")
async def test_expired_sign_ins_are_recognised(host: McpHost) -> None:
    await host.configure(GOOD, good())
    ours = {"gaby/error": {"kind": "auth_expired", "message": "gone"}}
    with pytest.raises(ConnectorAuthExpired, match="good is no longer signed in"):
        await ask(host, "fail", key=GOOD, text="sorry", meta=ours)
    for text in (
        "HTTP 401",
        "Error: 401 Unauthorized",
        "Request failed with status code 401",
        "Unauthorized",
        "The access token has expired",
        '{"error": "invalid_token"}',
    ):
        with pytest.raises(ConnectorAuthExpired):
            await ask(host, "fail", key=GOOD, text=text)


@pytest.mark.promise("M9")
async def test_what_only_resembles_an_expired_sign_in_is_a_failure_like_others(host: McpHost) -> None:
    await host.configure(GOOD, good())
    denied = {"gaby/error": {"kind": "denied", "message": "401 Unauthorized", "retry_after": 3}}
    answered = await ask(host, "fail", key=GOOD, text="401 Unauthorized", meta=denied)
    assert answered.error is not None
    assert answered.error.kind is ErrorKind.DENIED
    for text in (
        "There are 401 tickets",
        "The customer wrote: your token costs too much and my offer expired",
        "not found" + " " * 400 + "401 Unauthorized",
    ):
        answered = await ask(host, "fail", key=GOOD, text=text)
        assert answered.is_error
        assert answered.error is None
    # And a good result may say what it likes.
    assert (await ask(host, "echo", key=GOOD, text="401 Unauthorized")).text == "401 Unauthorized"


async def test_calls_are_counted(host: McpHost, metrics: Metrics) -> None:
    await host.configure(GOOD, good())
    await ask(host, "echo", key=GOOD)
    await ask(host, "echo", key=GOOD)
    await ask(host, "fail", key=GOOD, text="no")
    await ask(host, "made up by somebody", key=GOOD)
    text = metrics.render()[0].decode()
    for tool, status, count in (("echo", "ok", 2), ("fail", "error", 1), ("?", "error", 1)):
        labels = f'connector="good",status="{status}",tool="{tool}",workspace="{ACME}"'
        assert f"gaby_connector_calls_total{{{labels}}} {count}.0" in text


def test_the_sdk_is_not_loaded_by_those_who_do_not_use_it() -> None:
    code = (
        "import sys, gaby.mcp, gaby.mcp.calls; print([m for m in ('mcp', 'mcp_types', 'httpx2') if m in sys.modules])"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"


def test_every_error_explains_itself() -> None:
    kinds = [each for each in vars(every_error).values() if isinstance(each, type) and issubclass(each, Exception)]
    assert len(kinds) > 15
    for kind in kinds:
        assert str(kind()).endswith(".")
