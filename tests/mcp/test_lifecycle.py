"""The life of a server: started by use, started again after failures, left alone after too many, woken again."""

import asyncio
from datetime import timedelta
from pathlib import Path

import pytest

from gaby.kernel.clock import ManualClock
from gaby.kernel.errors import Conflict
from gaby.kernel.metrics import Metrics
from gaby.mcp import (
    ConnectorCommandNotFound,
    ConnectorCrashed,
    ConnectorDegraded,
    ConnectorShutDown,
    ConnectorStartFailed,
    ConnectorStartTimedOut,
    ConnectorUnavailable,
    ConnectorUnknown,
    HostLimits,
    ImpossibleMove,
    McpHost,
    ServerDefinitions,
    ServerKey,
    ServerState,
    StateChange,
    StdioLaunch,
)
from gaby.mcp.calls import call
from gaby.mcp.failures import RestartBackoff
from gaby.mcp.states import MOVES, ServerLifecycle
from tests.mcp.scenes import (
    ACME,
    GOOD,
    KEY,
    ask,
    attempt,
    good,
    is_running,
    nasty,
    path,
    until,
    until_state,
    with_limits,
)
from tests.support.seeded_random import Dice

pytestmark = pytest.mark.promise("M2")

MINUTE = timedelta(minutes=1)


@pytest.mark.parametrize("before", ServerState)
@pytest.mark.parametrize("after", ServerState)
def test_only_moves_of_the_table_are_made(before: ServerState, after: ServerState, clock: ManualClock) -> None:
    state_changes: list[StateChange] = []
    life = ServerLifecycle(clock, 10, state_changes.append)
    life.state = before
    if after in MOVES[before]:
        life.move(after, "because")
        assert state_changes == [StateChange(clock.now(), before, after, "because")] == list(life.history)
        return
    with pytest.raises(ImpossibleMove, match=f"from {before} to {after}"):
        life.move(after)
    assert life.state is before
    assert not life.history


def test_pauses_grow_with_the_failures_up_to_a_cap_and_are_never_quite_the_same(clock: ManualClock) -> None:
    limits = HostLimits(backoff_base=1, backoff_cap=6, max_failures=9)
    failures = RestartBackoff("crm", clock, Dice("pauses"), limits)
    for longest in (1, 2, 4, 6, 6):
        failures.note(ConnectorCrashed())
        pauses = {failures.pause() for _ in range(20)}
        assert len(pauses) > 15
        assert all(longest / 2 <= pause <= longest for pause in pauses)
    clock.advance(timedelta(minutes=5))
    assert failures.recent == 0


def test_the_history_is_bounded_and_calls_do_not_push_out_what_matters(clock: ManualClock) -> None:
    life = ServerLifecycle(clock, 5, lambda _: None)
    life.move(ServerState.LAUNCHING, "used")
    life.move(ServerState.READY)
    for _ in range(100):
        clock.advance(MINUTE)
        life.move(ServerState.BUSY)
        life.move(ServerState.READY)
    assert [move.after for move in life.history] == [
        ServerState.LAUNCHING,
        ServerState.READY,
        ServerState.BUSY,
        ServerState.READY,
    ]
    assert life.history[-1].at == clock.now()
    for _ in range(10):
        life.move(ServerState.CRASHED)
        life.move(ServerState.RESTARTING)
        life.move(ServerState.READY)
    assert len(life.history) == 5


async def test_a_server_starts_when_it_is_used_and_not_before(host: McpHost) -> None:
    assert host.status(KEY).state is ServerState.CONFIGURED
    assert host.status(KEY).pid is None
    assert (await ask(host, "echo", text="hello")).text == "hello"
    status = host.status(KEY)
    assert status.state is ServerState.READY
    assert status.pid is not None
    assert path(host) == [ServerState.LAUNCHING, ServerState.READY, ServerState.BUSY, ServerState.READY]


async def test_many_first_uses_at_one_time_start_it_once(host: McpHost, tmp_path: Path) -> None:
    starts = tmp_path / "starts"
    await host.configure(KEY, nasty("counts", str(starts)))
    answers = await asyncio.gather(*(ask(host, "echo", text=str(number)) for number in range(50)))
    assert [each.text for each in answers] == [str(number) for number in range(50)]
    assert starts.read_text().splitlines() == ["done"]


async def test_it_is_busy_while_calls_are_under_way(host: McpHost) -> None:
    await host.configure(GOOD, good())
    waiting = [asyncio.create_task(ask(host, "wait", key=GOOD, seconds=0.3)) for _ in range(3)]
    await until(lambda: host.status(GOOD).in_flight == 3)
    assert host.status(GOOD).state is ServerState.BUSY
    await asyncio.gather(*waiting)
    assert host.status(GOOD).state is ServerState.READY
    assert host.status(GOOD).in_flight == 0


async def test_a_caller_who_gives_up_does_not_disturb_the_others(host: McpHost) -> None:
    await host.configure(GOOD, good())
    await ask(host, "echo", key=GOOD)
    pid = host.status(GOOD).pid
    patient = asyncio.create_task(ask(host, "wait", key=GOOD, seconds=0.5))
    hasty = [asyncio.create_task(ask(host, "wait", key=GOOD, seconds=60)) for _ in range(5)]
    await until(lambda: host.status(GOOD).in_flight == 6)
    for task in hasty:
        task.cancel()
    assert all(
        isinstance(each, asyncio.CancelledError) for each in await asyncio.gather(*hasty, return_exceptions=True)
    )
    assert (await patient).text == "waited"
    assert host.status(GOOD).pid == pid
    assert host.status(GOOD).in_flight == 0


async def test_a_caller_who_gives_up_during_the_start_does_not_stop_it(host: McpHost) -> None:
    await host.configure(KEY, nasty("slow", "0.5"))
    hasty = asyncio.create_task(host.definitions(KEY))
    patient = asyncio.create_task(host.definitions(KEY))
    await until_state(host, ServerState.LAUNCHING)
    hasty.cancel()
    assert (await patient).server_name == "nasty"


async def test_a_failing_server_is_started_again_until_it_works(host: McpHost, tmp_path: Path) -> None:
    await host.configure(KEY, nasty("fails_first", str(tmp_path / "starts"), "3"))
    with pytest.raises(ConnectorStartFailed, match="exit code 9"):
        await host.definitions(KEY)
    await until_state(host, ServerState.READY)
    assert path(host).count(ServerState.CRASHED) == 3
    assert path(host)[-2:] == [ServerState.RESTARTING, ServerState.READY]
    assert host.status(KEY).recent_failures == 3


async def test_five_failures_in_five_minutes_and_it_is_left_alone_until_a_use_after_a_while(
    host: McpHost, clock: ManualClock, tmp_path: Path, metrics: Metrics
) -> None:
    starts = tmp_path / "starts"
    await host.configure(KEY, nasty("fails_first", str(starts), "6"))
    with pytest.raises(ConnectorStartFailed):
        await ask(host, "echo")
    await until_state(host, ServerState.DEGRADED)
    assert len(starts.read_text().splitlines()) == 5
    assert b"gaby_connector_health{" in metrics.render()[0]
    assert f'connector="nasty",workspace="{ACME}"}} 0.0'.encode() in metrics.render()[0]

    with pytest.raises(ConnectorDegraded, match=r"nasty is not used for another 60 seconds.*exit code 9"):
        await ask(host, "echo")
    clock.advance(MINUTE)
    # One try, which fails, and it is left alone again.
    with pytest.raises(ConnectorStartFailed):
        await ask(host, "echo")
    await until_state(host, ServerState.DEGRADED)
    assert len(starts.read_text().splitlines()) == 6

    clock.advance(MINUTE)
    assert (await ask(host, "echo", text="well again")).text == "well again"
    assert f'connector="nasty",workspace="{ACME}"}} 1.0'.encode() in metrics.render()[0]


async def test_failures_far_apart_do_not_add_up(host: McpHost, clock: ManualClock) -> None:
    for _ in range(8):
        await attempt(host, "crash_before")
        clock.advance(2 * MINUTE)
    assert (await ask(host, "echo", text="still there")).text == "still there"
    assert ServerState.DEGRADED not in path(host)


async def test_whoever_waits_when_it_is_given_up_is_told(host: McpHost) -> None:
    for _ in range(4):
        await attempt(host, "crash_before")
    with pytest.raises(ConnectorDegraded):
        await ask(host, "crash_before")
    assert host.status(KEY).state is ServerState.DEGRADED


async def test_the_last_words_of_a_server_that_does_not_start_are_in_the_error(host: McpHost) -> None:
    await host.configure(KEY, nasty("exits", "the database password is missing"))
    with pytest.raises(ConnectorStartFailed, match=r"exit code 7.*the database password is missing"):
        await ask(host, "echo")
    assert "password is missing" in host.logs(KEY)


async def test_a_command_that_does_not_exist_is_not_tried_again_by_itself(host: McpHost) -> None:
    await host.configure(KEY, StdioLaunch("no-such-command"))
    with pytest.raises(ConnectorCommandNotFound, match=r"no-such-command: No such file"):
        await ask(host, "echo")
    await until_state(host, ServerState.DEGRADED)
    assert path(host) == [ServerState.LAUNCHING, ServerState.CRASHED, ServerState.DEGRADED]


@with_limits(start_timeout=0.5)
async def test_a_server_that_takes_too_long_to_start_is_a_timeout(host: McpHost) -> None:
    await host.configure(KEY, nasty("slow", "600"))
    with pytest.raises(ConnectorStartTimedOut, match=r"nasty was not ready within 0\.5 seconds"):
        await ask(host, "echo")
    assert path(host)[:2] == [ServerState.LAUNCHING, ServerState.TIMEOUT]


async def test_a_slow_start_that_ends_before_the_deadline_is_waited_for(host: McpHost) -> None:
    await host.configure(KEY, nasty("slow", "1"))
    assert (await ask(host, "echo", text="at last")).text == "at last"


async def test_a_call_whose_deadline_ends_during_the_start_was_not_sent(host: McpHost) -> None:
    await host.configure(KEY, nasty("slow", "600"))
    with pytest.raises(ConnectorUnavailable, match="Nothing was sent"):
        await call(host, KEY, "echo", {}, repeatable=False, deadline=0.2)


async def test_a_server_that_nobody_uses_is_stopped_and_woken_by_use(host: McpHost, clock: ManualClock) -> None:
    await ask(host, "echo")
    pid = host.status(KEY).pid
    assert pid is not None
    clock.advance(timedelta(minutes=14))
    await host.health_check()
    assert host.status(KEY).state is ServerState.READY
    clock.advance(MINUTE)
    await host.health_check()
    assert host.status(KEY).state is ServerState.CONFIGURED
    assert not is_running(pid)
    assert (await ask(host, "echo", text="awake")).text == "awake"
    assert host.status(KEY).pid != pid


@with_limits(drain=0.5, farewell=0.1)
async def test_a_use_while_it_goes_to_sleep_wakes_it(host: McpHost, clock: ManualClock) -> None:
    await host.configure(KEY, nasty("stubborn"))
    await ask(host, "echo")
    clock.advance(timedelta(minutes=15))
    going_to_sleep = asyncio.create_task(host.health_check())
    await until(lambda: host.status(KEY).pid is None)
    assert host.status(KEY).state is ServerState.READY
    assert (await ask(host, "echo", text="not yet")).text == "not yet"
    await going_to_sleep
    assert path(host)[-4:-2] == [ServerState.LAUNCHING, ServerState.READY]


async def test_other_settings_stop_it_and_the_same_do_not(host: McpHost) -> None:
    await ask(host, "echo")
    pid = host.status(KEY).pid
    assert pid is not None
    await host.configure(KEY, nasty())
    assert host.status(KEY).pid == pid
    await host.configure(KEY, nasty(env={"TOKEN": "another"}))
    assert not is_running(pid)
    assert host.status(KEY).state is ServerState.CONFIGURED
    assert (await ask(host, "echo", text="new")).text == "new"


async def test_one_that_was_removed_is_unknown(host: McpHost) -> None:
    await ask(host, "echo")
    await host.remove(KEY)
    with pytest.raises(ConnectorUnknown, match="no connector nasty"):
        await ask(host, "echo")
    with pytest.raises(ConnectorUnknown):
        host.status(ServerKey(ACME, "never heard of"))
    assert host.statuses() == []


async def test_a_shutdown_lets_calls_finish_and_takes_no_new_ones(host: McpHost) -> None:
    await host.configure(GOOD, good())
    under_way = asyncio.create_task(ask(host, "wait", key=GOOD, seconds=0.5))
    await until(lambda: host.status(GOOD).in_flight == 1)
    pid = host.status(GOOD).pid
    assert pid is not None
    closing = asyncio.create_task(host.aclose())
    await asyncio.sleep(0)
    with pytest.raises(ConnectorShutDown):
        await ask(host, "echo", key=GOOD)
    assert (await under_way).text == "waited"
    await closing
    assert not is_running(pid)
    assert {status.state for status in host.statuses()} == {ServerState.SHUTDOWN}
    with pytest.raises(ConnectorShutDown):
        await host.configure(KEY, nasty("other"))


@with_limits(drain=0.3, farewell=0.1)
async def test_a_shutdown_does_not_wait_for_ever(host: McpHost) -> None:
    await ask(host, "echo")
    hanging = asyncio.create_task(call(host, KEY, "hang", {}, repeatable=False, deadline=60))
    await until(lambda: host.status(KEY).in_flight == 1)
    await host.aclose()
    assert "not known" in str(await hanging)
    assert host.status(KEY).state is ServerState.SHUTDOWN


async def test_a_shutdown_during_the_start_ends_the_start(host: McpHost) -> None:
    await host.configure(KEY, nasty("slow", "600"))
    waiting = asyncio.create_task(ask(host, "echo"))
    await until_state(host, ServerState.LAUNCHING)
    await host.aclose()
    with pytest.raises(ConnectorShutDown):
        await waiting
    assert host.status(KEY).state is ServerState.SHUTDOWN


async def test_listeners_hear_every_move_and_see_the_tools_before_they_are_used(host: McpHost) -> None:
    moves: list[tuple[ServerState, ServerState]] = []
    seen: list[str] = []

    async def learned(key: ServerKey, definitions: ServerDefinitions) -> None:
        assert host.status(key).state is ServerState.LAUNCHING
        seen.append(definitions.fingerprint)

    host.on_transition(lambda _key, move: moves.append((move.before, move.after)))
    host.on_definitions(learned)
    await ask(host, "echo")
    assert seen == [host.status(KEY).fingerprint]
    assert moves[:2] == [(ServerState.CONFIGURED, ServerState.LAUNCHING), (ServerState.LAUNCHING, ServerState.READY)]


async def test_a_listener_that_fails_does_no_harm(host: McpHost) -> None:
    def fails(key: ServerKey, move: StateChange) -> None:
        raise RuntimeError("a mistake")

    host.on_transition(fails)
    assert (await ask(host, "echo", text="well")).text == "well"
    assert host.status(KEY).in_flight == 0


async def test_a_call_without_any_time_left_is_not_sent(host: McpHost, tmp_path: Path) -> None:
    await ask(host, "echo")
    effects = tmp_path / "effects"
    with pytest.raises(ConnectorUnavailable, match="no time left"):
        await call(host, KEY, "crash_after", {"file": str(effects)}, repeatable=False, deadline=0)
    assert not effects.exists()


async def test_tools_that_could_not_be_checked_are_not_used(host: McpHost) -> None:
    async def refuses(key: ServerKey, definitions: ServerDefinitions) -> None:
        raise Conflict("the database is busy")

    host.on_definitions(refuses)
    with pytest.raises(ConnectorStartFailed, match="could not be checked: the database is busy"):
        await ask(host, "echo")
