"""A connector as a process: clean pipes, a graceful end, and clear words when it is configured wrongly."""

import asyncio
import json
import os
import signal
import subprocess
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from gaby_connectors.contract.process import Process
from gaby_connectors.sdk.stdio import LONGEST_LINE
from tests.connectors.sdk.toy import until

pytestmark = pytest.mark.promise("M2", "M7")
TOY = [sys.executable, "-m", "tests.connectors.sdk.toy"]


@asynccontextmanager
async def running(folder: Path) -> AsyncGenerator[tuple[asyncio.subprocess.Process, Process]]:
    process = await asyncio.create_subprocess_exec(
        *TOY,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        env={**os.environ, "TOY_EFFECTS": str(folder / "effects")},
        limit=16 * 1024 * 1024,
    )
    try:
        yield process, Process(process)
    finally:
        if process.returncode is None:
            process.kill()
        await process.communicate()


def call(tool: str, **arguments: object) -> dict[str, object]:
    return {"name": tool, "arguments": arguments}


async def test_sigterm_lets_the_call_under_way_finish_and_answer(tmp_path: Path) -> None:
    async with running(tmp_path) as (process, talk):
        await talk.greet()
        asking = asyncio.create_task(talk.ask("tools/call", call("act_slowly", text="a")))
        await until((tmp_path / "effects").exists)
        process.send_signal(signal.SIGTERM)
        (tmp_path / "go").touch()
        answer = await asking
        assert answer["result"]["structuredContent"]["text"] == "a"
        assert await talk.ends_within(20)
        assert process.returncode == 0
        assert (tmp_path / "effects").read_text() == "begun a\ndone a\n"


async def test_closing_the_input_lets_the_call_under_way_finish_too(tmp_path: Path) -> None:
    async with running(tmp_path) as (process, talk):
        await talk.greet()
        asking = asyncio.create_task(talk.ask("tools/call", call("act_slowly", text="a")))
        await until((tmp_path / "effects").exists)
        talk.hang_up()
        (tmp_path / "go").touch()
        assert (await asking)["result"]["structuredContent"]["text"] == "a"
        assert await talk.ends_within(20)
        assert process.returncode == 0


async def test_what_a_tool_prints_does_not_reach_the_protocol(tmp_path: Path) -> None:
    async with running(tmp_path) as (process, talk):
        await talk.greet()
        await talk.ask("tools/call", call("print_something", where="here"))
        talk.hang_up()
        out, err = await process.communicate()
        assert b"stray" not in out
        assert b"stray here" in err
        assert b"stray bytes" in err


async def test_a_line_that_is_far_too_long_is_skipped(tmp_path: Path) -> None:
    async with running(tmp_path) as (_, talk):
        await talk.greet()
        await talk.say("x" * (LONGEST_LINE + 1000))
        await talk.say(json.dumps({"jsonrpc": "2.0", "id": 77, "method": "ping", "params": {"x": "y" * 100_000}}))
        assert "result" in await talk.ask("tools/list")


@pytest.mark.parametrize(
    ("environment", "told"),
    [
        ({}, "TOY_EFFECTS is not set: Where effects are written down, one line each."),
        ({"TOY_EFFECTS": " "}, "TOY_EFFECTS is not set"),
    ],
)
def test_wrong_settings_end_the_process_with_2_and_say_which(environment: dict[str, str], told: str) -> None:
    ended = subprocess.run(
        TOY, env={"PATH": os.environ["PATH"], **environment}, capture_output=True, text=True, check=False
    )
    assert ended.returncode == 2
    assert told in ended.stderr
    assert ended.stdout == ""


def test_a_file_for_stdin_is_refused_in_words(tmp_path: Path) -> None:
    (tmp_path / "input").write_text("{}")
    with (tmp_path / "input").open() as file:
        env = {**os.environ, "TOY_EFFECTS": str(tmp_path / "effects")}
        ended = subprocess.run(TOY, env=env, stdin=file, capture_output=True, text=True, check=False)
    assert ended.returncode == 2
    assert "speaks JSON-RPC over pipes" in ended.stderr
