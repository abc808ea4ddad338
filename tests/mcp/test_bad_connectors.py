"""Bad connectors: whatever they do, the caller gets an answer or a typed error, and memory stays bounded."""

import asyncio
import json
from pathlib import Path

import psutil
import pytest

from gaby.mcp import (
    ConnectorCrashed,
    ConnectorProtocolError,
    ConnectorTimedOut,
    McpHost,
    ResultTooLarge,
    ServerState,
)
from gaby.mcp.calls import call
from tests.mcp.scenes import KEY, ask, attempt, is_running, path, until, until_state, with_limits

pytestmark = pytest.mark.promise("M7")


async def test_a_crash_in_the_middle_of_a_repeatable_call_is_tried_once_more(host: McpHost, tmp_path: Path) -> None:
    effects = tmp_path / "effects"
    answered = await ask(host, "crash_once", file=str(effects))
    assert answered.text == "the second time"
    assert effects.read_text().splitlines() == ["done", "done"]
    assert ServerState.CRASHED in path(host)


async def test_a_crash_after_the_effect_is_unknown_and_never_repeated(host: McpHost, tmp_path: Path) -> None:
    effects = tmp_path / "effects"
    unknown = await attempt(host, "crash_after", file=str(effects))
    assert "not known" in unknown.reason
    assert isinstance(unknown.cause, ConnectorCrashed)
    assert effects.read_text().splitlines() == ["done"]
    # And it is back.
    assert (await ask(host, "echo", text="again")).text == "again"


async def test_a_crash_before_the_effect_is_unknown_too(host: McpHost) -> None:
    unknown = await attempt(host, "crash_before")
    assert "nasty" in unknown.reason
    await until(lambda: any("about to crash" in move.reason for move in host.status(KEY).history))


async def test_a_repeatable_call_that_always_crashes_is_tried_twice_and_no_more(host: McpHost, tmp_path: Path) -> None:
    effects = tmp_path / "effects"
    with pytest.raises(ConnectorCrashed, match="nasty"):
        await ask(host, "crash_after", file=str(effects))
    assert effects.read_text().splitlines() == ["done", "done"]


async def test_a_hanging_call_meets_its_deadline_and_its_process_is_gone(host: McpHost, tmp_path: Path) -> None:
    await ask(host, "echo")
    pid = host.status(KEY).pid
    assert pid is not None
    effects = tmp_path / "effects"
    unknown = await attempt(host, "hang", deadline=0.5, file=str(effects))
    assert isinstance(unknown.cause, ConnectorTimedOut)
    await until(lambda: not is_running(pid))
    assert path(host)[2:5] == [ServerState.BUSY, ServerState.TIMEOUT, ServerState.RESTARTING]
    assert effects.read_text().splitlines() == ["done"]
    assert (await ask(host, "echo", text="back")).text == "back"


async def test_a_hanging_repeatable_call_is_a_timeout_and_not_tried_again(host: McpHost, tmp_path: Path) -> None:
    effects = tmp_path / "effects"
    with pytest.raises(ConnectorTimedOut, match="nasty did not answer hang"):
        await ask(host, "hang", deadline=1.5, file=str(effects))
    assert effects.read_text().splitlines() == ["done"]


@with_limits(drain=0.5, farewell=0.1)
async def test_a_process_that_ignores_sigterm_is_killed(host: McpHost, tmp_path: Path) -> None:
    await ask(host, "echo")
    pid = host.status(KEY).pid
    assert pid is not None
    await attempt(host, "deaf", deadline=0.5)
    await until(lambda: not is_running(pid))
    assert (await ask(host, "echo", text="back")).text == "back"


@with_limits(drain=0.5, farewell=0.1)
async def test_the_children_of_a_server_go_with_it(host: McpHost) -> None:
    family = json.loads((await ask(host, "children")).text)
    assert len(family) == 3
    assert all(is_running(pid) for pid in family)
    await host.remove(KEY)
    await until(lambda: not any(is_running(pid) for pid in family))


async def test_the_children_of_a_server_that_crashed_go_too(host: McpHost) -> None:
    family = json.loads((await ask(host, "children")).text)
    await attempt(host, "crash_before")
    await until(lambda: not any(is_running(pid) for pid in family))


async def test_bytes_that_drip_without_an_end_meet_the_deadline(host: McpHost) -> None:
    with pytest.raises(ConnectorTimedOut):
        await ask(host, "drip", deadline=1)


async def test_ten_megabytes_arrive_on_disk_with_their_beginning_and_end(host: McpHost) -> None:
    answered = await ask(host, "large", size=10_000_000)
    assert answered.size == 10_000_000
    assert answered.spilled is not None
    assert answered.spilled.pages == -(-10_000_000 // 65_536)
    assert len(answered.text) < 20_000


@pytest.mark.slow
async def test_a_line_of_200_megabytes_ends_the_connection_and_memory_stays_bounded(host: McpHost) -> None:
    await ask(host, "echo")
    before = psutil.Process().memory_info().rss
    highest = before

    async def watch() -> None:
        nonlocal highest
        while True:
            highest = max(highest, psutil.Process().memory_info().rss)
            await asyncio.sleep(0.005)

    watching = asyncio.create_task(watch())
    with pytest.raises(ResultTooLarge, match="nasty sent a message of more than 16000000 bytes"):
        await ask(host, "endless", megabytes=200)
    watching.cancel()
    assert highest - before < 80_000_000
    assert (await ask(host, "echo", text="back")).text == "back"


@with_limits(biggest_message=100_000)
async def test_a_result_that_is_too_large_leaves_a_write_unknown(host: McpHost) -> None:
    unknown = await attempt(host, "large", size=200_000)
    assert isinstance(unknown.cause, ResultTooLarge)


async def test_a_few_lines_that_are_no_messages_are_forgiven_and_counted(host: McpHost) -> None:
    assert (await ask(host, "bad_lines", count=5)).text == "sorry"
    assert host.status(KEY).bad_lines == 5


async def test_a_flood_of_lines_that_are_no_messages_ends_the_connection(host: McpHost) -> None:
    unknown = await attempt(host, "bad_lines", count=500)
    assert isinstance(unknown.cause, ConnectorProtocolError)
    assert "lines that are no messages" in unknown.reason


async def test_an_answer_to_a_question_that_was_never_asked_ends_the_connection(host: McpHost) -> None:
    unknown = await attempt(host, "wrong_id")
    assert isinstance(unknown.cause, ConnectorProtocolError)
    assert "never asked" in unknown.reason


async def test_of_two_answers_the_first_counts(host: McpHost) -> None:
    assert (await ask(host, "twice")).text == "first"
    assert (await ask(host, "echo", text="next")).text == "next"
    assert host.status(KEY).bad_lines == 1


async def test_a_flood_on_stderr_is_kept_short_and_clean(host: McpHost) -> None:
    assert (await ask(host, "stderr_flood")).text == "flooded"
    await until(lambda: "line 19999" in host.logs(KEY))
    log = host.logs(KEY)
    assert len(log) < 100_000
    assert "\x1b" not in log
    assert "line 1 " not in log


async def test_a_result_that_is_not_as_its_schema_says_is_refused(host: McpHost) -> None:
    with pytest.raises(ConnectorProtocolError, match="not as its schema says"):
        await ask(host, "lies")
    with pytest.raises(ConnectorProtocolError, match="promises a structured result"):
        await ask(host, "promises")
    with pytest.raises(ConnectorProtocolError, match="a result that is none"):
        await ask(host, "nothing")
    # Nothing of this is a reason to start it again.
    assert ServerState.CRASHED not in path(host)


async def test_a_write_whose_result_lies_is_unknown(host: McpHost) -> None:
    assert isinstance((await attempt(host, "lies")).cause, ConnectorProtocolError)


async def test_numbers_of_any_size_are_an_answer(host: McpHost) -> None:
    answered = await ask(host, "odd_numbers")
    assert answered.structured == {"large": 10**30, "small": -1}
    assert answered.size == len("odd") + len('{"large":1,"small":-1}') + 30


async def test_nobody_works_for_a_connector(host: McpHost) -> None:
    heard = json.loads((await ask(host, "asks")).text)
    assert heard == {"s1": "refused", "e1": "refused", "r1": "refused", "p1": "answered"}


async def test_an_error_in_the_words_of_the_protocol_is_an_answer(host: McpHost) -> None:
    answered = await ask(host, "error", code=-32602, message="no such ticket")
    assert answered.is_error
    assert answered.text == "no such ticket"
    # Also with the number that stands for a lost connection, which a server may send to mislead.
    answered = await ask(host, "error", code=-32000, message="Connection closed")
    assert answered.is_error
    assert ServerState.CRASHED not in path(host)


async def test_the_end_of_stdout_is_noticed_at_once(host: McpHost) -> None:
    unknown = await attempt(host, "closes_stdout", deadline=60)
    assert isinstance(unknown.cause, ConnectorCrashed)


async def test_messages_that_nobody_listens_to_do_no_harm(host: McpHost) -> None:
    assert (await ask(host, "notifies")).text == "told"


async def test_one_that_hangs_takes_the_others_with_it_but_reads_come_through(host: McpHost) -> None:
    await ask(host, "echo")
    hanging = asyncio.create_task(call(host, KEY, "hang", {}, repeatable=False, deadline=0.5))
    await until_state(host, ServerState.BUSY)
    # It waits behind the one that hangs, and is asked again of the new process.
    assert (await ask(host, "echo", text="came through")).text == "came through"
    await hanging
