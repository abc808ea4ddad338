"""The same idempotency key twice has one effect, whatever happens in between."""

import asyncio
import sqlite3
import sys
from contextlib import closing
from pathlib import Path
from threading import Timer
from typing import Any

import pytest
from mcp.client.session import ClientSession
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.shared.exceptions import MCPError

from gaby_connectors.sdk.ledger import FinishedCall, IdempotencyLedger, KeyConflict, UnfinishedCall, UnusedKey
from gaby_connectors.sdk.manifest import ERROR_META, ErrorKind
from tests.connectors.sdk.toy import ToyConfig, connector, until
from tests.connectors.talk import talking

pytestmark = pytest.mark.promise("M4")


@pytest.fixture
def config(tmp_path: Path) -> ToyConfig:
    return ToyConfig(effects=tmp_path / "effects")


def effects(config: ToyConfig) -> list[str]:
    return config.effects.read_text().splitlines() if config.effects.exists() else []


async def test_a_repetition_is_answered_from_memory(config: ToyConfig) -> None:
    async with talking(connector, config) as talk:
        first = await talk.ask("act", text="a", idempotency_key="k1")
        again = await talk.ask("act", text="a", idempotency_key="k1")
        other = await talk.ask("act", text="a", idempotency_key="k2")
        assert first == again == {"text": "a", "count": 1, "dry_run": False}
        assert other["count"] == 2
        assert effects(config) == ["a", "a"]


async def test_without_a_key_every_call_is_a_new_one(config: ToyConfig) -> None:
    async with talking(connector, config) as talk:
        await talk.ask("act", text="a")
        await talk.ask("act", text="a")
        assert effects(config) == ["a", "a"]


async def test_memory_outlives_the_process(config: ToyConfig, tmp_path: Path) -> None:
    async with talking(connector, config, state=tmp_path / "state") as talk:
        first = await talk.ask("act", text="a", idempotency_key="k1")
    async with talking(connector, config, state=tmp_path / "state") as talk:
        assert await talk.ask("act", text="a", idempotency_key="k1") == first
    assert effects(config) == ["a"]


async def test_the_same_key_for_other_arguments_is_a_conflict(config: ToyConfig) -> None:
    async with talking(connector, config) as talk:
        await talk.ask("act", text="a", idempotency_key="k1")
        assert (await talk.fails("act", text="b", idempotency_key="k1")).kind == ErrorKind.CONFLICT
        assert (await talk.fails("refuse", text="a", idempotency_key="k1")).kind == ErrorKind.CONFLICT
        assert effects(config) == ["a"]


async def test_two_calls_at_once_have_one_effect(config: ToyConfig, tmp_path: Path) -> None:
    async with talking(connector, config) as talk:
        asking = [asyncio.create_task(talk.ask("act_slowly", text="a", idempotency_key="k1")) for _ in range(5)]
        await until(lambda: effects(config) == ["begun a"])
        # Answered after the others were read, so all of them are under way.
        await talk.ask("echo", value=1)
        (tmp_path / "go").touch()
        answers = await asyncio.gather(*asking)
        assert all(answer == answers[0] for answer in answers)
        assert effects(config) == ["begun a", "done a"]


async def test_a_dry_run_changes_nothing_and_is_not_remembered(config: ToyConfig) -> None:
    async with talking(connector, config) as talk:
        dry = await talk.ask("act", text="a", idempotency_key="k1", dry_run=True)
        assert dry == {"text": "a", "count": 1, "dry_run": True}
        assert effects(config) == []
        assert (await talk.ask("act", text="a", idempotency_key="k1"))["dry_run"] is False
        assert effects(config) == ["a"]


async def test_a_tool_that_cannot_pretend_refuses_a_dry_run(config: ToyConfig) -> None:
    async with talking(connector, config) as talk:
        assert (await talk.fails("act_slowly", text="a", dry_run=True)).kind == ErrorKind.INVALID
        assert effects(config) == []


async def test_a_call_that_had_no_effect_can_be_tried_again_with_its_key(config: ToyConfig) -> None:
    async with talking(connector, config) as talk:
        error = await talk.fails("refuse", text="a", idempotency_key="k1")
        assert (error.kind, error.retry_after) == (ErrorKind.TRANSIENT, 3)
        assert (await talk.ask("refuse", text="a", idempotency_key="k1"))["text"] == "a"


async def test_an_effect_that_may_have_happened_is_not_repeated(config: ToyConfig) -> None:
    async with talking(connector, config) as talk:
        await talk.fails("act_and_fail", text="a", idempotency_key="k1")
        result = await talk.call("act_and_fail", text="a", idempotency_key="k1")
        told = (result.meta or {})[ERROR_META]
        assert (told["kind"], told["outcome"]) == ("permanent", "unknown")
        assert "outcome of this call is unknown" in told["message"]
        assert effects(config) == ["a"]


async def test_a_repeatable_effect_is_simply_done_again(config: ToyConfig) -> None:
    async with talking(connector, config) as talk:
        await talk.fails("act_again", text="a", idempotency_key="k1")
        assert (await talk.fails("act_again", text="a", idempotency_key="k1")).message == "Done twice."
        assert effects(config) == ["a", "a"]


async def test_an_effect_that_can_be_looked_up_is_found_and_not_repeated(config: ToyConfig) -> None:
    async with talking(connector, config) as talk:
        await talk.fails("act_with_key", text="a", idempotency_key="k1")
        found = await talk.ask("act_with_key", text="a", idempotency_key="k1")
        assert found == {"text": "a", "count": 1, "dry_run": False}
        assert effects(config) == ["a k1"]
        assert await talk.ask("act_with_key", text="a", idempotency_key="k1") == found


async def test_a_caller_who_hangs_up_does_not_leave_the_effect_half_done(config: ToyConfig, tmp_path: Path) -> None:
    async with talking(connector, config) as talk:
        asking = asyncio.create_task(talk.call("act_slowly", text="a", idempotency_key="k1"))
        await until(lambda: effects(config) == ["begun a"])
        asking.cancel()
        await asyncio.gather(asking, return_exceptions=True)
        # Answered after the server has read that nobody waits any more.
        await talk.ask("echo", value=1)
        (tmp_path / "go").touch()
        assert (await talk.ask("act_slowly", text="a", idempotency_key="k1"))["text"] == "a"
        assert effects(config) == ["begun a", "done a"]


async def in_a_process(config: ToyConfig, state: Path, tool: str) -> Any:
    """One call in a connector process of its own."""
    env = {"TOY_EFFECTS": str(config.effects), "GABY_CONNECTOR_STATE": str(state)}
    command = StdioServerParameters(command=sys.executable, args=["-m", "tests.connectors.sdk.toy"], env=env)
    async with stdio_client(command) as streams, ClientSession(*streams) as session:
        await session.initialize()
        return await session.call_tool(tool, {"text": "a", "idempotency_key": "k1"})


async def test_after_a_crash_the_outcome_is_told_to_be_unknown(config: ToyConfig, tmp_path: Path) -> None:
    with pytest.raises((MCPError, ExceptionGroup)):
        await in_a_process(config, tmp_path / "state", "act_and_die")
    assert effects(config) == ["a"]
    async with talking(connector, config, state=tmp_path / "state") as talk:
        result = await talk.call("act_and_die", text="a", idempotency_key="k1")
        assert result.is_error
        assert (result.meta or {})[ERROR_META]["outcome"] == "unknown"
    assert effects(config) == ["a"]


def test_the_ledger_knows_what_was_begun_what_is_done_and_what_is_something_else(tmp_path: Path) -> None:
    ledger = IdempotencyLedger(tmp_path)
    assert ledger.begin("k", "act", {"a": 1, "b": 2}) == UnusedKey()
    assert isinstance(ledger.begin("k", "act", {"b": 2, "a": 1}), UnfinishedCall)
    assert ledger.begin("k", "act", {"a": 2, "b": 2}) == KeyConflict("act")
    ledger.finish("k", {"ok": True})
    ledger.forget("k")
    assert ledger.begin("k", "act", {"a": 1, "b": 2}) == FinishedCall({"ok": True})
    ledger.close()


def test_two_processes_that_share_a_ledger_do_not_both_begin(tmp_path: Path) -> None:
    one, other = IdempotencyLedger(tmp_path), IdempotencyLedger(tmp_path)
    assert one.begin("k", "act", {}) == UnusedKey()
    assert isinstance(other.begin("k", "act", {}), UnfinishedCall)
    one.close()
    other.close()


def test_a_file_that_another_process_is_creating_is_waited_for(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "idempotency.db", isolation_level=None, check_same_thread=False)) as other:
        other.execute("BEGIN IMMEDIATE")
        Timer(0.2, other.rollback).start()
        assert isinstance(IdempotencyLedger(tmp_path).begin("k1", "act", {}), UnusedKey)
